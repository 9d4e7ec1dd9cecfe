import CLinux
import Fuse
import Posix

/// What identifies an inode among those that are known at a time.
struct NodeKey: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// An inode of the backing folder that the kernel, or we, know by number.
///
/// There may be a million of them: it is small, and has a descriptor only while one is used. Otherwise it is reached through its folder by the
/// name under which it was last looked up, and is told from whatever may have come there since by inode number and birth time.
final class Node: @unchecked Sendable {
  // Sound: `state` is touched only under the lock of the node's stripe, `count` only under that of its shard in the table.
  let id: NodeID
  let key: NodeKey
  private let birth: FileTime
  private let cache: DescriptorCache
  private var state: State
  /// How often the kernel and we hold it; the table's own.
  var count: UInt32 = 1
  let kind: FileKind
  private let isOnRootDevice: Bool

  struct State {
    var parent: Node?
    var name: FileName
    fileprivate(set) var use: Use?
    var isGone = false
  }

  /// What a node has only while it is used, and for a while after.
  final class Use {
    /// O_PATH: it pins the inode and costs no open file on the disk.
    var descriptor: SharedDescriptor?
    /// How many need the descriptor to stay.
    var pins = 0
    /// Whether the cache counts the descriptor, and whether that was used since the cache last came by.
    var isCached = false
    var wasUsed = true
    var stream = StreamState()
    var backing = BackingState()
  }

  /// - Parameters:
  ///   - rootDevice: the device of the share's own folder.
  ///   - parent: nil for what has no name: the root, and what O_TMPFILE made; such a node needs `adopt`.
  init(id: NodeID, status: FileStatus, rootDevice: UInt64, cache: DescriptorCache, parent: Node?, name: FileName) {
    self.id = id
    key = NodeKey(device: status.device, inode: status.inode)
    birth = status.birth
    kind = status.kind
    isOnRootDevice = status.device == rootDevice
    self.cache = cache
    state = State(parent: parent, name: name)
  }

  var file: FileID { FileID(volume: isOnRootDevice ? 0 : key.device, inode: key.inode, birth: birth) }

  /// Whether a status is this inode's, and not that of a later one with its number.
  func isOf(_ status: FileStatus) -> Bool {
    status.device == key.device && status.inode == key.inode && status.birth == birth && status.kind == kind
  }

  /// One lock for many nodes: each has too little to guard for one of its own.
  private static let stripes = (0..<64).map { _ in Stripe() }
  private final class Stripe: Sendable { let lock = Guarded(()) }

  /// No system call and no call out belongs into `body`, and nothing is released in it.
  func withState<Result>(_ body: (inout State) -> Result) -> Result {
    // The lower bits of a number say the shard.
    let stripe = Node.stripes[Int(truncatingIfNeeded: id.raw >> 4) & 63]
    nonisolated(unsafe) let body = body
    return stripe.lock.withLock { _ in
      nonisolated(unsafe) let result = unsafe body(&state)
      return unsafe result
    }
  }
}

// Where it stands.
extension Node {
  /// The name by which it was last looked up, and the folder; a file with several hard links has several.
  func moved(to parent: Node, _ name: FileName) {
    let old: (parent: Node?, name: FileName)? = withState { state in
      if state.parent === parent && state.name == name && !state.isGone { return nil }
      defer {
        state.parent = parent
        state.name = name
        state.isGone = false
      }
      return (state.parent, state.name)
    }
    // From now on it can be reached by name. (And the last reference to a forgotten parent may go here, outside of the lock.)
    if let old, old.parent == nil { unpin() }
  }

  /// Its last name was removed; it lives on while it is open. The caller has it pinned, and it stays so.
  func lostLastName() {
    withUse { $0.pins += 1 }
    withState { $0.isGone = true }
  }

  /// Whether no name leads to it: closing it for the last time frees its blocks.
  var isNameless: Bool { withState { $0.isGone || $0.parent == nil } }

  /// Where it stands in the share; nil when it, or a folder above, was removed.
  var path: SharePath? {
    var names: [FileName] = []
    var node = self
    while node.id != .root {
      let (parent, name, isGone) = node.withState { ($0.parent, $0.name, $0.isGone) }
      guard let parent, !isGone else { return nil }
      names.append(name)
      node = parent
    }
    return names.reversed().reduce(SharePath.root) { $0.appending($1) }
  }
}

// What it is reached by.
extension Node {
  /// How often it is looked for where it has gone while it is being looked for.
  private static let patience = 8

