import CLinux
import Contracts
import Fuse
import Posix

/// The view that shows only documents that are whole: what is being written, waits for its verdict, was cut off or is damaged is not there. Read-only.
final class Ready: Mirror {
  let name: FileName
  let table: NodeTable
  let nodes = ViewNodes<MirrorKey, MirrorContent>(.ready)
  let joined = Guarded<Files?>(nil)
  private let streams: WriteStreams
  private let settled: any Settled
  private let projection: any Projection
  private let settings: TreeSettings
  private let waits = FolderWaits()
  private let announcer: Announcer

  init(
    table: NodeTable, streams: WriteStreams, settled: any Settled, projection: any Projection, settings: TreeSettings,
    name: FileName, watchers: Watchers
  ) {
    self.table = table
    self.streams = streams
    self.settled = settled
    self.projection = projection
    self.settings = settings
    self.name = name
    announcer = Announcer(
      mountpoint: settings.mountpoint, view: name, mark: Self.folderMark, waits: waits, watchers: watchers)
  }

  func start() { announcer.start() }
  func stop() { announcer.stop() }

  var isListed: Bool { settings.ready == .listed }

  func rootStatus() -> FileStatus? { try? status(of: .folder(table.root, nil)) }

  func holdRoot() -> Entry? {
    guard let status = rootStatus() else { return nil }
    return Entry(
      node: hold(.folder(table.root, nil)).id, status: status, nameLifetime: 0, attributesLifetime: Ready.lifetime)
  }

  // MARK: What is whole

  private func wholeness(_ device: UInt64, _ inode: UInt64) -> Wholeness {
    let key = NodeKey(device: device, inode: inode)
    if streams.isBeingWritten(key) {
      // A mapping's end is told by a thread of its own; whoever asks after munmap must find it done.
      streams.lookAgain()
      if streams.isBeingWritten(key) { return .broken }
    }
    return projection.wholeness(volume: device == table.root.key.device ? 0 : device, inode: inode)
  }

  func shows(_ line: DirectoryEntry, in folder: Node, _ raw: CInt, _ access: Access?) -> Bool {
    if TemporaryNames.contains(line.name) { return false }
    switch line.kind {
    case .folder?: return true
    case .regular?: return wholeness(folder.key.device, line.inode) == .whole
    case nil:
      guard let status = try? FileStatus.of(line.name, in: raw) else { return false }
      return status.kind == .folder || (status.kind == .regular && wholeness(status.device, status.inode) == .whole)
    default: return false
    }
  }

  func admit(_ document: Node, _ access: Access?, writes: Bool) throws(Errno) {
    if writes { throw .readOnly }
    // Not there any more: the kernel looks the name up again.
    if wholeness(document.key.device, document.key.inode) != .whole { throw .stale }
  }

  func entries(of content: MirrorContent) -> [(FileName, UInt64, FileKind)] { [] }

  // MARK: Lookups

  func lookup(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    do throws(Errno) {
      guard case .folder(let folder, _) = try nodes.find(parent).what else { throw .notFolder }
      if name.isDots {
        // The kernel asks for these only of a number that it had forgotten.
        guard name.count == 1 else { throw .stale }
        return answer(request, .folder(folder, nil), try status(of: .folder(folder, nil)))
      }
      switch announcer.current(for: request.caller.thread, in: folder.key, name) {
      case .vanishes?: return answer(request, .ghost, try status(of: .ghost))
      case .appears?: return request.absent(lifetime: 0)
      case .changes?, nil: break
      }
      show(request, name, in: folder, mayWait: true)
    } catch {
      request.fail(error)
    }
  }

  /// - Parameter mayWait: whether a verdict that is on its way is waited for.
  private func show(_ request: consuming Request, _ name: FileName, in folder: Node, mayWait: Bool) {
    if TemporaryNames.contains(name) { return request.absent(lifetime: 0) }
    do throws(Errno) {
      let files = try files()
      let (real, status) = try files.hold(in: folder, name)
      defer { files.release(real.id, count: 1) }
      guard real.kind != .folder else { return answer(request, .folder(real, nil), try shown(status)) }
      guard real.kind == .regular else { throw .noEntry }
      switch wholeness(status.device, status.inode) {
      case .whole: answer(request, .document(real, nil), try shown(status))
      case .making where mayWait, .unknown where mayWait: wait(request, for: real, name, status, in: folder)
      case .making, .unknown, .broken: throw .noEntry
      }
    } catch {
      if error == .noEntry { request.absent(lifetime: 0) } else { request.fail(error) }
    }
  }

  /// Who opens right after a copy finds it: the answer comes with the verdict. No thread waits.
  private func wait(
    _ request: consuming Request, for real: Node, _ name: FileName, _ status: FileStatus, in folder: Node
  ) {
    let file = real.file
    if case .unknown = projection.wholeness(volume: file.volume, inode: file.inode), let path = folder.path {
      // The scan has not come to it yet: it is taken first.
      settled.take(.seen(Document(file: file, path: path.appending(name)), status.stamp))
    }
    waits.begin(folder.key)
    let wait = Wait()
    let deferred = Deferred(request) { [self] in
      if let token = wait.token { _ = projection.cancel(token) }
      waits.end(folder.key)
    }
    wait.token = projection.wait(for: [file], until: Clock.now() + Thumbs.patience) { [self] in
      guard let request = deferred.take() else { return }
      show(request, name, in: folder, mayWait: false)
      waits.end(folder.key)
    }
  }

  // MARK: What the announcer does

  /// Only the daemon itself, to make known what has appeared; everybody else gets EROFS.
  func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64) {
    do throws(Errno) {
      guard case .folder(let folder, _) = try nodes.find(parent).what,
        announcer.current(for: request.caller.thread, in: folder.key, name) == .appears
      else { throw .readOnly }
      let (real, status) = try files().hold(in: folder, name)
      defer { try? files().release(real.id, count: 1) }
      guard real.kind == .regular else { throw .again }
      // A document that gets its real name back is in question once more; who opens it waits for the answer.
      switch wholeness(status.device, status.inode) {
      case .whole, .making: break
      case .broken, .unknown: throw .again
      }
      answer(request, .document(real, nil), try shown(status))
    } catch {
      request.fail(error)
    }
  }

  func unlink(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    do throws(Errno) {
      guard case .folder(let folder, _) = try nodes.find(parent).what,
        announcer.current(for: request.caller.thread, in: folder.key, name) == .vanishes
      else { throw .readOnly }
      request.done()
    } catch {
      request.fail(error)
    }
  }

  /// Makes it known to watchers.
  func changed(_ document: Document, isWhole: Bool) {
    guard announcer.isWanted, let name = document.path.name, let parent = document.path.parent,
      !TemporaryNames.contains(document.path),
      let files = joined.withLock({ $0 }), let folder = files.holdFolder(at: parent)
    else { return }
    announcer.announce(
      Announcer.Action(kind: isWhole ? .appears : .vanishes, folder: parent, name: name, key: folder.key))
    files.release(folder.id, count: 1)
  }
}
