import Contracts
public import Posix

/// What we know of the share's documents, durable. One instance writes, on one thread at a time.
///
/// - `Catalog+Rows`: single rows and their names.
/// - `Catalog+Identity`: which asset a document is.
/// - `Catalog+Moves`: rename, exchange, link, removal.
/// - `Catalog+Queue`: what is pending, and what became of it.
/// - `Catalog+Events`: the stream of events.
/// - `Catalog+Names`: searching by name.
public final class Catalog {
  let connection: Connection
  private let folder: FileName
  /// Assets whose newest version was found by sight: a settled change with the same stamp, which was on its way, tells
  /// of that same version.
  var sighted: Set<Int64> = []
  /// How many names were marked since the index for searching was last up to date; what a start finds marked counts as one.
  public internal(set) var markedNames = 1

  public static let fileName = FileName("catalog.sqlite")

  /// Removed assets and events are remembered for 30 days, in nanoseconds.
  static let memory: Int64 = 30 * 86400 * 1_000_000_000

  /// Opens the catalog in `folder`, or makes it.
  /// - Parameter setAside: told of where a damaged database was moved to; a new, empty one is opened then.
  public init(folder: FileName, setAside: (FileName) -> Void) throws(CatalogError) {
    do throws(Errno) {
      try Files.makeFolders(folder, mode: 0o700)
    } catch {
      throw CatalogError("The catalog's folder \(folder) cannot be made: \(error).", code: 0)
    }
    self.folder = folder
    let file = folder.appending(Catalog.fileName)
    do throws(CatalogError) {
      connection = try Catalog.connect(file)
    } catch {
      guard error.isCorrupt else { throw error }
      setAside(try Catalog.moveAside(file))
      connection = try Catalog.connect(file)
      try skipIDs()
    }
    try indexAllNames()
  }

  private static func connect(_ file: FileName) throws(CatalogError) -> Connection {
    let connection = try Connection(file, .write)
    try Schema.migrate(connection)
    // Reads the start of every table, so that damage there is met now and not at the first document.
    _ = try connection.first("SELECT id FROM asset LIMIT 1") { $0.integer(0) }
    _ = try connection.first("SELECT asset FROM place LIMIT 1") { $0.integer(0) }
    return connection
  }

  /// Keeps a damaged database under another name, with its log.
  private static func moveAside(_ file: FileName) throws(CatalogError) -> FileName {
    let kept = FileName(Array(file.bytes) + Array(".damaged-\(Clock.wall().nanoseconds / 1_000_000_000)".utf8))
    do throws(Errno) {
      try Files.rename(file, to: kept)
      for ending in ["-wal", "-shm"] {
        let suffix = Array(ending.utf8)
        do throws(Errno) {
          try Files.rename(FileName(Array(file.bytes) + suffix), to: FileName(Array(kept.bytes) + suffix))
        } catch {
          if error != .noEntry { throw error }
        }
      }
    } catch {
      throw CatalogError("The damaged catalog \(file) cannot be moved aside: \(error).")
    }
    return kept
  }

  /// A new, empty catalog in the place of this one, in which damage was met; this one must not be used any more.
  public func replaced(setAside: (FileName) -> Void) throws(CatalogError) -> Catalog {
    setAside(try Catalog.moveAside(folder.appending(Catalog.fileName)))
    let new = try Catalog(folder: folder, setAside: setAside)
    try new.skipIDs()
    return new
  }

  /// Ids and event numbers given out by a lost database must not come to mean others.
  private func skipIDs() throws(CatalogError) {
    let start = Clock.wall().nanoseconds / 1_000_000_000
    for table in ["asset", "event"] {
      try connection.run("INSERT INTO sqlite_sequence(name, seq) VALUES(?, ?)", .text(table), .integer(start))
    }
  }

  /// All changes of `body` or none.
  public func transaction<Result>(_ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
    let before = sighted
    do throws(CatalogError) {
      return try connection.transaction(body)
    } catch {
      sighted = before
      throw error
    }
  }

  /// Pages that stand in the log, and not in the database, after the last transaction at the latest.
  public var logPages: Int { connection.logPages }

  /// Moves what is committed from the log into the database, as far as no reader needs it there, and waits for the disk. By a connection of its
  /// own, beside the one that writes: that goes on meanwhile, and begins the log anew when it finds all of it moved.
  public static func checkpoint(folder: FileName) throws(CatalogError) {
    try Connection(folder.appending(fileName), .write).run("PRAGMA wal_checkpoint(PASSIVE)")
  }

  /// Moves the log into the database and empties it: on a full disk that may be the room that is needed.
  public func shrinkLog() throws(CatalogError) { try connection.run("PRAGMA wal_checkpoint(TRUNCATE)") }

  /// Forgets assets removed and events told long ago.
  public func purge(now: FileTime = Clock.wall()) throws(CatalogError) {
    try connection.run(
      "DELETE FROM asset WHERE state = 3 AND removed_at < ?", .integer(now.nanoseconds - Catalog.memory))
    try purgeEvents(now: now)
  }

  /// The setting that holds what URLs call the share.
  public static let shareName = "share"

  /// A word kept for the next start.
  public func setting(_ name: String) throws(CatalogError) -> String? {
    try connection.first("SELECT value FROM setting WHERE name = ?", .text(name)) { $0.text(0) }
  }

  public func set(_ name: String, _ value: String) throws(CatalogError) {
    try connection.run("INSERT OR REPLACE INTO setting(name, value) VALUES(?, ?)", .text(name), .text(value))
  }
}
