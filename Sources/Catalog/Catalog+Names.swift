public import Contracts
public import Posix

/// The names of documents, for searching: a full-text index over groups of three letters, kept beside `place`. It costs more than all else that a
/// change of a name brings, so it is brought up to date when there is time; until then a search looks at the marked ones themselves.
extension Catalog {
  /// What the index says of the asset's names is not true any more.
  func markNames(_ id: Int64) throws(CatalogError) {
    try connection.run("INSERT OR IGNORE INTO unindexed(asset) VALUES(?)", .integer(id))
    markedNames += 1
  }

  /// Brings the index up to date with the places of some that are marked.
  public func indexMarkedNames(most: Int) throws(CatalogError) {
    let ids = try connection.all("SELECT asset FROM unindexed LIMIT ?", .integer(most)) { $0.integer(0) }
    for id in ids {
      try indexNames(id)
      try connection.run("DELETE FROM unindexed WHERE asset = ?", .integer(id))
    }
    if ids.count < most { markedNames = 0 }
  }

  private func indexNames(_ id: Int64) throws(CatalogError) {
    try connection.run("DELETE FROM name WHERE rowid = ?", .integer(id))
    let names = try places(of: id).compactMap { $0.name?.searchable }
    if names.isEmpty { return }
    try connection.run("INSERT INTO name(rowid, text) VALUES(?, ?)", .integer(id), .text(names.joined(separator: "\n")))
  }

  /// Once, for a catalog from before there was such an index.
  func indexAllNames() throws(CatalogError) {
    if try setting("names") != nil { return }
    try transaction { () throws(CatalogError) in
      let all = try connection.all("SELECT DISTINCT asset FROM place") { $0.integer(0) }
      for id in all { try indexNames(id) }
      try set("names", "1")
    }
  }
}

extension FileName {
  /// As text, whatever the bytes: what is no text is escaped.
  var searchable: String { text ?? description }
}

/// What `list` is asked for.
public struct Search: Sendable {
  public enum Order: String, Sendable, CaseIterable {
    case path, name, size, date, duration
  }

  public var folder = SharePath.root
  public var types = TypeSelector()
  /// Empty lets all through; nil in it stands for what is pending.
  public var verdicts: Set<Verdict?> = []
  /// By the modification time: from, and before.
  public var since: FileTime?
  public var before: FileTime?
  /// Anywhere in the name, or at its start; large and small letters are the same.
  public var substring: String?
  public var prefix: String?
  public var order = Order.path
  public var isReversed = false
  public var offset = 0
  public var limit = Int.max

  public init() {}

  /// All but the folder and the types.
  func matches(_ one: Listing) -> Bool {
    let asset = one.asset
    if !verdicts.isEmpty, !verdicts.contains(asset.state == .done ? asset.verdict : nil) { return false }
    if let since, asset.stamp.modified < since { return false }
    if let before, asset.stamp.modified >= before { return false }
    guard substring != nil || prefix != nil else { return true }
    let name = Array((one.path.name?.searchable ?? "").lowercased().utf8)
    if let prefix, !name.starts(with: prefix.lowercased().utf8) { return false }
    if let substring, !Search.has(name, Array(substring.lowercased().utf8)) { return false }
    return true
  }

  private static func has(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard text.count >= part.count else { return false }
    return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
  }
}

extension CatalogReader {
  /// - Parameter body: false ends it early.
  public func find(_ search: Search, _ body: (Listing) -> Bool) throws(CatalogError) {
    var left = search.offset
    var room = search.limit
    func page(_ one: Listing) -> Bool {
      if left > 0 {
        left -= 1
        return true
      }
      guard room > 0 else { return false }
      room -= 1
      return body(one) && room > 0
    }
    if room == 0 { return }
    // There are few types, and to see what one conforms to takes a while.
    var wanted: [MediaType?: Bool] = [:]
    func matches(_ one: Listing) -> Bool {
      guard search.matches(one) else { return false }
      if search.types.isEmpty { return true }
      let type = one.asset.facts.type
      if let known = wanted[type] { return known }
      let isWanted = search.types.matches(type)
      wanted[type] = isWanted
      return isWanted
    }
    if search.order == .path && !search.isReversed {
      return try candidates(search) { matches($0) ? page($0) : true }
    }
    var all: [Listing] = []
    try candidates(search) { one in
      if matches(one) { all.append(one) }
      return true
    }
    for index in Self.sorted(all, search.order, isReversed: search.isReversed) where !page(all[index]) { return }
  }

  /// Where those stand that shall come first, second, ...
  /// - Parameter all: in the order of their paths, which decides between equal ones.
  private static func sorted(_ all: [Listing], _ order: Search.Order, isReversed: Bool) -> [Int] {
    func by<Key: Comparable>(_ key: (Listing) -> Key) -> [Int] {
      let keys = all.map(key)
      return all.indices.sorted { left, right in
        let (first, second) = isReversed ? (right, left) : (left, right)
        return keys[first] == keys[second] ? first < second : keys[first] < keys[second]
      }
    }
    return switch order {
    case .path: isReversed ? all.indices.reversed() : Array(all.indices)
    case .name: by { $0.path.name ?? FileName("") }
    case .size: by { $0.asset.stamp.size }
    case .date: by { $0.asset.stamp.modified }
    case .duration: by { $0.asset.facts.duration ?? -1 }
    }
  }

  /// Those in the folder, in the order of their paths; where three letters of the name are known, only those that have them.
  private func candidates(_ search: Search, _ body: (Listing) -> Bool) throws(CatalogError) {
    let words = [search.substring, search.prefix].compactMap { $0 }.filter { $0.unicodeScalars.count >= 3 }
    if words.isEmpty { return try list(within: search.folder, body) }
    let phrase = words.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: " AND ")
    // Looking many up one by one takes longer than a look at all.
    let many = "SELECT 1 FROM name WHERE name MATCH ? LIMIT 1 OFFSET 10000"
    let isCommon = try connection.first(many, .text(phrase)) { _ in true } ?? false
    if isCommon { return try list(within: search.folder, body) }
    // A catalog from before they were marked has them all in the index.
    let marked = try Schema.version(connection) < 4 ? "" : " UNION SELECT asset FROM unindexed"
    try connection.each(
      """
      SELECT \(Asset.columns), path FROM place JOIN asset ON asset.id = place.asset
      WHERE place.asset IN (SELECT rowid FROM name WHERE name MATCH ?\(marked)) ORDER BY path
      """, .text(phrase)
    ) { row throws(CatalogError) in
      guard let path = SharePath(row.blob(36)), !TemporaryNames.contains(path), path.isWithin(search.folder) else {
        return true
      }
      return body(Listing(path: path, asset: Asset(row)))
    }
  }
}
