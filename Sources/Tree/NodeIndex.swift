/// What nodes are found by.
protocol NodeProperty {
  associatedtype Key: Hashable
  static func key(of node: Node) -> Key
}

/// A set of nodes that are found by a property: as a dictionary, but with nothing stored except the node, since there may be a million.
struct NodeIndex<Property: NodeProperty> {
  private static var smallest: Int { 16 }

  // Open addressing, linear probing: a node stands at its key's place or after it, with no gap between.
  private var slots = [Node?](repeating: nil, count: NodeIndex.smallest)
  private(set) var count = 0

  func find(_ key: Property.Key) -> Node? {
    var place = home(key)
    while let node = slots[place] {
      if Property.key(of: node) == key { return node }
      place = next(place)
    }
    return nil
  }

  /// Puts a node in, in the place of another with the same key.
  mutating func insert(_ node: Node) {
    if (count + 1) * 4 > slots.count * 3 { resize(to: slots.count * 2) }
    let key = Property.key(of: node)
    var place = home(key)
    while let other = slots[place] {
      if Property.key(of: other) == key {
        slots[place] = node
        return
      }
      place = next(place)
    }
    slots[place] = node
    count += 1
  }

  /// Takes a node out; another one with its key stays.
  mutating func remove(_ node: Node) {
    var gap = home(Property.key(of: node))
    while let other = slots[gap], other !== node { gap = next(gap) }
    guard slots[gap] != nil else { return }
    slots[gap] = nil
    count -= 1
    // Whoever stands behind the gap and belongs to it or before it moves up.
    var place = next(gap)
    while let other = slots[place] {
      let distance = (place &- home(Property.key(of: other))) & (slots.count - 1)
      if distance >= (place &- gap) & (slots.count - 1) {
        slots[gap] = other
        slots[place] = nil
        gap = place
      }
      place = next(place)
    }
    if slots.count > NodeIndex.smallest && count * 8 < slots.count { resize(to: slots.count / 2) }
  }

  private func home(_ key: Property.Key) -> Int { key.hashValue & (slots.count - 1) }

  private func next(_ place: Int) -> Int { (place + 1) & (slots.count - 1) }

  private mutating func resize(to size: Int) {
    let old = slots
    slots = Array(repeating: nil, count: size)
    for node in old {
      guard let node else { continue }
      var place = home(Property.key(of: node))
      while slots[place] != nil { place = next(place) }
      slots[place] = node
    }
  }
}
