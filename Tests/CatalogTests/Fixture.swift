import Catalog
import Contracts
import Glibc
import Posix
import Testing

/// A folder of its own for one test.
final class Folder {
  let path: FileName

  init() throws {
    var template = Array("/tmp/sharefs-test-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
    try #require(made)
    path = FileName(template.dropLast().map { UInt8(bitPattern: $0) })
  }

  deinit { remove(path) }

  private func remove(_ folder: FileName) {
    for name in (try? Files.names(in: folder)) ?? [] {
      let path = folder.appending(name)
      do { try Files.remove(path) } catch { remove(path) }
    }
    try? Files.removeFolder(folder)
  }
}

/// A catalog with short ways to say what happens.
final class Book {
  let folder: Folder
  var catalog: Catalog
  var aside: [FileName] = []
  private var clock: Int64 = 1000

  init() throws {
    folder = try Folder()
    catalog = try Catalog(folder: folder.path) { _ in }
  }

  func reopen() throws {
    catalog = try Catalog(folder: folder.path) { aside.append($0) }
  }

  func file(_ inode: UInt64, volume: UInt64 = 0) -> FileID {
    FileID(volume: volume, inode: inode, birth: FileTime(nanoseconds: Int64(inode) * 10))
  }

  func stamp(_ size: Int64 = 1) -> ContentStamp {
    clock += 1
    return ContentStamp(
      size: size, modified: FileTime(nanoseconds: clock), changed: FileTime(nanoseconds: clock))
  }

  @discardableResult
  func act(_ rule: (Catalog, inout [Effect]) throws(CatalogError) -> Void) throws -> [Effect] {
    var effects: [Effect] = []
    try catalog.transaction { () throws(CatalogError) in try rule(catalog, &effects) }
    return effects
  }

  @discardableResult
  func settle(_ path: SharePath, _ inode: UInt64, _ stamp: ContentStamp? = nil) throws -> [Effect] {
    let stamp = stamp ?? self.stamp()
    return try act { catalog, effects throws(CatalogError) in
      try catalog.settle(Document(file: file(inode), path: path), stamp, &effects)
    }
  }

  @discardableResult
  func rename(
    _ inode: UInt64, _ from: SharePath, _ to: SharePath, kind: FileKind = .regular, replaced: UInt64? = nil
  ) throws -> [Effect] {
    try act { catalog, effects throws(CatalogError) in
      try catalog.rename(
        file(inode), kind, from: from, to: to, replaced: replaced.map { file($0) }, &effects)
    }
  }

  @discardableResult
  func unlink(_ path: SharePath, _ inode: UInt64, wasLast: Bool = true) throws -> [Effect] {
    try act { catalog, effects throws(CatalogError) in
      try catalog.unlink(Document(file: file(inode), path: path), .regular, wasLast: wasLast, &effects)
    }
  }

  /// As a scan or a lookup finds it, with this being what stands in the share.
  @discardableResult
  func sight(
    _ path: SharePath, _ inode: UInt64, _ stamp: ContentStamp, replaced: UInt64? = nil,
    among present: [SharePath: UInt64] = [:]
  ) throws -> [Effect] {
    try act { catalog, effects throws(CatalogError) in
      try catalog.sight(
        Document(file: file(inode), path: path), stamp, replaced: replaced.map { file($0) },
        look: { present[$0].map { .file(file($0)) } ?? .absent }, &effects)
    }
  }

  /// Bookmarks a document by a token that hashes to 7.
  func mark(_ path: SharePath, _ inode: UInt64) throws {
    let bookmark = Bookmark(
      asset: 0, file: file(inode), isFolder: false, path: path, size: 1, fingerprint: [1], user: 0, isReadOnly: false,
      created: Clock.wall())
    try catalog.transaction { () throws(CatalogError) in try catalog.add(bookmark, token: [7]) }
  }

  /// The asset of what was bookmarked.
  func marked() throws -> Int64? { try catalog.bookmark(of: [7])?.asset }

  func id(_ path: SharePath) throws -> Int64? { try catalog.asset(at: path)?.id }

  func paths() throws -> [String] {
    try #require(try CatalogReader(folder: folder.path)).list().map { "\($0.path)" }
  }
}

func path(_ text: String) -> SharePath { SharePath(text)! }

extension [Effect] {
  var versions: [Asset] { compactMap { if case .version(let asset, _) = $0 { asset } else { nil } } }
  var removed: [Int64] { compactMap { if case .removed(let asset, _) = $0 { asset.id } else { nil } } }
  var looks: [SharePath] { compactMap { if case .look(let path, _) = $0 { path } else { nil } } }
  var replaced: [FileID] { compactMap { if case .look(_, let replaced?) = $0 { replaced } else { nil } } }
  var scans: [SharePath] { compactMap { if case .scan(let path) = $0 { path } else { nil } } }
}