  /// A descriptor of the inode, opened where none is at hand. Keep it in a variable for as long as its number is used.
  /// - Throws: ESTALE when it is not where it was, which only a change behind our back can bring about.
  func open() throws(Errno) -> SharedDescriptor {
    func named(_ folder: CInt, _ name: FileName) throws(Errno) -> SharedDescriptor? {
      let fresh = SharedDescriptor(try Descriptor.open(at: folder, name, CInt(O_PATH) | O_NOFOLLOW))
      return isOf(try fresh.descriptor.status()) ? cache.keep(fresh, of: self) : nil
    }
    return try reach(held: { $0 }, named: named)
  }

  /// What the disk says of it now.
  func status() throws(Errno) -> FileStatus {
    func held(_ descriptor: SharedDescriptor) throws(Errno) -> FileStatus { try descriptor.descriptor.status() }
    func named(_ folder: CInt, _ name: FileName) throws(Errno) -> FileStatus? {
      let status = try FileStatus.of(name, in: folder)
      return isOf(status) ? status : nil
    }
    return try reach(held: held, named: named)
  }

  /// - Parameters:
  ///   - held: gets the result from a descriptor that is there.
  ///   - named: gets it by name from the folder's descriptor; nil when another file stands there.
  private func reach<Result>(
    held: (SharedDescriptor) throws(Errno) -> Result, named: (CInt, FileName) throws(Errno) -> Result?
  ) throws(Errno) -> Result {
    for _ in 0..<Node.patience {
      let (descriptor, parent, name) = withState { state in
        state.use?.wasUsed = true
        return (state.use?.descriptor, state.parent, state.name)
      }
      if let descriptor { return try held(descriptor) }
      guard let parent else { throw .stale }
      do throws(Errno) {
        let folder = try parent.open()
        if let result = try named(folder.raw, name) { return result }
      } catch {
        switch error {
        case .noEntry, .notFolder: break
        case .tooManyOpen where cache.clear(): continue
        default: throw error
        }
      }
      // Who renames pins first: then there is a descriptor now, or another place.
      let isWhereItWas = withState { $0.use?.descriptor == nil && $0.parent === parent && $0.name == name }
      if isWhereItWas { throw .stale }
    }
    throw .stale
  }

  /// As `open`, and the descriptor stays until `unpin`: for what is about to lose its name, and for what is open.
  @discardableResult
  func pin() throws(Errno) -> SharedDescriptor {
    let fresh = try open()
    return withUse { use in
      use.pins += 1
      if let descriptor = use.descriptor { return descriptor }
      use.descriptor = fresh
      return fresh
    }
  }

  func unpin() {
    let isNameless = isNameless
    let isLeft = withUse { use in
      use.pins -= 1
      return use.pins == 0 && !use.isCached && !isNameless
    }
    if isLeft { cache.insert(self) }
  }

  /// Takes a descriptor of the inode for its own, one for ever for a node without a name.
  func adopt(_ descriptor: consuming Descriptor) {
    let fresh = SharedDescriptor(descriptor)
    let hasNoName = withState { $0.parent == nil }
    let isKept = withUse { use in
      guard hasNoName, use.descriptor == nil else { return false }
      use.descriptor = fresh
      use.pins += 1
      return true
    }
    if !isKept { _ = cache.keep(fresh, of: self) }
  }

  /// The kernel has forgotten it.
  /// - Returns: what it was held by, to be dropped outside of all locks.
  func takeDescriptor() -> SharedDescriptor? { withUse { $0.descriptor.take() } }
}

// What is going on with it.
extension Node {
  /// What is known of its write stream. No system call and no call out belongs into `body`.
  func withStream<Result>(_ body: (inout StreamState) -> Result) -> Result { withUse { body(&$0.stream) } }

  /// How its open handles reach its data.
  func withBacking<Result>(_ body: (inout BackingState) -> Result) -> Result { withUse { body(&$0.backing) } }

  /// Makes what is not there, and lets it go when there is nothing in it.
  func withUse<Result>(_ body: (Use) -> Result) -> Result {
    withState { state in
      let use = state.use ?? Use()
      let result = body(use)
      state.use = use.isEmpty ? nil : use
      return result
    }
  }
}

extension Node.Use {
  fileprivate var isEmpty: Bool { descriptor == nil && pins == 0 && !isCached && stream.isAtRest && backing.opens == 0 }
}
