import Glibc
public import Posix

/// The command line's end of the control socket.
public struct Client: ~Copyable {
  private let socket: Descriptor
  private var incoming: [UInt8] = []
  /// How much of it was given out.
  private var given = 0
  /// The daemon, as the kernel tells it.
  public let daemon: Int32

  public enum Failure: Error, Hashable, Sendable {
    /// Nobody listens: the daemon has gone (ECONNREFUSED, ENOENT), or the socket is another user's (EACCES).
    case unreachable(Errno)
    /// The daemon is there and says nothing.
    case silent
    /// The daemon ended the conversation.
    case ended
    /// It answered what we do not understand: another version.
    case strange(String)
    case refused(Refusal)
  }

  public static func connect(to socket: FileName) throws(Failure) -> Client {
    do throws(Errno) {
      return try open(socket)
    } catch {
      throw error == .again ? .silent : .unreachable(error)
    }
  }

  private init(_ socket: consuming Descriptor, daemon: Int32) {
    self.socket = socket
    self.daemon = daemon
  }

  private static func open(_ path: FileName) throws(Errno) -> Client {
    guard let parent = path.parent else { throw .invalid }
    let folder = try Descriptor.open(parent, O_PATH | O_DIRECTORY)
    let socket = try UnixSocket.connect(in: folder.raw, path.lastComponent)
    let daemon = try UnixSocket.peer(socket.raw).process
    return Client(socket, daemon: daemon)
  }

  /// Asks and waits for the one answer.
  /// - Parameter seconds: until the daemon counts as silent.
  public mutating func ask<Answer: Decodable>(
    _ request: Request, for type: Answer.Type, within seconds: Double = 1
  ) throws(Failure) -> Answer {
    let deadline = Clock.now() + Clock.seconds(seconds)
    try send(request, until: deadline)
    guard let line = try nextLine(until: deadline) else { throw .silent }
    return try Self.decode(line)
  }

  /// Sends a request whose answers are read with `nextLine`.
  public mutating func send(_ request: Request, until deadline: Clock.Instant) throws(Failure) {
    let line: [UInt8]
    do { line = try JSONLine.encode(request) } catch { throw .strange("\(error)") }
    var sent = 0
    while sent < line.count {
      do throws(Errno) {
        let taken = try UnixSocket.send(socket.raw, line[sent...])
        if taken == 0 { throw .timedOut }
        sent += taken
      } catch {
        throw error == .timedOut ? .silent : .ended
      }
      if Clock.now() > deadline { throw .silent }
    }
  }

  /// - Parameter deadline: nil waits for ever.
  /// - Returns: nil when the time came first.
  public mutating func nextLine(until deadline: Clock.Instant?) throws(Failure) -> [UInt8]? {
    while true {
      if let end = incoming[given...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { given = end + 1 }
        return Array(incoming[given..<end])
      }
      incoming.removeSubrange(..<given)
      given = 0
      do throws(Errno) {
        var awaited = [Awaited(socket.raw)]
        guard try Awaited.wait(&awaited, until: deadline) else { return nil }
        guard let got = try UnixSocket.receive(socket.raw, limit: 65536) else { continue }
        if got.isEmpty { throw .pipe }
        incoming += got
      } catch {
        throw .ended
      }
    }
  }

  private static func decode<Answer: Decodable>(_ line: [UInt8]) throws(Failure) -> Answer {
    if let refusal = try? JSONLine.decode(Refusal.self, line) { throw .refused(refusal) }
    do {
      return try JSONLine.decode(Answer.self, line)
    } catch {
      throw .strange(escaped(line.prefix(200)))
    }
  }
}
