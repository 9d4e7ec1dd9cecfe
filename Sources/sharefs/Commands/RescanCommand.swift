import Control
import Posix

/// `sharefs rescan`: compares the folder with the catalog and returns when that is done.
enum RescanCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let share = try FoundShare.around(arguments.operands[0], state: nil)
    guard let running = share.running else {
      throw Failure(.noSuchThing, "\(share.root) is not mounted.", hint: "A mount compares by itself.")
    }
    let deadline = try arguments.seconds("timeout").map { Clock.now() + Clock.seconds($0) }
    try run(running, repairs: false, until: deadline)
    return .done
  }

  /// - Parameter repairs: whether the thumbnails are compared too.
  static func run(_ share: RunningShare, repairs: Bool, until deadline: Clock.Instant?) throws(Failure) {
    do throws(Client.Failure) {
      var client = try Client.connect(to: share.socket)
      _ = try client.ask(.rescan(repairs: repairs), for: Done.self, within: 5)
    } catch {
      throw Failure(.timedOut, "The daemon of \(share.mountpoint) does not answer.", hint: "See `sharefs status`.")
    }
    while try isScanning(share) {
      if let deadline, Clock.now() >= deadline {
        throw Failure(.timedOut, "The comparison of \(share.mountpoint) goes on.")
      }
      Clock.pause(0.02)
    }
  }

  private static func isScanning(_ share: RunningShare) throws(Failure) -> Bool {
    do throws(Client.Failure) {
      var client = try Client.connect(to: share.socket)
      return try client.ask(.status, for: ShareStatus.self, within: 5).scan == .running
    } catch {
      throw Failure(.timedOut, "The daemon of \(share.mountpoint) does not answer.", hint: "See `sharefs status`.")
    }
  }
}
