import Fuse
import Posix

/// What a view shows under one number.
final class ViewNode<Key: Hashable & Sendable, What: Sendable>: Sendable {
  let id: NodeID
  /// What tells it from the view's other nodes.
  let key: Key
  let what: What

  init(id: NodeID, key: Key, what: What) {
    self.id = id
    self.key = key
    self.what = what
  }
}

/// The nodes of one view that the kernel knows, with the number of lookups of each. Numbers are never used twice.
final class ViewNodes<Key: Hashable & Sendable, What: Sendable>: Sendable {
  typealias Node = ViewNode<Key, What>

  private struct Slot {
    let node: Node
    var count: UInt64
  }

  private struct State {
    var slots: [NodeID: Slot] = [:]
    var ids: [Key: NodeID] = [:]
    var next: UInt64 = 1
  }

  private let mark: UInt64
  private let state = Guarded(State())

  /// - Parameter view: stands in all numbers, so that they tell which view they are of.
  init(_ view: ViewNumber) { mark = view.mark }

  func find(_ id: NodeID) throws(Errno) -> Node {
    guard let node = state.withLock({ $0.slots[id]?.node }) else { throw .stale }
    return node
  }

  /// Finds or makes the node and counts once.
  func hold(_ key: Key, _ what: What) -> (node: Node, isNew: Bool) {
    state.withLock { state in
      if let id = state.ids[key], var slot = state.slots[id] {
        slot.count += 1
        state.slots[id] = slot
        return (slot.node, false)
      }
      state.next += 1
      let node = Node(id: NodeID(state.next | mark), key: key, what: what)
      state.slots[node.id] = Slot(node: node, count: 1)
      state.ids[key] = node.id
      return (node, true)
    }
  }

  /// Counts back.
  /// - Returns: the node when the kernel does not know it any more.
  func forget(_ id: NodeID, count: UInt64) -> Node? {
    state.withLock { state in
      guard var slot = state.slots[id] else { return nil }
      slot.count -= min(count, slot.count)
      if slot.count > 0 {
        state.slots[id] = slot
        return nil
      }
      state.slots[id] = nil
      if state.ids[slot.node.key] == id { state.ids[slot.node.key] = nil }
      return slot.node
    }
  }

  /// After a removal the kernel considers the inode dead: whatever comes back under the name gets another number.
  func renumber(_ key: Key) { _ = state.withLock { $0.ids.removeValue(forKey: key) } }
}

/// The views, as their nodes' numbers tell them apart.
enum ViewNumber: UInt64, Sendable {
  case thumbs = 0
  case ready = 1
  case scoped = 2

  var mark: UInt64 { NodeID.viewBit | rawValue << 56 }

  /// nil for a node that is in no view.
  init?(_ node: NodeID) {
    guard node.isInView else { return nil }
    self.init(rawValue: node.raw >> 56 & 0x3f)
  }
}
