import Fuse
import Posix
import Synchronization

/// Which of the view's folders the kernel may list from what it has kept: those of which nothing has changed since. Only it is that fast with a hundred
/// thousand names.
///
/// The kernel fills what it keeps from whichever listing comes first, so it may only do so for one open folder alone: then what it keeps is
/// as old as that open at most.
final class ListedFolders: Sendable {
  /// As long as it is the same, so is the listing.
  struct Revision: Equatable, Sendable {
    /// Of the projection's answers.
    let pictures: UInt64
    /// Of names anywhere in the share.
    let names: UInt64
    /// The real folder's change time.
    let changed: FileTime
  }

  private struct Slot {
    var opens = 0
    /// The revision of which the kernel may keep the listing; nil when it may keep none.
    var kept: Revision?
  }

  private let slots = Guarded<[NodeID: Slot]>([:])
  private let names = Atomic<UInt64>(0)

  /// Something in the share was made, moved or removed.
  func noteChange() { names.add(1, ordering: .acquiringAndReleasing) }

  var namesRevision: UInt64 { names.load(ordering: .acquiring) }

  /// Whether what the kernel has kept is the listing.
  func isKept(_ folder: NodeID, _ revision: Revision) -> Bool { slots.withLock { $0[folder]?.kept == revision } }

  /// A folder is being opened.
  /// - Parameter revision: taken before; nil when the kernel must keep nothing.
  func open(_ folder: NodeID, _ revision: Revision?) -> OpenReply.Flags {
    slots.withLock { slots in
      var slot = slots[folder] ?? Slot()
      defer { slots[folder] = slot }
      slot.opens += 1
      if let revision, slot.kept == revision { return [.cacheFolder, .keepCache] }
      // Without `keepCache` the kernel lets go of what it has.
      slot.kept = slot.opens == 1 ? revision : nil
      return slot.kept == nil ? [] : .cacheFolder
    }
  }

  func close(_ folder: NodeID) {
    slots.withLock { slots in
      guard var slot = slots[folder] else { return }
      slot.opens -= 1
      slots[folder] = slot.opens == 0 && slot.kept == nil ? nil : slot
    }
  }

  /// The kernel knows it no more.
  func forget(_ folder: NodeID) { _ = slots.withLock { $0.removeValue(forKey: folder) } }
}
