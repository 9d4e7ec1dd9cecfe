import Fuse
import Posix
import Synchronization

/// All nodes, by number and by inode, with the number of times that the kernel (or we) hold each.
///
/// In shards, so that threads seldom meet; a node's number says in which shard it is, and numbers are never used twice.
final class NodeTable: Sendable {
  private static let shardBits: UInt64 = 4
  private static let shards = 1 << Int(shardBits)

  private enum ByID: NodeProperty {
    static func key(of node: Node) -> NodeID { node.id }
  }

  private enum ByInode: NodeProperty {
    static func key(of node: Node) -> NodeKey { node.key }
  }

  private struct Shard {
    var nodes = NodeIndex<ByID>()
    /// Without those whose last name was removed: their inode's number may come to mean another file.
    var inodes = NodeIndex<ByInode>()
    var next: UInt64 = 1
  }

  private final class ShardBox: Sendable {
    let state = Guarded(Shard())
  }

  private let shards = (0..<NodeTable.shards).map { _ in ShardBox() }
  let root: Node
  /// The largest number of nodes since `hasShrunk` last said yes.
  private let peak = Guarded(0)
  private let releases = Atomic<Int>(0)

  /// - Parameter root: held for ever.
  init(root: Node) {
    self.root = root
    shard(of: root.key).state.withLock { shard in
      shard.nodes.insert(root)
      shard.inodes.insert(root)
    }
  }

  /// How many nodes are held.
  var count: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.nodes.count } } }

  /// Whether far fewer nodes are held than once were, so that it is worth while to give memory back; says so once. Looks seldom.
  func hasShrunk() -> Bool {
    let released = releases.add(1, ordering: .relaxed).newValue
    guard released % 4096 == 0 else { return false }
    let now = count
    return peak.withLock { peak in
      peak = max(peak, now + 4096)
      guard peak > 16384, now < peak / 2 else { return false }
      peak = now
      return true
    }
  }

  func find(_ id: NodeID) throws(Errno) -> Node {
    if id == .root { return root }
    guard let node = shard(of: id).state.withLock({ $0.nodes.find(id) }) else { throw .stale }
    return node
  }

  /// The node of an inode, if it is known; not counted.
  func find(_ key: NodeKey) -> Node? { shard(of: key).state.withLock { $0.inodes.find(key) } }

  /// Counts once more.
  /// - Returns: false when it is not held by anybody any more; then it was not counted.
  func hold(_ node: Node) -> Bool {
    if node.id == .root { return true }
    return shard(of: node.id).state.withLock { shard in
      guard shard.nodes.find(node.id) != nil else { return false }
      node.count += 1
      return true
    }
  }

  /// Finds or makes the inode's node and counts once.
  /// - Parameter make: gives the node for the number; called under the lock, so it only puts together what is there.
  func hold(_ status: FileStatus, make: (NodeID) -> Node) -> Node {
    let key = NodeKey(device: status.device, inode: status.inode)
    let index = index(of: key)
    return shards[index].state.withLock { shard in
      // One with the same number and another birth was removed behind our back.
      if let node = shard.inodes.find(key), node.isOf(status) {
        node.count += 1
        return node
      }
      shard.next += 1
      let node = make(NodeID(shard.next << NodeTable.shardBits | UInt64(index)))
      shard.nodes.insert(node)
      shard.inodes.insert(node)
      return node
    }
  }

  /// Its last name was removed: no later file with its inode's number is taken for it.
  func unlist(_ node: Node) { shard(of: node.key).state.withLock { $0.inodes.remove(node) } }

  /// Counts back.
  /// - Returns: the node when nobody holds it any more.
  func release(_ id: NodeID, count: UInt64) -> Node? {
    if id == .root { return nil }
    return shard(of: id).state.withLock { shard in
      guard let node = shard.nodes.find(id) else { return nil }
      node.count -= UInt32(clamping: min(count, UInt64(node.count)))
      if node.count > 0 { return nil }
      shard.nodes.remove(node)
      shard.inodes.remove(node)
      return node
    }
  }

  private func index(of key: NodeKey) -> Int {
    // Inode numbers of one folder follow each other; the odd multiplier spreads them.
    Int(truncatingIfNeeded: ((key.inode ^ key.device << 32) &* 0x9e37_79b9_7f4a_7c15) >> (64 - NodeTable.shardBits))
  }

  private func shard(of key: NodeKey) -> ShardBox { shards[index(of: key)] }

  private func shard(of id: NodeID) -> ShardBox { shards[Int(id.raw & UInt64(NodeTable.shards - 1))] }
}
