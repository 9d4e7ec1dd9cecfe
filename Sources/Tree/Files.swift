import CLinux
import Contracts
import Fuse
import Posix

/// The user's files, passed through to the backing folder. One extension for each family of operations, each in a file of its own.
final class Files: Sendable {
  let table: NodeTable
  let cache: DescriptorCache
  let streams: WriteStreams
  let settled: any Settled
  let settings: TreeSettings
  /// The device of the share's root; files of other devices stand on mounts inside of the share.
  let rootDevice: UInt64
  let session = Guarded<Session?>(nil)
  /// Why passthrough was refused, the last time.
  let passthroughError = Guarded<Errno?>(nil)
  let readBuffers = ReadBuffers()
  private let reaper: Reaper
  /// The virtual views that stand in the root, by name.
  let views: [FileName: any View]

  init(
    root: Node, table: NodeTable, settled: any Settled, streams: WriteStreams, settings: TreeSettings,
    views: [FileName: any View], cache: DescriptorCache
  ) {
    self.table = table
    self.cache = cache
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
    // The kernel asks for "." and ".." to find a folder of which it knows nothing but the number: it is reached by descriptor.
    if name.isDots { return try holdOpen(in: parent, name) }
    let folder = try parent.open()
    let status = try FileStatus.of(name, in: folder.raw)
    return (hold(status, in: parent, name), status)
  }

  /// As `hold`, and its descriptor is at hand: for what is used next.
  func holdOpen(in parent: Node, _ name: FileName) throws(Errno) -> (Node, FileStatus) {
    let folder = try parent.open()
    let descriptor = try Descriptor.open(at: folder.raw, name, CInt(O_PATH) | O_NOFOLLOW)
    let status = try descriptor.status()
    let node = hold(status, in: name.isDots ? nil : parent, name)
    node.adopt(descriptor)
    return (node, status)
  }

  /// - Parameter parent: nil for what has no name.
  func hold(_ status: FileStatus, in parent: Node?, _ name: FileName) -> Node {
    let node = table.hold(status) { id in
      Node(id: id, status: status, rootDevice: rootDevice, cache: cache, parent: parent, name: name)
    }
    // Hard links: the name of the last lookup counts.
    if let parent { node.moved(to: parent, name) }
    return node
  }

  func entry(_ node: Node, _ status: FileStatus) -> Entry {
    Entry(
      node: node.id, status: shown(status), nameLifetime: settings.lifetime,
      attributesLifetime: lifetime(of: node, status))
  }

  /// Seconds for which the kernel may believe a node's attributes. It sees neither stores into a mapping of a backing file nor that a write to it took
  /// the set-id bits away, so while either may be it has to ask. (Into an empty file nothing can be stored; what makes it longer it sees.)
  func lifetime(of node: Node, _ status: FileStatus) -> Double {
    let mayChange = node.peek {
      ($0.stream.mayBeMapped && status.size > 0) || ($0.stream.writers > 0 && status.hasSetID)
    }
    return mayChange == true ? 0 : settings.lifetime
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
    // Closing the last descriptor of a removed file frees its blocks, which may take long for a large one.
    if node.isNameless { reaper.take(node) } else { _ = node.takeDescriptor() }
    if table.hasShrunk() { reaper.trim() }
  }

  /// A document was changed under the number of a mirror's node: what the kernel remembers under its own is not true any more.
  func changedElsewhere(_ node: NodeID) {
    guard let session = session.withLock({ $0 }) else { return }
    // It may wait for pages that are being read through us.
    _ = Thread("sharefs-forget") { session.forgetContent(of: node) }
  }

  /// A name in the root that a view has: nothing of the user's can be made there.
  func refuseViewName(_ name: FileName, in parent: NodeID) throws(Errno) {
    if parent == .root && views[name] != nil { throw .readOnly }
  }
}

/// Closes removed files in a thread of its own, and gives memory back.
private final class Reaper: Sendable {
  private struct State {
    /// Nodes rather than their descriptors: whoever handed one of those over would still hold it for a moment, and might be the last to.
    var nodes: [Node] = []
    var mayTrim = false
    var isStopping = false
  }

  private let state = Monitor(State())
  private let thread = OwnThread()

  init() {
    let state = state
    thread.begin("sharefs-reaper") {
      while true {
        let work: (nodes: [Node], mayTrim: Bool)? = state.wait { state in
          if state.nodes.isEmpty && !state.mayTrim { return state.isStopping ? .some(nil) : nil }
          defer {
            state.nodes = []
            state.mayTrim = false
          }
          return (state.nodes, state.mayTrim)
        }
        guard let work else { return }
        for node in work.nodes { _ = node.takeDescriptor() }
        if work.mayTrim { System.giveMemoryBack() }
      }
    }
  }

  func take(_ node: Node) { state.change { $0.nodes.append(node) } }

  func trim() { state.change { $0.mayTrim = true } }

  func stop() {
    state.change { $0.isStopping = true }
    thread.join()
  }
}
