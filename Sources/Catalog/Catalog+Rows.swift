import Contracts
public import Posix

/// Single rows and their names.
extension Catalog {
  public func asset(id: Int64) throws(CatalogError) -> Asset? {
    try connection.first("SELECT \(Asset.columns) FROM asset WHERE id = ?", .integer(id)) { Asset($0) }
  }

  /// The living asset of a file.
  public func asset(of file: FileID) throws(CatalogError) -> Asset? {
    try one("WHERE volume = ? AND inode = ? AND birth = ? AND state != 3", file.values)
  }

  /// The living asset that a path leads to.
  public func asset(at path: SharePath) throws(CatalogError) -> Asset? {
    guard let id = try owner(of: path) else { return nil }
    return try asset(id: id)
  }

  func one(_ rest: String, _ values: [Value]) throws(CatalogError) -> Asset? {
    var found: Asset?
    switch values.count {
    case 3:
      found = try connection.first(
        "SELECT \(Asset.columns) FROM asset \(rest)", values[0], values[1], values[2]
      ) { Asset($0) }
    default: preconditionFailure("a file is three values")
    }
    return found
  }

  func owner(of path: SharePath) throws(CatalogError) -> Int64? {
    try connection.first("SELECT asset FROM place WHERE path = ?", .blob(path.bytes)) { $0.integer(0) }
  }

  /// All names of an asset, in byte order.
  public func places(of id: Int64) throws(CatalogError) -> [SharePath] {
    try connection.all("SELECT path FROM place WHERE asset = ? ORDER BY path", .integer(id)) { SharePath($0.blob(0)) }
      .compactMap { $0 }
  }

  /// Names below a folder (or of the path itself), with the assets that they lead to.
  public func places(within folder: SharePath) throws(CatalogError) -> [(path: SharePath, asset: Int64)] {
    let read: (Statement) -> (SharePath?, Int64) = { (SharePath($0.blob(0)), $0.integer(1)) }
    let rows: [(SharePath?, Int64)]
    if folder.isRoot {
      rows = try connection.all("SELECT path, asset FROM place", read: read)
    } else {
      let range = folder.range
      rows = try connection.all(
        "SELECT path, asset FROM place WHERE path = ? OR (path > ? AND path < ?)", .blob(folder.bytes),
        .blob(range.lower), .blob(range.upper), read: read)
    }
    return rows.compactMap { path, asset in path.map { ($0, asset) } }
  }

  /// Makes `path` a name of the asset, taking it from whoever has it.
  /// - Returns: the asset that lost it, when that is another one.
  func place(_ id: Int64, at path: SharePath) throws(CatalogError) -> Int64? {
    let before = try owner(of: path)
    if before == id { return nil }
    try connection.run("INSERT OR REPLACE INTO place(path, asset) VALUES(?, ?)", .blob(path.bytes), .integer(id))
    try markNames(id)
    if let before { try markNames(before) }
    return before
  }

  func unplace(_ path: SharePath) throws(CatalogError) {
    guard let id = try owner(of: path) else { return }
    try connection.run("DELETE FROM place WHERE path = ?", .blob(path.bytes))
    try markNames(id)
  }

  func insert(_ document: Document, _ stamp: ContentStamp) throws(CatalogError) -> Int64 {
    let now = Clock.wall().nanoseconds
    try connection.run(
      """
      INSERT INTO asset(volume, inode, birth, size, modified, changed, version, state, queued, first_seen, settled_at)
      VALUES(?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?)
      """, document.file.values + stamp.values + [.integer(now), .integer(now), .integer(now)])
    return connection.lastInserted
  }

  /// The asset's content is a new one: its next version waits to be looked at.
  func advance(_ id: Int64, to file: FileID, _ stamp: ContentStamp) throws(CatalogError) {
    let now = Clock.wall().nanoseconds
    try connection.run(
      """
      UPDATE asset SET volume = ?, inode = ?, birth = ?, size = ?, modified = ?, changed = ?, version = version + 1, state = 1,
        queued = ?, attempts = 0, crashes = 0, unreadable = 0, verdict = NULL, reason = '', settled_at = ?, removed_at = NULL
      WHERE id = ?
      """, file.values + stamp.values + [.integer(now), .integer(now), .integer(id)])
  }

  /// The content is what it was; file and stamp are these.
  func refresh(_ id: Int64, _ file: FileID, _ stamp: ContentStamp) throws(CatalogError) {
    try connection.run(
      "UPDATE asset SET volume = ?, inode = ?, birth = ?, size = ?, modified = ?, changed = ? WHERE id = ?",
      file.values + stamp.values + [.integer(id)])
  }

  /// Writes down whether all names of the asset are temporary.
  func refreshHidden(_ id: Int64, _ effects: inout [Effect]) throws(CatalogError) {
    guard let asset = try asset(id: id), asset.state != .removed else { return }
    let places = try places(of: id)
    let hidden = !places.isEmpty && places.allSatisfy { TemporaryNames.contains($0) }
    guard hidden != asset.isHidden else { return }
    try connection.run("UPDATE asset SET hidden = ? WHERE id = ?", .integer(hidden ? 1 : 0), .integer(id))
    // A name that becomes a real one is told as settled too: of the content that we know already, if the stamp says so.
    if !hidden { sighted.insert(id) }
    if let asset = try self.asset(id: id) { effects.append(.hidden(asset, hidden)) }
  }

  /// The asset's file is gone: names and picture go, the row stays for its id.
  func remove(_ asset: Asset, _ effects: inout [Effect]) throws(CatalogError) {
    guard asset.state != .removed else { return }
    let places = try places(of: asset.id)
    try connection.run("DELETE FROM place WHERE asset = ?", .integer(asset.id))
    try markNames(asset.id)
    try connection.run(
      "UPDATE asset SET state = 3, hidden = 0, removed_at = ?, picture_version = NULL, picture_size = 0, placeholder = NULL WHERE id = ?",
      .integer(Clock.wall().nanoseconds), .integer(asset.id))
    sighted.remove(asset.id)
    effects.append(.removed(asset, places))
  }
}

extension SharePath {
  /// What sorts before and after all paths below this folder: "/" is followed by "0".
  var range: (lower: [UInt8], upper: [UInt8]) { (bytes + [UInt8(ascii: "/")], bytes + [UInt8(ascii: "0")]) }
}
