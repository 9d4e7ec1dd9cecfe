import CLinux
import Contracts
import Fuse
import Posix

/// The pages of folders, made by a thread of their own: it reads the folder and may wait for the catalog, which nobody else who answers the
/// kernel does. A page's size must be known before it is opened, so it is made when its name is looked up.
final class PageShelf: Sendable {
  struct Page: Sendable {
    let bytes: [UInt8]
    let hash: UInt64
    /// The latest time of the folder and of what stands in it.
    let modified: FileTime
  }

  private struct Kept: Sendable {
    let page: Page
    let made: Clock.Instant
    let revision: UInt64
    let changed: FileTime
  }

  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var isStopping = false
    /// Counts the pictures that came, changed and went.
    var revision: UInt64 = 0
    /// The last page of each folder, so that a lookup and an open right after it do not make it twice.
    var kept: [NodeKey: Kept] = [:]
  }

  /// What is asked for again within this time is not made again, unless something changed.
  private static let lifetime = Clock.seconds(1)

  let pages: any Pages
  private let state = Monitor(State())
  private let thread = OwnThread()

  init(_ pages: any Pages) { self.pages = pages }

  func start() {
    thread.begin("sharefs-page") { [state] in
      while true {
        let jobs: [@Sendable () -> Void] = state.wait { state in
          if state.jobs.isEmpty { return state.isStopping ? [] : nil }
          defer { state.jobs = [] }
          return state.jobs
        }
        if jobs.isEmpty { return }
        for job in jobs { job() }
      }
    }
  }

  func stop() {
    state.change { $0.isStopping = true }
    thread.join()
  }

  func add(_ job: @escaping @Sendable () -> Void) { state.change { $0.jobs.append(job) } }

  func noteChange() { state.withLock { $0.revision += 1 } }

  var revision: UInt64 { state.withLock { $0.revision } }

  /// - Parameter changed: the folder's change time now.
  func kept(_ folder: NodeKey, changed: FileTime) -> Page? {
    let now = Clock.now()
    return state.withLock { state in
      guard let kept = state.kept[folder], kept.revision == state.revision, kept.changed == changed,
        kept.made + PageShelf.lifetime > now
      else { return nil }
      return kept.page
    }
  }

  func keep(_ page: Page, of folder: NodeKey, revision: UInt64, changed: FileTime) {
    let now = Clock.now()
    state.withLock { state in
      state.kept = state.kept.filter { $0.value.made + PageShelf.lifetime > now }
      state.kept[folder] = Kept(page: page, made: now, revision: revision, changed: changed)
    }
  }
}

extension Thumbs {
  /// Answered by the thread of the pages.
  func lookupPage(_ request: consuming Request, in folder: Node) {
    guard let shelf else { return request.absent(lifetime: 0) }
    // The kernel holds the folder while its lookup waits.
    waits.begin(folder.key)
    let deferred = Deferred(request) { [waits] in waits.end(folder.key) }
    shelf.add { [self] in
      // As a listing does: who looks right after a copy sees it.
      guard let pending = try? inTheMaking(in: folder), !pending.isEmpty else {
        return answer(deferred, in: folder, shelf)
      }
      _ = projection.wait(for: pending, until: Clock.now() + Thumbs.listingPatience) { [self] in
        shelf.add { [self] in answer(deferred, in: folder, shelf) }
      }
    }
  }

  private func answer(_ deferred: Deferred, in folder: Node, _ shelf: PageShelf) {
    guard let request = deferred.take() else { return }
    defer { waits.end(folder.key) }
    do throws(Errno) {
      let status = try folder.status()
      let page: PageShelf.Page
      if let kept = shelf.kept(folder.key, changed: status.changed) {
        page = kept
      } else {
        let revision = shelf.revision
        page = try make(folder, status, shelf)
        shelf.keep(page, of: folder.key, revision: revision, changed: status.changed)
      }
      let node = hold(
        .page(folder: folder.id, hash: page.hash, modified: page.modified), .page(folder: folder, page))
      answer(request, node, self.status(of: page, in: status))
    } catch {
      request.fail(error)
    }
  }

  private func make(_ folder: Node, _ status: FileStatus, _ shelf: PageShelf) throws(Errno) -> PageShelf.Page {
    guard let path = folder.path else { throw .noEntry }
    var folders: [FileName] = []
    var items: [PageItem] = []
    var modified = status.modified
    for line in try read(folder) where !line.name.isDots {
      switch try resolve(line.name, in: folder) {
      case .folder: folders.append(line.name)
      case .document(let document, let found):
        modified = max(modified, found.modified)
        items.append(
          PageItem(
            document: document, picture: line.name, file: found.id(root: root.key.device), size: found.size,
            modified: found.modified, isOpen: isOpen(found, toReadersOf: status)))
      // Nothing: gone since it was read.
      case .note, .page, nil: continue
      }
    }
    // As a browser orders them, or nearly: it has little left to do.
    items.sort { $0.document < $1.document }
    let bytes = shelf.pages.page(of: PageFolder(path: path, folders: folders.sorted(), items: items))
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return PageShelf.Page(bytes: bytes, hash: hash, modified: modified)
  }

  /// Whether whoever may read the page of a folder may read a document in it, by owner and mode.
  private func isOpen(_ document: FileStatus, toReadersOf folder: FileStatus) -> Bool {
    if document.permissions & 0o444 == 0o444 { return true }
    let readers = folder.permissions & 0o444
    return document.user == folder.user && document.group == folder.group && document.permissions & readers == readers
  }

  /// A page's attributes: readable by whoever may list the folder.
  func status(of page: PageShelf.Page, in folder: FileStatus) -> FileStatus {
    var status = mirrored(folder)
    status.kind = .regular
    status.permissions &= 0o444
    if folder.permissions & 0o200 != 0 { status.permissions |= 0o200 }
    status.inode = pageInode(folder.inode)
    status.modifiedSeconds = max(0, page.modified.nanoseconds) / 1_000_000_000
    status.modifiedNanoseconds = UInt32(max(0, page.modified.nanoseconds) % 1_000_000_000)
    status.size = Int64(page.bytes.count)
    status.blocks = (status.size + 4095) / 4096 * 8
    status.blockSize = 4096
    return status
  }

  func pageInode(_ folder: UInt64) -> UInt64 { folder | NodeID.viewBit | 1 << 61 }
}
