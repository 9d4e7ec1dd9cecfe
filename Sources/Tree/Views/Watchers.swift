import Fuse
import Posix

/// Whether somebody watches folders of the views: who copies while nobody does shall not pay for telling it.
///
/// FUSE does not say who watches; /proc does. Nobody can begin to watch a folder of a view without the kernel asking for it or for its attributes
/// (which it believes for a second at most, and needs to see whether it may be read). So as long as nobody asks, nobody watches, and after somebody
/// did, one look into /proc tells, once a second has passed in which whoever looked a folder up will have set his watch.
final class Watchers: Sendable {
  private struct State {
    /// When somebody else than we asked for something in a view.
    var asked: Clock.Instant?
    /// When /proc was looked into, how long that took, and what it told.
    var looked: Clock.Instant = .min
    var took: Clock.Instant = 0
    var isLooking = false
    var inodes: Set<UInt64> = []
    /// Threads of ours that act through the mount.
    var own: Set<Int32> = []

    /// Whether what /proc told holds: whoever asked before it was looked into had the time to set his watch.
    var isSettled: Bool { asked.map { looked > $0 + Watchers.pause } ?? true }
  }

  /// Longer than the kernel believes attributes, and than a program takes from looking a folder up to watching it.
  private static let pause = Clock.seconds(1.5)
  /// Whoever watched may have ended.
  private static let lifetime = Clock.seconds(10)
  /// Looking takes its time where many processes are: one part in so many at most.
  private static let share: Int64 = 50

  /// Whether all who can watch are processes that we may look into.
  private let seesAll: Bool
  private let state = Guarded(State())

  /// - Parameter seesAll: false tells everything always.
  init(seesAll: Bool) { self.seesAll = seesAll }

  /// Thread `thread` acts for us: what it asks is no sign of a watcher.
  func isOurs(_ thread: Int32) { state.withLock { _ = $0.own.insert(thread) } }

  /// Somebody asked for something in a view.
  func asked(by thread: Int32) {
    let now = Clock.now()
    state.withLock { state in if !state.own.contains(thread) { state.asked = now } }
  }

  /// Whether it is worth while to find out what there would be to tell.
  var mayBeThere: Bool { !seesAll || state.withLock { !$0.isSettled || !$0.inodes.isEmpty } }

  /// Whether the folder of this number may be watched. Looks into /proc when it must, so it is for threads alone that nobody waits for.
  func mayWatch(_ inode: UInt64, on device: UInt64) -> Bool {
    if !seesAll { return true }
    let now = Clock.now()
    enum Answer {
      case told(Bool)
      case look
    }
    let answer: Answer = state.withLock { state in
      if state.isSettled, state.inodes.isEmpty || state.looked + Watchers.lifetime > now {
        return .told(state.inodes.contains(inode))
      }
      // Too early to know, or being found out by another thread.
      if state.isLooking { return .told(true) }
      if let asked = state.asked, asked + Watchers.pause >= now { return .told(true) }
      if state.looked != .min, state.looked + state.took * Watchers.share > now { return .told(true) }
      state.isLooking = true
      return .look
    }
    if case .told(let isWatched) = answer { return isWatched }
    let inodes = Watches.inodes(on: device)
    let took = Clock.now() - now
    return state.withLock { state in
      state.isLooking = false
      state.looked = now
      state.took = took
      state.inodes = inodes.filter { $0 & NodeID.viewBit != 0 }
      return state.inodes.contains(inode)
    }
  }
}
