import CLinux
import Contracts
import Fuse
import Posix

extension Thumbs {
  /// How long a picture in the making is waited for before the placeholder stands in.
  static let patience = Clock.seconds(10)

  func lookup(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    do throws(Errno) {
      guard case .folder(let folder) = try find(parent).what else { throw .notFolder }
      if name.isDots {
        let (node, status) = try mirror(name, in: folder)
        return answer(request, node, status)
      }
      let announced = announcer.current(for: request.caller.thread, in: folder.key, name)
      if announced == .vanishes {
        return announcer.isFolder
          ? answer(request, hold(.ghostFolder, .ghostFolder), ghostStatus(.folder))
          : answer(request, hold(.ghost, .ghost), ghostStatus())
      }
      if announced == .appears { return request.absent(lifetime: 0) }
      if hidden.hides(HiddenNames.Key(folder: folder.key, name: name)) { return request.absent(lifetime: 0) }
      switch try resolve(name, in: folder) {
      case nil:
        request.absent(lifetime: 0)
      case .note(let note):
        answer(request, hold(.note(note), .note(note)), status(of: note))
      case .page:
        lookupPage(request, in: folder)
      case .folder:
        let (node, status) = try mirror(name, in: folder)
        answer(request, node, status)
      case .document(let document, let status):
        lookupPicture(request, of: document, status, in: folder, mayWait: announced == nil)
      }
    } catch {
      request.fail(error)
    }
  }

  func answer(_ request: consuming Request, _ node: ThumbNode, _ status: FileStatus) {
    let entry = Entry(
      node: node.id, status: status, nameLifetime: 0, attributesLifetime: Thumbs.attributesLifetime)
    if !request.entry(entry) { forget(node.id, count: 1) }
  }

  /// A mirrored folder, held, and its status.
  func mirror(_ name: FileName, in folder: Node) throws(Errno) -> (ThumbNode, FileStatus) {
    if name.isDots {
      // The kernel asks for these only of a number that it had forgotten.
      guard name.count == 1 else { throw .stale }
      return (hold(.folder(folder.id), .folder(folder)), mirrored(try folder.status()))
    }
    guard let files = files.withLock({ $0 }) else { throw .noDevice }
    let (real, status) = try files.hold(in: folder, name)
    defer { files.release(real.id, count: 1) }
    guard real.kind == .folder else { throw .noEntry }
    return (hold(.folder(real.id), .folder(real)), mirrored(status))
  }

  /// The picture that stands for a document now, if any does without waiting.
  private enum Now {
    case picture(Picture)
    case none
    case later
  }

  private func now(_ document: FileName, _ status: FileStatus, in folder: Node) -> Now {
    let key = NodeKey(device: status.device, inode: status.inode)
    // A mapping's end is told by a thread of its own; whoever asks after munmap must find it done.
    let isWritten =
      streams.isBeingWritten(key)
      && {
        streams.lookAgain()
        return streams.isBeingWritten(key)
      }()
    switch projection.picture(volume: volume(of: status), inode: status.inode) {
    case .ready(let picture): return .picture(picture)
    case .making(let previous):
      // While it is being written its picture is that of the last version that was whole.
      if isWritten { return previous.map { .picture($0) } ?? .none }
      return .later
    case .unknown: return isWritten ? .none : .later
    }
  }

  private func lookupPicture(
    _ request: consuming Request, of document: FileName, _ status: FileStatus, in folder: Node, mayWait: Bool
  ) {
    switch now(document, status, in: folder) {
    case .picture(let picture): answer(request, picture, of: document, status, in: folder)
    case .none: request.absent(lifetime: 0)
    case .later where !mayWait: request.absent(lifetime: 0)
    case .later: wait(request, for: document, status, in: folder)
    }
  }

  func answer(
    _ request: consuming Request, _ picture: Picture, of document: FileName, _ status: FileStatus, in folder: Node
  ) {
    answer(request, holdPicture(picture, of: document, status, in: folder), pictured(status, picture))
  }

