import Posix
import Synchronization

/// A client that watches. Whoever has an event hands it in from any thread; it never waits for the client.
public final class Subscriber: Sendable {
  private let client: UInt64
  private let outbox: Outbox
  private let gone = Atomic<Bool>(false)

  init(client: UInt64, outbox: Outbox) {
    self.client = client
    self.outbox = outbox
  }

  /// Whether nothing further can reach it: it went, or was dropped since it did not read.
  public var isGone: Bool { gone.load(ordering: .acquiring) }

  /// Hands in one event.
  /// - Returns: false when the client has gone.
  @discardableResult
  public func send(_ event: some Encodable) throws -> Bool {
    if isGone { return false }
    outbox.put(client, try JSONLine.encode(event))
    return true
  }

  func end() { gone.store(true, ordering: .releasing) }
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
