import Posix

/// Keeps the descriptors of the nodes used last, so that a tree of any size costs a bounded number of them.
///
/// A clock: a node whose descriptor was used since the hand last came by is passed over once.
final class DescriptorCache: Sendable {
  private struct State {
    var ring: [Node?]
    var hand = 0
  }

  private let state: Guarded<State>

  /// - Parameter capacity: how many descriptors are kept beside those in use.
  init(capacity: Int) { state = Guarded(State(ring: Array(repeating: nil, count: capacity))) }

  /// A quarter of what this process may open, since documents that are open need two each, and no more than a large working set needs.
  static var usualCapacity: Int { min(4096, max(64, System.descriptorLimit / 4)) }

  /// Gives a node its descriptor.
  /// - Returns: the one that it had got meanwhile, if any.
  func keep(_ fresh: SharedDescriptor, of node: Node) -> SharedDescriptor {
    let (descriptor, isNew) = node.withUse { use in
      if let descriptor = use.descriptor { return (descriptor, false) }
      use.descriptor = fresh
      return (fresh, !use.isCached)
    }
    if isNew { insert(node) }
    return descriptor
  }

  /// Counts a node's descriptor, and lets another one go for it.
  func insert(_ node: Node) {
    let victim: Node? = state.withLock { state in
      // The cache's lock comes before a node's; at most so many are passed over.
      for _ in 0..<16 {
        guard let old = state.ring[state.hand], old.withUse({ $0.deservesMore() }) else { break }
        state.hand = (state.hand + 1) % state.ring.count
      }
      let old = state.ring[state.hand]
      state.ring[state.hand] = node
      state.hand = (state.hand + 1) % state.ring.count
      node.withUse { $0.isCached = true }
      return old
    }
    // Closed here, outside of the locks.
    if let victim, victim !== node { _ = victim.withUse { $0.leavesCache() } }
  }

  /// Lets all go that nobody uses now: this process may open no more.
  /// - Returns: whether there were any.
  func clear() -> Bool {
    let all = state.withLock { state in
      defer { state.ring = Array(repeating: nil, count: state.ring.count) }
      return state.ring
    }
    var wereAny = false
    for node in all { if node?.withUse({ $0.leavesCache() }) != nil { wereAny = true } }
    return wereAny
  }
}

extension Node.Use {
  fileprivate func deservesMore() -> Bool {
    defer { wasUsed = false }
    return descriptor != nil && (wasUsed || pins > 0)
  }

  fileprivate func leavesCache() -> SharedDescriptor? {
    isCached = false
    return pins == 0 ? descriptor.take() : nil
  }
}
