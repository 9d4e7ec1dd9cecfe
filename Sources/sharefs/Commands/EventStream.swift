import Control
import Posix

/// The events of one share, over restarts of its daemon: it goes on with the number after the last one that it gave.
final class EventStream {
  enum Next {
    case event(EventRecord, line: [UInt8])
    case overflow(OverflowRecord, line: [UInt8])
    case timedOut
    /// No daemon serves the share now.
    case unmounted
  }

  /// Seconds that a daemon may take to answer.
  private static let patience = 5.0

  /// The same, where there is not that much time left; whatever the time, a busy daemon gets a second.
  static func patience(until deadline: Clock.Instant?) -> Double {
    guard let deadline else { return patience }
    return max(1, min(patience, Double(deadline - Clock.now()) / 1e9))
  }

  private let mountpoint: FileName
  /// The daemon that was spoken to last.
  private(set) var daemon: RunningShare?
  private var client: Client?
  private var position: UInt64?

  /// - Parameter since: the number after which to begin; nil for what happens from `connect` on.
  init(_ mountpoint: FileName, since: UInt64? = nil) {
    self.mountpoint = mountpoint
    position = since
  }

  /// What happens is not missed as long as it is.
  var isConnected: Bool { client != nil }

  /// - Returns: false when no daemon answers there.
  func connect(until deadline: Clock.Instant? = nil) throws(Failure) -> Bool {
    if client != nil { return true }
    guard let share = RunningShare.at(mountpoint) else { return false }
    do throws(Client.Failure) {
      var fresh = try Client.connect(to: share.socket)
      let answer = try fresh.ask(.watch(since: position), for: Watching.self, within: Self.patience(until: deadline))
      if position == nil { position = answer.next - 1 }
      client = .some(consume fresh)
      daemon = share
      return true
    } catch {
      switch error {
      case .refused(let refusal):
        throw Failure(.permission, "The share \(mountpoint) refuses: \(escaped(Array(refusal.error.utf8)))")
      case .unreachable(.access), .unreachable(.notPermitted):
        throw Failure(.permission, "The share \(mountpoint) is another user's.")
      case .strange:
        throw Failure(
          .usage, "The daemon of \(mountpoint) is of another version.", hint: "Mount the share again.")
      case .silent: throw Failure(.timedOut, "The daemon of \(mountpoint) does not answer.")
      case .unreachable, .ended: return false
      }
    }
  }

  /// - Parameter deadline: nil waits for ever.
  func next(until deadline: Clock.Instant?) throws(Failure) -> Next {
    guard try connect(until: deadline), var current = client.take() else { return .unmounted }
    do throws(Client.Failure) {
      let line = try current.nextLine(until: deadline)
      client = .some(consume current)
      guard let line else { return .timedOut }
      return try read(line)
    } catch {
      // It went with the daemon; whoever asks again connects to the next one.
      return .unmounted
    }
  }

  private func read(_ line: [UInt8]) throws(Client.Failure) -> Next {
    if let event = try? JSONLine.decode(EventRecord.self, line) {
      position = event.number
      return .event(event, line: line + [UInt8(ascii: "\n")])
    }
    guard let overflow = try? JSONLine.decode(OverflowRecord.self, line) else {
      throw .strange(escaped(line.prefix(200)))
    }
    position = overflow.resumeFrom - 1
    return .overflow(overflow, line: line + [UInt8(ascii: "\n")])
  }
}
