import Contracts
public import Posix

/// The stream of events, kept for those who were away.
extension Catalog {
  /// So many are kept, and none for longer than `memory`.
  public static let mostEvents: Int64 = 100_000
  /// Between two looks at what is too old.
  private static let purgeEvery: Int64 = 1000

  /// Writes an event down, within the transaction of what it tells.
  /// - Parameter asset: nil for a document that is not catalogued.
  public func record(
    _ kind: Event.Kind, asset: Asset?, path: SharePath, from: SharePath? = nil
  ) throws(CatalogError) -> Event {
    let event = Event(
      number: 0, time: Clock.wall(), kind: kind, asset: asset?.id ?? 0, path: path, from: from,
      size: asset?.stamp.size ?? 0, version: asset?.version ?? 0, verdict: asset?.verdict,
      reason: asset?.reason ?? "", type: asset?.facts.type ?? path.name.flatMap { MediaTypes.claimed(byName: $0) })
    try connection.run(
      """
      INSERT INTO event(time, kind, asset, path, origin, size, version, verdict, reason, media, uti, mime)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, event.values)
    let number = connection.lastInserted
    if number % Catalog.purgeEvery == 0 { try purgeEvents(now: event.time) }
    return event.numbered(UInt64(clamping: number))
  }

  /// The number of the last event that was ever given; 0 before the first.
  public func lastEvent() throws(CatalogError) -> UInt64 {
    try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'event'") { UInt64(clamping: $0.integer(0)) }
      ?? 0
  }

  func purgeEvents(now: FileTime) throws(CatalogError) {
    let last = Int64(clamping: try lastEvent())
    try connection.run("DELETE FROM event WHERE number <= ?", .integer(last - Catalog.mostEvents))
    // Numbers and times go up together, but for a clock that was set back: the youngest that is too old, and all before it.
    try connection.run(
      "DELETE FROM event WHERE number <= (SELECT max(number) FROM event WHERE time < ?)",
      .integer(now.nanoseconds - Catalog.memory))
  }
}

extension CatalogReader {
  /// Events by their numbers, oldest first, at most `limit`.
  public func events(after number: UInt64, before end: UInt64, limit: Int) throws(CatalogError) -> [Event] {
    var events: [Event] = []
    try connection.each(
      "SELECT \(Event.columns) FROM event WHERE number > ? AND number < ? ORDER BY number LIMIT ?",
      .integer(Int64(clamping: number)), .integer(Int64(clamping: end)), .integer(limit)
    ) { row throws(CatalogError) in
      if let event = Event(row) { events.append(event) }
      return true
    }
    return events
  }

  /// The number of the oldest event that is still kept; nil when there is none.
  public func oldestEvent() throws(CatalogError) -> UInt64? {
    try connection.first("SELECT number FROM event ORDER BY number LIMIT 1") { UInt64(clamping: $0.integer(0)) }
  }
}

extension Event {
  fileprivate func numbered(_ number: UInt64) -> Event {
    Event(
      number: number, time: time, kind: kind, asset: asset, path: path, from: from, size: size, version: version,
      verdict: verdict, reason: reason, type: type)
  }
}
