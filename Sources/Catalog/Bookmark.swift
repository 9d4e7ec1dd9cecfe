import Contracts
public import Posix

/// A document or folder that somebody wants to find again. Its tokens are kept as hashes only.
public struct Bookmark: Hashable, Sendable {
  public let id: Int64
  /// 0 for a folder, for a document that is not catalogued, and where another file has come in its place without anybody seeing how.
  public var asset: Int64
  public var file: FileID
  public let isFolder: Bool
  /// Where it was found last.
  public var path: SharePath
  /// Bytes, and what tells the content; of a folder 0 and nothing.
  public var size: Int64
  public var fingerprint: [UInt8]
  /// Whose it is.
  public let user: UInt32
  public let isReadOnly: Bool
  public let created: FileTime

  public init(
    id: Int64 = 0, asset: Int64, file: FileID, isFolder: Bool, path: SharePath, size: Int64, fingerprint: [UInt8],
    user: UInt32, isReadOnly: Bool, created: FileTime
  ) {
    self.id = id
    self.asset = asset
    self.file = file
    self.isFolder = isFolder
    self.path = path
    self.size = size
    self.fingerprint = fingerprint
    self.user = user
    self.isReadOnly = isReadOnly
    self.created = created
  }

  static let columns =
    "bookmark.id, asset, volume, inode, birth, folder, path, size, fingerprint, user, read_only, created"

  init(_ row: Statement) {
    self.init(
      id: row.integer(0), asset: row.integer(1), file: FileID(row, from: 2), isFolder: row.integer(5) != 0,
      path: SharePath(row.blob(6)) ?? .root, size: row.integer(7), fingerprint: row.blob(8),
      user: UInt32(truncatingIfNeeded: row.integer(9)), isReadOnly: row.integer(10) != 0,
      created: FileTime(nanoseconds: row.integer(11)))
  }
}

/// Bookmarks, and the hashes of their tokens.
extension Catalog {
  public func bookmark(of token: [UInt8]) throws(CatalogError) -> Bookmark? {
    try connection.first(
      "SELECT \(Bookmark.columns) FROM bookmark JOIN token ON token.bookmark = bookmark.id WHERE hash = ?", .blob(token)
    ) { Bookmark($0) }
  }

  /// The oldest first.
  public func bookmarks(of user: UInt32) throws(CatalogError) -> [Bookmark] {
    try connection.all("SELECT \(Bookmark.columns) FROM bookmark WHERE user = ? ORDER BY id", .integer(user)) {
      Bookmark($0)
    }
  }

  /// - Parameter token: the hash of its first token.
  public func add(_ bookmark: Bookmark, token: [UInt8]) throws(CatalogError) {
    // What was closed just before may have become an asset while the bookmark was made.
    let asset = try bookmark.asset == 0 ? asset(of: bookmark.file)?.id ?? 0 : bookmark.asset
    let values: [Value] = [.integer(asset)] + bookmark.file.values
    let rest: [Value] = [
      .integer(bookmark.isFolder ? 1 : 0), .blob(bookmark.path.bytes), .integer(bookmark.size),
      .blob(bookmark.fingerprint), .integer(bookmark.user), .integer(bookmark.isReadOnly ? 1 : 0),
      .integer(bookmark.created.nanoseconds),
    ]
    try connection.run(
      """
      INSERT INTO bookmark(asset, volume, inode, birth, folder, path, size, fingerprint, user, read_only, created)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, values + rest)
    try connection.run(
      "INSERT INTO token(hash, bookmark) VALUES(?, ?)", .blob(token), .integer(connection.lastInserted))
  }

  /// It was found elsewhere, or is another file by now.
  /// - Parameters:
  ///   - old: the hash of the token that was shown; it stays good.
  ///   - fresh: the hash of the one that is given out now; all others are not good any more.
  public func renew(_ bookmark: Bookmark, old: [UInt8], fresh: [UInt8]) throws(CatalogError) {
    let values: [Value] = [.integer(bookmark.asset)] + bookmark.file.values
    try connection.run(
      "UPDATE bookmark SET asset = ?, volume = ?, inode = ?, birth = ?, path = ?, size = ?, fingerprint = ? WHERE id = ?",
      values + [
        .blob(bookmark.path.bytes), .integer(bookmark.size), .blob(bookmark.fingerprint), .integer(bookmark.id),
      ])
    try connection.run("DELETE FROM token WHERE bookmark = ? AND hash != ?", .integer(bookmark.id), .blob(old))
    try connection.run("INSERT INTO token(hash, bookmark) VALUES(?, ?)", .blob(fresh), .integer(bookmark.id))
  }

  public func remove(_ bookmark: Bookmark) throws(CatalogError) {
    try connection.run("DELETE FROM token WHERE bookmark = ?", .integer(bookmark.id))
    try connection.run("DELETE FROM bookmark WHERE id = ?", .integer(bookmark.id))
  }
}
