import Fuse
import Posix

/// All nodes, by number and by inode, with the number of times that the kernel (or we) hold each.
///
/// In shards, so that threads seldom meet; a node's number says in which shard it is, and numbers are never used twice.
final class NodeTable: Sendable {
  private static let shardBits: UInt64 = 4
  private static let shards = 1 << Int(shardBits)

  private struct Slot {
    let node: Node
    var count: UInt64
  }

  private struct Shard {
    var nodes: [NodeID: Slot] = [:]
    var ids: [NodeKey: NodeID] = [:]
    var next: UInt64 = 1
  }

  private final class ShardBox: Sendable {
    let state = Guarded(Shard())
  }

  private let shards = (0..<NodeTable.shards).map { _ in ShardBox() }
  let root: Node

  /// - Parameter root: held for ever.
  init(root: Node) {
    self.root = root
    shard(of: root.key).state.withLock { shard in
      shard.nodes[root.id] = Slot(node: root, count: 1)
      shard.ids[root.key] = root.id
    }
  }

  /// How many nodes are held.
  var count: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.nodes.count } } }

  func find(_ id: NodeID) throws(Errno) -> Node {
    if id == .root { return root }
    guard let node = shard(of: id).state.withLock({ $0.nodes[id]?.node }) else { throw .stale }
    return node
  }

  /// The node of an inode, if it is known; not counted.
  func find(_ key: NodeKey) -> Node? {
    shard(of: key).state.withLock { shard in shard.ids[key].flatMap { shard.nodes[$0]?.node } }
  }

  /// Finds the inode's node and counts once.
  func hold(_ key: NodeKey) -> Node? {
    shard(of: key).state.withLock { shard in
      guard let id = shard.ids[key], var slot = shard.nodes[id] else { return nil }
      slot.count += 1
      shard.nodes[id] = slot
      return slot.node
    }
  }

  /// Finds or makes the inode's node and counts once.
  /// - Parameter make: gives the node for the number; called under the lock, so it only puts together what is there.
  func hold(_ key: NodeKey, make: (NodeID) -> Node) -> Node {
    let index = index(of: key)
    return shards[index].state.withLock { shard in
      if let id = shard.ids[key], var slot = shard.nodes[id] {
        slot.count += 1
        shard.nodes[id] = slot
        return slot.node
      }
      shard.next += 1
      let node = make(NodeID(shard.next << NodeTable.shardBits | UInt64(index)))
      shard.nodes[node.id] = Slot(node: node, count: 1)
      shard.ids[key] = node.id
      return node
    }
  }

  /// Counts back.
  /// - Returns: the node when nobody holds it any more; closing its descriptor is up to whoever drops it last, outside of all locks.
  func release(_ id: NodeID, count: UInt64) -> Node? {
    if id == .root { return nil }
    return shard(of: id).state.withLock { shard in
      guard var slot = shard.nodes[id] else { return nil }
      slot.count -= min(count, slot.count)
      if slot.count > 0 {
        shard.nodes[id] = slot
        return nil
      }
      shard.nodes[id] = nil
      if shard.ids[slot.node.key] == id { shard.ids[slot.node.key] = nil }
      return slot.node
    }
  }

  private func index(of key: NodeKey) -> Int {
    // Inode numbers of one folder follow each other; the odd multiplier spreads them.
    Int(truncatingIfNeeded: ((key.inode ^ key.device << 32) &* 0x9e37_79b9_7f4a_7c15) >> (64 - NodeTable.shardBits))
  }

  private func shard(of key: NodeKey) -> ShardBox { shards[index(of: key)] }

  private func shard(of id: NodeID) -> ShardBox { shards[Int(id.raw & UInt64(NodeTable.shards - 1))] }
}
