public import Contracts
public import Posix

/// One line of a listing: a document by one of its names.
public struct Listing: Hashable, Sendable {
  public let path: SharePath
  public let asset: Asset
}

/// How many assets there are, by what became of them.
public struct Summary: Hashable, Sendable {
  public var pending = 0
  public var verdicts: [Verdict: Int] = [:]
  /// Pending ones included, removed ones not.
  public var assets = 0
  /// Those that are whole, by what they are.
  public var whole: [MediaKind: Int] = [:]

  public init() {}
}

/// Reads a share's catalog, mounted or not, also while it is being written. Used by one thread at a time.
public final class CatalogReader {
  let connection: Connection

  /// - Parameter folder: the catalog's.
  /// - Returns: nil when there is no catalog yet.
  public init?(folder: FileName) throws(CatalogError) {
    let file = folder.appending(Catalog.fileName)
    do throws(Errno) {
      _ = try Files.status(file)
    } catch {
      if error == .noEntry || error == .notFolder { return nil }
      throw CatalogError("The catalog \(file) cannot be read: \(error).")
    }
    do throws(CatalogError) {
      connection = try CatalogReader.connect(file, .read)
    } catch {
      // Where we may not write there is no log to share, so it can only be read while nobody has it open.
      guard error.isDisk, !Files.mayAccess(folder, 2) else { throw error }
      connection = try CatalogReader.connect(file, .frozen)
    }
  }

  private static func connect(_ file: FileName, _ mode: Connection.Mode) throws(CatalogError) -> Connection {
    let connection = try Connection(file, mode)
    try Schema.check(connection)
    return connection
  }

  /// One after another in the byte order of their paths, those with temporary names left out.
  /// - Parameters:
  ///   - folder: only what stands there or below.
  ///   - body: false ends it early.
  public func list(within folder: SharePath = .root, _ body: (Listing) -> Bool) throws(CatalogError) {
    let range = folder.range
    let columns = "SELECT \(Asset.columns), path FROM place JOIN asset ON asset.id = place.asset"
    func read(_ row: Statement) throws(CatalogError) -> Bool {
      guard let path = SharePath(row.blob(36)), !TemporaryNames.contains(path) else { return true }
      return body(Listing(path: path, asset: Asset(row)))
    }
    if folder.isRoot {
      try connection.each("\(columns) ORDER BY path", body: read)
    } else {
      var goesOn = true
      try connection.each("\(columns) WHERE path = ?", .blob(folder.bytes)) { row throws(CatalogError) in
        goesOn = try read(row)
        return goesOn
      }
      guard goesOn else { return }
      try connection.each(
        "\(columns) WHERE path > ? AND path < ? ORDER BY path", .blob(range.lower), .blob(range.upper), body: read)
    }
  }

  public func list(within folder: SharePath = .root) throws(CatalogError) -> [Listing] {
    var all: [Listing] = []
    try list(within: folder) { one in
      all.append(one)
      return true
    }
    return all
  }

  public func asset(at path: SharePath) throws(CatalogError) -> Asset? {
    try connection.first(
      "SELECT \(Asset.columns) FROM place JOIN asset ON asset.id = place.asset WHERE path = ?", .blob(path.bytes)
    ) { Asset($0) }
  }

  /// Also a removed one, as long as it is remembered.
  public func asset(id: Int64) throws(CatalogError) -> Asset? {
    try connection.first("SELECT \(Asset.columns) FROM asset WHERE id = ?", .integer(id)) { Asset($0) }
  }

  /// The living asset of a file.
  public func asset(of file: FileID) throws(CatalogError) -> Asset? {
    let values = file.values
    return try connection.first(
      "SELECT \(Asset.columns) FROM asset WHERE volume = ? AND inode = ? AND birth = ? AND state != 3", values[0],
      values[1], values[2]
    ) { Asset($0) }
  }

  /// All names of an asset, in byte order.
  public func places(of id: Int64) throws(CatalogError) -> [SharePath] {
    try connection.all("SELECT path FROM place WHERE asset = ? ORDER BY path", .integer(id)) { SharePath($0.blob(0)) }
      .compactMap { $0 }
  }

  /// Whether the database is whole, page by page. Reads all of it.
  public func isSound() throws(CatalogError) -> Bool {
    try connection.first("PRAGMA quick_check(1)") { $0.text(0) } == "ok"
  }

  public func setting(_ name: String) throws(CatalogError) -> String? {
    try connection.first("SELECT value FROM setting WHERE name = ?", .text(name)) { $0.text(0) }
  }

  public func summary() throws(CatalogError) -> Summary {
    var summary = Summary()
    try connection.each("SELECT state, verdict, count(*) FROM asset WHERE state != 3 GROUP BY state, verdict") {
      row throws(CatalogError) in
      let count = Int(row.integer(2))
      summary.assets += count
      if row.integer(0) == Asset.State.pending.rawValue {
        summary.pending += count
      } else if let verdict = row.optionalInteger(1).flatMap({ Verdict(rawValue: UInt8(clamping: $0)) }) {
        summary.verdicts[verdict, default: 0] += count
      }
      return true
    }
    try connection.each(
      "SELECT kind, count(*) FROM asset WHERE state = 2 AND verdict IN (1, 4) AND hidden = 0 GROUP BY kind"
    ) { row throws(CatalogError) in
      // What nobody knows a type for is a document.
      let kind = row.optionalInteger(0).flatMap { MediaKind(rawValue: UInt8(clamping: $0)) } ?? .document
      summary.whole[kind, default: 0] += Int(row.integer(1))
      return true
    }
    return summary
  }

  /// What a picture index needs to know of one living asset.
  public struct Shown: Hashable, Sendable {
    public let asset: Int64
    public let file: FileID
    public let isPending: Bool
    public let isHidden: Bool
    public let isWhole: Bool
    public let picture: Picture?
  }

  /// All living assets, in the order of their ids.
  public func shown(_ body: (Shown) -> Bool) throws(CatalogError) {
    try connection.each(
      """
      SELECT id, volume, inode, birth, state, hidden, picture_version, picture_size, placeholder,
        state = 2 AND verdict IN (1, 4) FROM asset
      WHERE state != 3 ORDER BY id
      """
    ) { row throws(CatalogError) in
      body(
        Shown(
          asset: row.integer(0), file: FileID(row, from: 1), isPending: row.integer(4) == Asset.State.pending.rawValue,
          isHidden: row.integer(5) != 0, isWhole: row.integer(9) != 0,
          picture: Picture(row, asset: row.integer(0), from: 6)))
    }
  }

  /// All names with the assets and files that they lead to, in byte order.
  public func places(_ body: (SharePath, Int64, FileID) -> Bool) throws(CatalogError) {
    try connection.each(
      "SELECT path, asset.id, volume, inode, birth FROM place JOIN asset ON asset.id = place.asset ORDER BY path"
    ) { row throws(CatalogError) in
      guard let path = SharePath(row.blob(0)) else { return true }
      return body(path, row.integer(1), FileID(row, from: 2))
    }
  }
}
