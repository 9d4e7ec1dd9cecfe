public import Catalog
import Contracts
import Glibc
public import Posix

/// Why a bookmark does not lead to its document.
public enum BookmarkFailure: Error, Hashable, Sendable {
  case unknown
  /// Another user's.
  case notYours
  case deleted
  /// Something else stands where it stood, and it is nowhere.
  case replaced
  case unreadable(Errno)
  /// The folder is too large to be searched in the time there is.
  case notFoundInTime
  /// What is to be bookmarked is not there, or no document and no folder.
  case nothingThere(Errno)
  /// The catalog cannot be read or written now.
  case unavailable(String)
}

/// Makes bookmarks and finds what they mean: by the asset, by the inode, by the content; never by the name alone.
public struct Bookmarks: Sendable {
  /// Where a bookmark leads now.
  public struct Found: Hashable, Sendable {
    public var bookmark: Bookmark
    /// Whether it moved or is another file by now.
    public let isStale: Bool
  }

  /// Nanoseconds that a search through the folder may take.
  private static let patience = Clock.seconds(0.7)

  private let source: Source
  private let catalogFolder: FileName

  /// - Parameter source: any descriptor of the share's source folder.
  public init(source: CInt, catalogFolder: FileName) throws(Errno) {
    self.source = try Source(source)
    self.catalogFolder = catalogFolder
  }

  /// A token's 128 random bits in hex, and the hash that is stored of them.
  public static func token() -> (text: String, hash: [UInt8]) {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<2).flatMap { _ in
      let word = generator.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
    }
    return (hex(bytes), SHA256.hash(bytes))
  }

  /// - Returns: nil when it cannot be a token.
  public static func hash(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 32 else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: 32, by: 2) {
      guard digits[start] != UInt8(ascii: "+"), digits[start] != UInt8(ascii: "-"),
        let byte = UInt8(String(decoding: digits[start...(start + 1)], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    return SHA256.hash(bytes)
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// What a bookmark of this path says.
  public func make(_ path: SharePath, user: UInt32, isReadOnly: Bool) throws(BookmarkFailure) -> Bookmark {
    let status: FileStatus
    do throws(Errno) { status = try look(path) } catch { throw .nothingThere(error) }
    guard status.kind == .regular || status.kind == .folder else { throw .nothingThere(.invalid) }
    let file = source.id(status)
    let asset = try catalog { reader throws(CatalogError) in try reader.asset(of: file)?.id }
    return Bookmark(
      asset: asset ?? 0, file: file, isFolder: status.kind == .folder, path: path,
      size: status.kind == .regular ? status.size : 0,
      fingerprint: status.kind == .regular ? try fingerprint(path, status) : [], user: user, isReadOnly: isReadOnly,
      created: Clock.wall())
  }

  /// Finds what the bookmark means.
  public func find(_ bookmark: Bookmark) throws(BookmarkFailure) -> Found {
    if let found = try byAsset(bookmark) { return found }
    if let status = try? look(bookmark.path), source.id(status) == bookmark.file {
      return try found(bookmark, at: bookmark.path, status)
    }
    if let found = try bySearch(bookmark) { return found }
    throw (try? look(bookmark.path)) == nil ? .deleted : .replaced
  }

  /// The asset is followed through renames, rewrites and remounts; its file must be there all the same.
  private func byAsset(_ bookmark: Bookmark) throws(BookmarkFailure) -> Found? {
    if bookmark.asset == 0 { return nil }
    let known = try catalog { reader throws(CatalogError) -> (Asset, [SharePath])? in
      guard let asset = try reader.asset(id: bookmark.asset), asset.state != .removed else { return nil }
      return (asset, try reader.places(of: asset.id))
    }
    guard let (asset, places) = known else { return nil }
    // The name that it had is kept among several.
    for place in places.filter({ $0 == bookmark.path }) + places.filter({ $0 != bookmark.path }) {
      guard let status = try? look(place), source.id(status) == asset.file else { continue }
      return try found(bookmark, at: place, status)
    }
    return nil
  }

  private func found(
    _ bookmark: Bookmark, at path: SharePath, _ status: FileStatus
  ) throws(BookmarkFailure) -> Found {
    var now = bookmark
    now.path = path
    now.file = source.id(status)
    let isStale = path != bookmark.path || now.file != bookmark.file
    if status.kind == .regular {
      now.size = status.size
      now.fingerprint = try fingerprint(path, status)
      if isStale || now.asset == 0 {
        let file = now.file
        now.asset = try catalog { reader throws(CatalogError) in try reader.asset(of: file)?.id } ?? now.asset
      }
    }
    return Found(bookmark: now, isStale: isStale)
  }

  /// All of the folder: the same inode anywhere, else the same content.
  private func bySearch(_ bookmark: Bookmark) throws(BookmarkFailure) -> Found? {
    let deadline = Clock.now() + Bookmarks.patience
    var folders = [SharePath.root]
    var alike: [(SharePath, FileStatus)] = []
    while let folder = folders.popLast() {
      // What cannot be looked into may hold it, and nobody can tell.
      guard let descriptor = try? Descriptor.openFolder(beneath: source.folder.raw, folder) else { continue }
      var listing = Directory(descriptor)
      while let entry = try? listing.next() {
        if Clock.now() > deadline { throw .notFoundInTime }
        guard !entry.name.isDots, let status = try? FileStatus.of(entry.name, in: listing.descriptor.raw) else {
          continue
        }
        let path = folder.appending(entry.name)
        if status.kind == .folder { folders.append(path) }
        guard status.kind == (bookmark.isFolder ? .folder : .regular) else { continue }
        if source.id(status) == bookmark.file { return try found(bookmark, at: path, status) }
        if !bookmark.isFolder && status.size == bookmark.size && bookmark.size > 0 { alike.append((path, status)) }
      }
    }
    for (path, status) in alike where (try? fingerprint(path, status)) == bookmark.fingerprint {
      return try found(bookmark, at: path, status)
    }
    return nil
  }

  /// Tells contents apart without reading all of a large one: its size, and 64 KiB from its start, middle and end.
  private func fingerprint(_ path: SharePath, _ status: FileStatus) throws(BookmarkFailure) -> [UInt8] {
    do throws(Errno) {
      let file = try source.open(path)
      let part = 65536
      let size = Int(clamping: status.size)
      var bytes = Array("\(size)\n".utf8)
      if size <= 3 * part {
        bytes += try file.read(at: 0, count: size)
      } else {
        for offset in [0, size / 2, size - part] { bytes += try file.read(at: offset, count: part) }
      }
      return SHA256.hash(bytes)
    } catch {
      throw .unreadable(error)
    }
  }

  private func look(_ path: SharePath) throws(Errno) -> FileStatus {
    try Descriptor.openPath(beneath: source.folder.raw, path).status()
  }

  private func catalog<Result>(
    _ body: (CatalogReader) throws(CatalogError) -> Result?
  ) throws(BookmarkFailure) -> Result? {
    do throws(CatalogError) {
      guard let reader = try CatalogReader(folder: catalogFolder) else { return nil }
      return try body(reader)
    } catch {
      throw .unavailable(error.what)
    }
  }
}
