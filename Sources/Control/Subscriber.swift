public import Posix

/// A client that watches. Whoever has an event hands it in from any thread, and rests while the client does not read.
public final class Subscriber: Sendable {
  /// Bytes on their way to one client; whoever has more waits with it.
  static let mostUnsent = 256 << 10

  private let client: UInt64
  private let outgoing: Outgoing
  private let outbox: Outbox

  init(client: UInt64, outgoing: Outgoing, outbox: Outbox) {
    self.client = client
    self.outgoing = outgoing
    self.outbox = outbox
  }

  /// Whether nothing further can reach it.
  public var isGone: Bool { outgoing.isGone }

  /// Waits until the client has taken most of what was handed in.
  /// - Returns: false when the time came first, or the client has gone.
  public func waitForRoom(until deadline: Clock.Instant) -> Bool {
    outgoing.waitForRoom(below: Self.mostUnsent, until: deadline)
  }

  /// Hands in the first answer to the request that made it a subscriber.
  public func begin(_ answer: Watching) throws {
    // Directly, as the events after it are.
    send(try JSONLine.encode(answer))
    outbox.put(client, [], isAnswer: true, watches: true)
  }

  /// Hands in one line.
  public func send(_ line: [UInt8]) {
    if !outgoing.send(line) { outbox.wakeup.wake() }
  }
}

/// Answers on their way from whoever made them to the server's thread.
final class Outbox: Sendable {
  struct Letter {
    let client: UInt64
    let line: [UInt8]
    /// Whether it answers a request (and is no event).
    let isAnswer: Bool
    /// Whether the client is a watcher from now on.
    let watches: Bool
  }

  private let letters = Guarded<[Letter]>([])
  let wakeup: Wakeup

  init() throws(Errno) { wakeup = try Wakeup() }

  func put(_ client: UInt64, _ line: [UInt8], isAnswer: Bool = false, watches: Bool = false) {
    letters.withLock { $0.append(Letter(client: client, line: line, isAnswer: isAnswer, watches: watches)) }
    wakeup.wake()
  }

  func take() -> [Letter] {
    letters.withLock { letters in
      defer { letters.removeAll() }
      return letters
    }
  }
}
