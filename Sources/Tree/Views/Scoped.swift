import CLinux
import Contracts
import Fuse
import Posix

/// One opened access to one document or folder, from `start` until it is stopped or its time is over.
final class Access: Sendable {
  let number: UInt64
  /// What stands below the access's own name.
  let name: FileName
  /// Held while the access is there.
  let target: Node
  let isReadOnly: Bool
  private let deadline: Clock.Instant?
  private let isStopped = Guarded(false)

  init(number: UInt64, name: FileName, target: Node, isReadOnly: Bool, deadline: Clock.Instant?) {
    self.number = number
    self.name = name
    self.target = target
    self.isReadOnly = isReadOnly
    self.deadline = deadline
  }

  var isOpen: Bool { !isStopped.withLock { $0 } && (deadline.map { Clock.now() < $0 } ?? true) }

  func stop() { isStopped.withLock { $0 = true } }
}

/// The view through which a program reaches one document, or folder, and nothing else: `.scoped/<access>/NAME`. It lists nothing; who does not know an
/// access's name finds none. When an access is over new opens fail, also where a sandbox has the path bound; what is open goes on.
final class Scoped: Mirror {
  let name: FileName
  let table: NodeTable
  let nodes = ViewNodes<MirrorKey, MirrorContent>(.scoped)
  let joined = Guarded<Files?>(nil)

  private struct State {
    var accesses: [FileName: Access] = [:]
    var last: UInt64 = 0
  }

  private let state = Guarded(State())

  init(table: NodeTable, name: FileName) {
    self.table = table
    self.name = name
  }

  // MARK: Accesses

  /// - Parameters:
  ///   - key: the access's name, which nobody can guess.
  ///   - file: who must stand at the path.
  ///   - until: nil for as long as the share is mounted.
  func start(_ key: FileName, at path: SharePath, _ file: FileID, isReadOnly: Bool, until: Clock.Instant?) throws(Errno)
  {
    let files = try files()
    var held: Node
    if let parent = path.parent, let name = path.name {
      guard let folder = files.holdFolder(at: parent) else { throw .noEntry }
      defer { files.release(folder.id, count: 1) }
      held = try files.hold(in: folder, name).0
    } else {
      held = table.root
    }
    // By its inode: the birth time is not asked for everywhere.
    guard held.file.volume == file.volume, held.file.inode == file.inode,
      held.kind == .regular || held.kind == .folder
    else {
      files.release(held.id, count: 1)
      throw .noEntry
    }
    let target = held
    let over = state.withLock { state in
      state.last += 1
      state.accesses[key] = Access(
        number: state.last, name: path.name ?? FileName("share"), target: target, isReadOnly: isReadOnly,
        deadline: until)
      let over = state.accesses.filter { !$0.value.isOpen }
      for key in over.keys { state.accesses[key] = nil }
      return over.values.map(\.target)
    }
    for node in over { files.release(node.id, count: 1) }
  }

  /// - Returns: false when there is no such access, or it is over.
  func stop(_ key: FileName) -> Bool {
    guard let access = state.withLock({ $0.accesses.removeValue(forKey: key) }) else { return false }
    let wasOpen = access.isOpen
    access.stop()
    try? files().release(access.target.id, count: 1)
    return wasOpen
  }

  // MARK: The view

  var isListed: Bool { false }
  func rootStatus() -> FileStatus? { try? status(of: .top) }

  func holdRoot() -> Entry? {
    guard let status = rootStatus() else { return nil }
    return Entry(node: hold(.top).id, status: status, nameLifetime: 0, attributesLifetime: Scoped.lifetime)
  }

  func shows(_ line: DirectoryEntry, in folder: Node, _ raw: CInt, _ access: Access?) -> Bool {
    guard access?.isOpen == true else { return false }
    let kind = line.kind ?? (try? FileStatus.of(line.name, in: raw))?.kind
    // A link could lead out.
    return kind == .regular || kind == .folder
  }

  func admit(_ document: Node, _ access: Access?, writes: Bool) throws(Errno) {
    guard let access, access.isOpen else { throw .access }
    if writes && access.isReadOnly { throw .readOnly }
  }

  func entries(of content: MirrorContent) -> [(FileName, UInt64, FileKind)] {
    guard case .access(let access) = content, access.isOpen else { return [] }
    return [(access.name, (try? shown(access.target.status()))?.inode ?? access.target.key.inode, access.target.kind)]
  }

  func lookup(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    do throws(Errno) {
      switch try nodes.find(parent).what {
      case .top:
        guard let access = state.withLock({ $0.accesses[name] }), access.isOpen else { throw .noEntry }
        answer(request, .access(access), try status(of: .access(access)))
      case .access(let access):
        guard access.isOpen, name == access.name else { throw .noEntry }
        let content: MirrorContent =
          access.target.kind == .folder ? .folder(access.target, access) : .document(access.target, access)
        answer(request, content, try status(of: content))
      case .folder(let folder, let access):
        guard let access, access.isOpen, !name.isDots else { throw .noEntry }
        let (real, status) = try files().hold(in: folder, name)
        defer { try? files().release(real.id, count: 1) }
        guard real.kind == .regular || real.kind == .folder else { throw .noEntry }
        let content: MirrorContent = real.kind == .folder ? .folder(real, access) : .document(real, access)
        answer(request, content, try shown(status))
      case .document, .ghost: throw .notFolder
      }
    } catch {
      if error == .noEntry { request.absent(lifetime: 0) } else { request.fail(error) }
    }
  }

  // MARK: What may be written

  /// The document of a node, when its access lets it be changed.
  private func writable(_ node: NodeID) throws(Errno) -> Node {
    guard case .document(let real, let access) = try nodes.find(node).what else { throw .readOnly }
    try admit(real, access, writes: true)
    return real
  }

  func change(_ request: consuming Request, _ node: NodeID, _ change: AttributeChange, handle: UInt64?) {
    do throws(Errno) {
      let (files, real) = (try files(), try writable(node))
      files.change(request, real.id, change, handle: handle, lifetime: Scoped.lifetime)
      files.changedElsewhere(real.id)
    } catch {
      request.fail(error)
    }
  }

  func write(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, _ bytes: UnsafeRawBufferPointer
  ) {
    do throws(Errno) {
      try unsafe files().write(request, node, handle: handle, offset: offset, bytes)
    } catch {
      request.fail(error)
    }
  }

  func synchronize(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) {
    do throws(Errno) {
      try files().synchronize(request, node, handle: handle, dataOnly: dataOnly)
    } catch {
      request.fail(error)
    }
  }

  func allocate(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, mode: CInt, offset: Int64, length: Int64
  ) {
    do throws(Errno) {
      try files().allocate(request, node, handle: handle, mode: mode, offset: offset, length: length)
    } catch {
      request.fail(error)
    }
  }
}
