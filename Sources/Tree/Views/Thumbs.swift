import CLinux
import Contracts
import Fuse
import Posix

/// The view that mirrors the share's folders with a picture for each document in place of it.
///
/// It keeps no tree of its own: a folder in it is the real folder seen with other eyes, so renames, permissions and hard links are right
/// by themselves, and what stands for a document is asked of the projection by inode.
final class Thumbs: View {
  let name: FileName
  let table: NodeTable
  let streams: WriteStreams
  let settled: any Settled
  let projection: any Projection
  let settings: TreeSettings
  let hidden = HiddenNames()
  let listed = ListedFolders()
  let waits = FolderWaits()
  let announcer: Announcer
  let news = FolderNews()
  /// nil where no pages are shown.
  let shelf: PageShelf?
  /// Joined after both are made: the files list this view's name, this view releases real folders.
  let files = Guarded<Files?>(nil)
  private let nodes = ViewNodes<ThumbKey, ThumbContent>(.thumbs)

  init(
    table: NodeTable, streams: WriteStreams, settled: any Settled, projection: any Projection,
    settings: TreeSettings, name: FileName, watchers: Watchers, pages: (any Pages)?
  ) {
    self.table = table
    self.streams = streams
    self.settled = settled
    self.projection = projection
    self.settings = settings
    self.name = name
    shelf = pages.map { PageShelf($0) }
    announcer = Announcer(
      mountpoint: settings.mountpoint, view: name, mark: NodeID.viewBit, waits: waits, watchers: watchers)
  }

  func start() {
    announcer.start()
    shelf?.start()
  }

  func stop() {
    announcer.stop()
    shelf?.stop()
  }

  var root: Node { table.root }

  // MARK: Nodes

  func find(_ id: NodeID) throws(Errno) -> ThumbNode { try nodes.find(id) }

  /// Finds or makes the node and counts once.
  func hold(_ key: ThumbKey, _ what: ThumbContent) -> ThumbNode {
    // A mirrored folder's real node is held as long as its mirror; counted once too often when the mirror was there already.
    if case .folder(let folder) = what { _ = table.hold(folder) }
    let (node, isNew) = nodes.hold(key, what)
    if !isNew, case .folder(let folder) = what { releaseReal(folder) }
    return node
  }

  func forget(_ id: NodeID, count: UInt64) {
    guard case .folder(let folder)? = nodes.forget(id, count: count)?.what else { return }
    listed.forget(id)
    releaseReal(folder)
  }

  /// After a removal the kernel considers the inode dead: whatever comes back under the name gets another number.
  func renumber(_ key: ThumbKey) { nodes.renumber(key) }

  /// The real folder at a path; nil when there is none any more.
  func holdReal(_ path: SharePath) -> Node? { files.withLock { $0 }?.holdFolder(at: path) }

  func releaseReal(_ folder: Node) { files.withLock { $0 }?.release(folder.id, count: 1) }

  // MARK: The root

  var isListed: Bool { settings.thumbs == .listed && !hidden.hides(nil) }

  func rootStatus() -> FileStatus? {
    // The share's own folder is held open: this fails only when its disk does.
    (try? root.status()).map { mirrored($0) }
  }

  func holdRoot() -> Entry? {
    guard !hidden.hides(nil), let status = rootStatus() else { return nil }
    let node = hold(.folder(root.id), .folder(root))
    return Entry(node: node.id, status: status, nameLifetime: 0, attributesLifetime: Thumbs.attributesLifetime)
  }

  /// rmdir of the view itself: as for any entry of it.
  func removeRoot(_ request: consuming Request) {
    hidden.hide(nil)
    renumber(.folder(root.id))
    request.done()
  }

  // MARK: Attributes

  /// Seconds. Names are asked for every time, and bring fresh attributes with them; this is for what is open.
  static let attributesLifetime = 1.0

  /// A real folder's attributes as those of its mirror.
  func mirrored(_ status: FileStatus) -> FileStatus {
    var status = shown(status)
    status.permissions &= 0o755
    // How many folders stand in it is not counted; 1 says so to find(1).
    status.links = 1
    status.inode |= NodeID.viewBit
    return status
  }

  /// A document's attributes as those of its picture.
  func pictured(_ status: FileStatus, _ picture: Picture) -> FileStatus {
    var status = shown(status)
    status.kind = .regular
    status.permissions &= 0o644
    status.links = 1
    status.inode |= NodeID.viewBit
    status.deviceNumber = 0
    status.size = picture.size
    status.blocks = (picture.size + 4095) / 4096 * 8
    status.blockSize = 4096
    return status
  }

  private func shown(_ status: FileStatus) -> FileStatus { files.withLock { $0 }?.shown(status) ?? status }

  func volume(of status: FileStatus) -> UInt64 { status.device == root.key.device ? 0 : status.device }
}

/// What tells two nodes of the view apart. A picture of another content version is another node, so that no page, size or name of the old one
/// can be taken for the new one's.
enum ThumbKey: Hashable, Sendable {
  case folder(NodeID)
  case picture(folder: NodeID, document: FileName, inode: UInt64, Picture)
  case note(Note)
  /// A page of another content is another node, for the same reason.
  case page(folder: NodeID, hash: UInt64, modified: FileTime)
  case ghost
  case ghostFolder
}

/// The two files that tell backup tools and indexers to pass the view by.
enum Note: UInt64, Sendable, CaseIterable {
  case cacheTag = 1
  case noMedia = 2

  var name: FileName {
    switch self {
    case .cacheTag: FileName("CACHEDIR.TAG")
    case .noMedia: FileName(".nomedia")
    }
  }

  /// Beyond all real ones.
  var inode: UInt64 { NodeID.viewBit | 1 << 62 | rawValue }

  var bytes: [UInt8] {
    switch self {
    case .cacheTag:
      Array(
        """
        Signature: 8a477f597d28d172789f06886806bc55
        # Made by sharefs from the documents beside it: pictures that need no backup.

        """.utf8)
    case .noMedia: []
    }
  }
}

typealias ThumbNode = ViewNode<ThumbKey, ThumbContent>

enum ThumbContent: Sendable {
  case folder(Node)
  /// - volume, inode: of the document whose picture it is.
  case picture(folder: Node, document: FileName, volume: UInt64, inode: UInt64, Picture)
  case note(Note)
  case page(folder: Node, PageShelf.Page)
  /// What the announcer takes away: nobody else ever sees it.
  case ghost
  case ghostFolder
}
