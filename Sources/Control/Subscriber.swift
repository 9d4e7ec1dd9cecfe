public import Posix

/// A client that watches. Whoever has an event hands it in from any thread, and rests while the client does not read.
public final class Subscriber: Sendable {
  /// Bytes on their way to one client; whoever has more waits with it.
  static let mostUnsent = 256 << 10

  private struct State {
    var unsent = 0
    var isGone = false
  }

  private let client: UInt64
  private let outbox: Outbox
  private let state = Monitor(State())

  init(client: UInt64, outbox: Outbox) {
    self.client = client
    self.outbox = outbox
  }

  /// Whether nothing further can reach it.
  public var isGone: Bool { state.withLock { $0.isGone } }

  /// Waits until the client has taken most of what was handed in.
  /// - Returns: false when the time came first, or the client has gone.
  public func waitForRoom(until deadline: Clock.Instant) -> Bool {
    let hasRoom = state.wait(until: deadline) { state -> Bool? in
      if state.isGone { return false }
      return state.unsent < Self.mostUnsent ? true : nil
    }
    return hasRoom ?? false
  }

  /// Hands in the first answer to the request that made it a subscriber.
  public func begin(_ answer: Watching) throws {
    outbox.put(client, try JSONLine.encode(answer), isAnswer: true, subscriber: self)
  }

  /// Hands in one line.
  public func send(_ line: [UInt8]) {
    state.withLock { $0.unsent += line.count }
    outbox.put(client, line)
  }

  /// The client has taken so many bytes.
  func took(_ count: Int) { if count > 0 { state.change { $0.unsent = max(0, $0.unsent - count) } } }

  func end() { state.change { $0.isGone = true } }
}

/// Lines on their way from whoever made them to the server's thread, which alone touches the sockets.
final class Outbox: Sendable {
  struct Letter {
    let client: UInt64
    let line: [UInt8]
    /// Whether it answers a request (and is no event).
    let isAnswer: Bool
    /// Whom the client becomes with this line.
    let subscriber: Subscriber?
  }

  private let letters = Guarded<[Letter]>([])
  let wakeup: Wakeup

  init() throws(Errno) { wakeup = try Wakeup() }

  func put(_ client: UInt64, _ line: [UInt8], isAnswer: Bool = false, subscriber: Subscriber? = nil) {
    letters.withLock { $0.append(Letter(client: client, line: line, isAnswer: isAnswer, subscriber: subscriber)) }
    wakeup.wake()
  }

  func take() -> [Letter] {
    letters.withLock { letters in
      defer { letters.removeAll() }
      return letters
    }
  }
}
