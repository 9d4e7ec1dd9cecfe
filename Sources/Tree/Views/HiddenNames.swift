import Fuse
import Posix

/// Entries of the view that somebody deleted: they stay away for a while, so that whoever deletes a tree finds it gone, and then are
/// back.
final class HiddenNames: Sendable {
  /// An entry by its real folder and its name in the view.
  struct Key: Hashable, Sendable {
    let folder: NodeKey
    let name: FileName
  }

  /// As long as a slow deletion of a large tree takes between looking and looking again.
  static let duration = Clock.seconds(10)

  /// Until when, by entry; nil is the view's root.
  private let deadlines = Guarded<[Key?: Clock.Instant]>([:])

  func hide(_ key: Key?) {
    let now = Clock.now()
    deadlines.withLock { deadlines in
      if deadlines.count > 1024 && deadlines.count & 1023 == 0 { deadlines = deadlines.filter { $0.value > now } }
      deadlines[key] = now + HiddenNames.duration
    }
  }

  var isEmpty: Bool {
    deadlines.withLock { deadlines in
      if deadlines.isEmpty { return true }
      let now = Clock.now()
      deadlines = deadlines.filter { $0.value > now }
      return deadlines.isEmpty
    }
  }

  func hides(_ key: Key?) -> Bool {
    deadlines.withLock { deadlines in
      // Nothing hidden, the usual case, costs no clock.
      if deadlines.isEmpty { return false }
      guard let deadline = deadlines[key] else { return false }
      if deadline > Clock.now() { return true }
      deadlines[key] = nil
      return false
    }
  }
}

/// How many lookups wait for a picture in each folder of the view. While one does, the kernel holds the folder; whoever wants to change it
/// (the announcer) would wait, and everybody else behind it.
final class FolderWaits: Sendable {
  private struct State {
    var counts: [NodeKey: Int] = [:]
    var isStopping = false
  }

  private let state = Monitor(State())

  func begin(_ folder: NodeKey) { state.withLock { $0.counts[folder, default: 0] += 1 } }

  func end(_ folder: NodeKey) {
    state.change { state in
      let left = (state.counts[folder] ?? 1) - 1
      state.counts[folder] = left > 0 ? left : nil
    }
  }

  /// Waits until nobody does, or the time has come, or `stop`.
  func waitUntilNone(_ folder: NodeKey, deadline: Clock.Instant) {
    _ = state.wait(until: deadline) { $0.counts[folder] == nil || $0.isStopping ? true : nil }
  }

  func stop() { state.change { $0.isStopping = true } }
}