  func holdPicture(_ picture: Picture, of document: FileName, _ status: FileStatus, in folder: Node) -> ThumbNode {
    hold(
      .picture(folder: folder.id, document: document, inode: status.inode, picture),
      .picture(
        folder: folder, document: document, volume: volume(of: status), inode: status.inode, picture))
  }

  /// Answers when the picture is made, or with the placeholder when that takes too long. No thread waits.
  private func wait(_ request: consuming Request, for document: FileName, _ status: FileStatus, in folder: Node) {
    let file = status.id(root: root.key.device)
    if case .unknown = projection.picture(volume: file.volume, inode: file.inode), let path = folder.path {
      // The scan has not come to it yet: it is taken first.
      settled.take(.seen(Document(file: file, path: path.appending(document)), status.stamp))
    }
    waits.begin(folder.key)
    let wait = Wait()
    let deferred = Deferred(request) { [self] in
      if let token = wait.token { _ = projection.cancel(token) }
      waits.end(folder.key)
    }
    wait.token = projection.wait(for: [file], until: Clock.now() + Thumbs.patience) { [self] in
      guard let request = deferred.take() else { return }
      late(request, document, in: folder)
      waits.end(folder.key)
    }
  }

  private func late(_ request: consuming Request, _ document: FileName, in folder: Node) {
    do throws(Errno) {
      // It may have been renamed or replaced meanwhile.
      guard let status = try documentStatus(document, in: folder) else { return request.absent(lifetime: 0) }
      switch projection.picture(volume: volume(of: status), inode: status.inode) {
      case .ready(let picture): answer(request, picture, of: document, status, in: folder)
      case .making(let previous):
        answer(request, previous ?? projection.placeholder(for: document), of: document, status, in: folder)
      case .unknown: request.absent(lifetime: 0)
      }
    } catch {
      request.fail(error)
    }
  }

  func attributes(_ request: consuming Request, of node: NodeID, handle: UInt64?) {
    do throws(Errno) {
      request.attributes(try status(of: try find(node)), lifetime: Thumbs.attributesLifetime)
    } catch {
      request.fail(error)
    }
  }

  /// chmod, chown and utimens succeed and change nothing, for the sake of those who copy a copy back.
  func change(_ request: consuming Request, _ node: NodeID, _ change: AttributeChange, handle: UInt64?) {
    if change.size != nil { return request.fail(.readOnly) }
    attributes(request, of: node, handle: handle)
  }

  func status(of node: ThumbNode) throws(Errno) -> FileStatus {
    switch node.what {
    case .folder(let folder): return mirrored(try folder.status())
    case .note(let note): return status(of: note)
    case .page(let folder, let page): return status(of: page, in: try folder.status())
    case .ghost: return ghostStatus()
    case .ghostFolder: return ghostStatus(.folder)
    case .picture(let folder, let document, let volume, let inode, let picture):
      guard let status = try documentStatus(document, in: folder), status.inode == inode,
        self.volume(of: status) == volume
      else { throw .stale }
      return pictured(status, picture)
    }
  }

  func status(of note: Note) -> FileStatus {
    var status = ghostStatus()
    status.size = Int64(note.bytes.count)
    status.blocks = (status.size + 4095) / 4096 * 8
    status.inode = note.inode
    return status
  }

  /// An empty file or folder that belongs to the share's owner.
  private func ghostStatus(_ kind: FileKind = .regular) -> FileStatus {
    var status = rootStatus() ?? FileStatus.empty
    status.kind = kind
    status.permissions &= kind == .folder ? 0o755 : 0o644
    status.size = 0
    status.blocks = 0
    status.inode = NodeID.viewBit | 1 << 62
    return status
  }
}

/// Set once the wait is known, read by whoever gives it up.
final class Wait: Sendable {
  private let state = Guarded<UInt64?>(nil)
  var token: UInt64? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
