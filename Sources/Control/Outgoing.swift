import Posix

/// What goes out to one client. Whoever has a line sends it, as far as the client takes it at once; the server's thread sends the rest. So a line needs no
/// other thread to leave, and none gets between the parts of another.
final class Outgoing: Sendable {
  /// Bytes not yet taken by the client; one that lets more gather is dropped. Whoever sends events stops long before.
  static let mostUnsent = 1 << 20

  private struct State {
    var bytes: [UInt8] = []
    var sent = 0
    /// One thread at a time.
    var isSending = false
    var isGone = false
    var lastProgress = Clock.now()

    var unsent: Int { bytes.count - sent }

    mutating func took(_ count: Int) {
      sent += count
      lastProgress = Clock.now()
      if sent == bytes.count {
        bytes.removeAll(keepingCapacity: true)
        sent = 0
      } else if sent > 65536 {
        bytes.removeFirst(sent)
        sent = 0
      }
    }
  }

  private let socket: SharedDescriptor
  private let state = Monitor(State())

  init(_ socket: SharedDescriptor) { self.socket = socket }

  var unsent: Int { state.withLock { $0.unsent } }
  /// Whether nothing further can reach the client.
  var isGone: Bool { state.withLock { $0.isGone } }
  var lastProgress: Clock.Instant { state.withLock { $0.lastProgress } }

  /// - Returns: whether it has gone out, or will; false when the server's thread must see to it: more waits, or the client has gone.
  func send(_ line: [UInt8]) -> Bool {
    let fits = state.withLock { state in
      guard !state.isGone, state.unsent + line.count <= Self.mostUnsent else { return false }
      if state.unsent == 0 { state.lastProgress = Clock.now() }
      state.bytes += line
      return true
    }
    if !fits { end() }
    return fits && sendRest()
  }

  /// - Returns: as `send`.
  func sendRest() -> Bool {
    while true {
      switch begin() {
      case .gone: return false
      // Whoever is at it finds what has been added.
      case .nothing: return true
      case .bytes(let bytes):
        // Whatever the error, nothing reaches it any more.
        guard end(try? UnixSocket.send(socket.raw, bytes)) else { return false }
      }
    }
  }

  private enum Turn {
    case bytes(ArraySlice<UInt8>)
    case nothing
    case gone
  }

  private func begin() -> Turn {
    state.withLock { state in
      if state.isGone { return .gone }
      if state.isSending || state.unsent == 0 { return .nothing }
      state.isSending = true
      return .bytes(state.bytes[state.sent...])
    }
  }

  /// - Parameter taken: bytes; nil when the client has gone.
  /// - Returns: whether it may take more at once.
  private func end(_ taken: Int?) -> Bool {
    state.change { state in
      state.isSending = false
      guard let taken else {
        state.isGone = true
        return false
      }
      if taken > 0 { state.took(taken) }
      return taken > 0
    }
  }

  /// Waits until the client has taken most of what was sent.
  /// - Returns: false when the time came first, or the client has gone.
  func waitForRoom(below most: Int, until deadline: Clock.Instant) -> Bool {
    let hasRoom = state.wait(until: deadline) { state -> Bool? in
      if state.isGone { return false }
      return state.unsent < most ? true : nil
    }
    return hasRoom ?? false
  }

  /// The client is dropped, whoever still holds this.
  func end() {
    let isFirst = state.change { state in
      defer { state.isGone = true }
      return !state.isGone
    }
    if isFirst { UnixSocket.shutDown(socket.raw) }
  }
}
