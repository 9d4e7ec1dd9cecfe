import CLinux
import Fuse
import Posix

/// What identifies an inode while somebody holds it open: no birth time is needed.
struct NodeKey: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// An inode of the backing folder that the kernel, or we, know by number.
final class Node: Sendable {
  let id: NodeID
  let key: NodeKey
  let file: FileID
  let kind: FileKind
  /// O_PATH: it pins the inode, so that its number cannot come to mean another file, and costs no open file on the disk.
  let descriptor: Descriptor
  private let place: Guarded<Place>
  let stream = Guarded(StreamState())
  let backing = Guarded(BackingState())

  private struct Place {
    var parent: Node?
    var name: FileName
    var isGone = false
  }

  init(id: NodeID, status: FileStatus, file: FileID, descriptor: consuming Descriptor, parent: Node?, name: FileName) {
    self.id = id
    key = NodeKey(device: status.device, inode: status.inode)
    self.file = file
    kind = status.kind
    self.descriptor = descriptor
    place = Guarded(Place(parent: parent, name: name))
  }

  func status() throws(Errno) -> FileStatus { try descriptor.status() }

  /// The name by which it was last looked up, and the folder; a file with several hard links has several.
  func moved(to parent: Node, _ name: FileName) {
    let old: Node? = place.withLock { place in
      let old = place.parent
      place.parent = parent
      place.name = name
      place.isGone = false
      return old
    }
    // The last reference to a forgotten parent may go here: its descriptor is closed outside of the lock.
    _ = old
  }

  /// Its last name was removed; it lives on while it is open.
  func lostLastName() { place.withLock { $0.isGone = true } }

  var isGone: Bool { place.withLock { $0.isGone } }

  /// Where it stands in the share; nil when it, or a folder above, was removed.
  var path: SharePath? {
    var names: [FileName] = []
    var node = self
    while node.id != .root {
      let (parent, name, isGone) = node.place.withLock { ($0.parent, $0.name, $0.isGone) }
      guard let parent, !isGone else { return nil }
      names.append(name)
      node = parent
    }
    return names.reversed().reduce(SharePath.root) { $0.appending($1) }
  }
}
