import CLinux
import Contracts
import Fuse
import Posix

/// The user's files, passed through to the backing folder. One extension for each family of operations, each in a file of its own.
final class Files: Sendable {
  let table: NodeTable
  let streams: WriteStreams
  let settled: any Settled
  let settings: TreeSettings
  /// The device of the share's root; files of other devices stand on mounts inside of the share.
  let rootDevice: UInt64
  let session = Guarded<Session?>(nil)
  /// Why passthrough was refused, the last time.
  let passthroughError = Guarded<Errno?>(nil)
  private let reaper: Reaper
  /// The virtual views that stand in the root, by name.
  let views: [FileName: any View]

  init(
    root: Node, table: NodeTable, settled: any Settled, streams: WriteStreams, settings: TreeSettings,
    views: [FileName: any View]
  ) {
    self.table = table
    self.streams = streams
    self.settled = settled
    self.settings = settings
    self.views = views
    rootDevice = root.key.device
    reaper = Reaper()
  }

  func stop() { reaper.stop() }

  /// Looks a name up and counts the lookup.
  func hold(in parent: Node, _ name: FileName) throws(Errno) -> (Node, FileStatus) {
    var descriptor: Descriptor? = try Descriptor.open(at: parent.descriptor.raw, name, CInt(O_PATH) | O_NOFOLLOW)
    let status = try descriptor!.status()
    let node = table.hold(NodeKey(device: status.device, inode: status.inode)) { id in
      Node(
        id: id, status: status, file: status.id(root: rootDevice), descriptor: descriptor.take()!, parent: parent,
        name: name)
    }
    // Hard links: the name of the last lookup counts.
    if !name.isDots { node.moved(to: parent, name) }
    return (node, status)
  }

  func entry(_ node: Node, _ status: FileStatus) -> Entry {
    Entry(
      node: node.id, status: shown(status), nameLifetime: settings.lifetime, attributesLifetime: settings.lifetime)
  }

  /// Inode numbers of mounts inside of the share are moved out of the way of the root's, which has the same device number in here.
  func shown(_ status: FileStatus) -> FileStatus {
    guard status.device != rootDevice else { return status }
    var status = status
    let mark = (status.device &* 0x9e37_79b9_7f4a_7c15) & 0x7fff_0000_0000_0000
    status.inode ^= mark
    return status
  }

  func release(_ id: NodeID, count: UInt64) {
    guard let node = table.release(id, count: count) else { return }
    // Dropping the last reference to a removed file frees its blocks, which may take long for a large one.
    if node.isGone { reaper.drop(node) }
  }

  /// A name in the root that a view has: nothing of the user's can be made there.
  func refuseViewName(_ name: FileName, in parent: NodeID) throws(Errno) {
    if parent == .root && views[name] != nil { throw .readOnly }
  }
}

/// Drops nodes of removed files in a thread of its own.
private final class Reaper: Sendable {
  private struct State {
    var nodes: [Node] = []
    var isStopping = false
  }

  private let state = Monitor(State())
  private let thread = Guarded<Thread?>(nil)

  init() {
    let state = state
    let started = Thread("sharefs-reaper") {
      while true {
        let nodes: [Node]? = state.wait { state in
          if state.nodes.isEmpty { return state.isStopping ? .some(nil) : nil }
          defer { state.nodes = [] }
          return state.nodes
        }
        if nodes == nil { return }
      }
    }
    thread.withLock { $0 = started }
  }

  func drop(_ node: Node) { state.change { $0.nodes.append(node) } }

  func stop() {
    state.change { $0.isStopping = true }
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }
}
