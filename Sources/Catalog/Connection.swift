import CSQLite
import Posix

/// The one owner of a `sqlite3*`. Used by one thread at a time.
///
/// Durability: write-ahead log with `synchronous=NORMAL`. Each commit is written to the log with write(2) before it is announced, so it
/// outlives kill -9 of this process at any moment. What a power cut can take are the commits since the last checkpoint, never the database's
/// soundness; the scan of the next mount finds those files again. FULL would put an fsync of 1 to 30 ms between a close and its
/// thumbnail for that case alone.
///
/// SQLite would move its log into the database in the commit that makes it long, and wait for the disk there. Here nothing does but
/// `checkpoint`, which somebody else's thread calls, and the closing of the last connection.
@safe final class Connection {
  enum Mode {
    case write
    case read
    /// For a database that nobody has open, in a folder where we may not write.
    case frozen
  }

  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]
  /// Pages in the log after the last commit; SQLite writes it, in the thread that commits.
  private let logged = UnsafeMutablePointer<CInt>.allocate(capacity: 1)

  init(_ file: FileName, _ mode: Mode) throws(CatalogError) {
    if case .write = mode {
      // File names are nobody else's business; SQLite gives its log the same permissions.
      do throws(Errno) {
        try Descriptor.ensureFile(file)
      } catch {
        let full = error == .noSpace ? SQLITE_FULL : SQLITE_CANTOPEN
        throw CatalogError("The catalog \(file) cannot be opened: \(error).", code: full)
      }
    }
    var made: OpaquePointer?
    let flags =
      switch mode {
      case .write: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
      case .read: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
      case .frozen: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
      }
    let name = if case .frozen = mode { Connection.frozen(file) } else { file }
    let code = unsafe name.withCString { unsafe sqlite3_open_v2($0, &made, flags, nil) }
    guard let made = unsafe made else { throw CatalogError("SQLite has no memory.", code: SQLITE_NOMEM) }
    unsafe handle = made
    unsafe logged.initialize(to: 0)
    unsafe sqlite3_extended_result_codes(made, 1)
    // From here on a throw runs deinit, which closes.
    guard code == SQLITE_OK else { throw unsafe Connection.failure(made, "open \(file)") }
    unsafe sqlite3_busy_timeout(made, 5000)
    // A tampered schema must not run functions of its own.
    try run("PRAGMA trusted_schema=OFF")
    try run("PRAGMA cell_size_check=ON")
    try run("PRAGMA temp_store=MEMORY")
    if case .write = mode {
      try run("PRAGMA journal_mode=WAL")
      try run("PRAGMA synchronous=NORMAL")
      try run("PRAGMA journal_size_limit=67108864")
      try run("PRAGMA foreign_keys=ON")
      // In the place of `wal_autocheckpoint`, which is a hook of SQLite's own.
      unsafe sqlite3_wal_hook(handle, noteLog, logged)
    }
  }

  deinit {
    statements.removeAll()
    unsafe sqlite3_close_v2(handle)
    unsafe logged.deallocate()
  }

  var logPages: Int { unsafe Int(logged.pointee) }

  /// `immutable=1` reads without a log or locks; every other byte of the path is escaped.
  private static func frozen(_ file: FileName) -> FileName {
    var uri = Array("file:".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in file.bytes {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        uri.append(byte)
      default: uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return FileName(uri + Array("?immutable=1".utf8))
  }

  static func failure(_ database: OpaquePointer, _ doing: String) -> CatalogError {
    let code = unsafe sqlite3_extended_errcode(database)
    let text = unsafe String(cString: sqlite3_errmsg(database))
    return CatalogError("The catalog could not \(doing): \(text) (SQLite \(code)).", code: code)
  }

  private func statement(_ sql: String) throws(CatalogError) -> Statement {
    if let known = statements[sql] { return known }
    let made = try unsafe Statement(sql, on: handle)
    statements[sql] = made
    return made
  }

  /// Runs one statement to its end.
  /// - Returns: how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: Value...) throws(CatalogError) -> Int { try run(sql, values) }

  @discardableResult
  func run(_ sql: String, _ values: [Value]) throws(CatalogError) -> Int {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
    return Int(unsafe sqlite3_changes64(handle))
  }

  /// Several statements without values, not kept.
  func script(_ sql: String) throws(CatalogError) {
    guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw unsafe Connection.failure(handle, "run a script")
    }
  }

  /// - Parameter body: reads the row; false ends it early. It must not run the same statement again.
  func each(_ sql: String, _ values: Value..., body: (Statement) throws(CatalogError) -> Bool) throws(CatalogError) {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() { if try !body(statement) { return } }
  }

  func first<Result>(_ sql: String, _ values: Value..., read: (Statement) -> Result) throws(CatalogError) -> Result? {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? read(statement) : nil
  }

  func all<Result>(_ sql: String, _ values: Value..., read: (Statement) -> Result) throws(CatalogError) -> [Result] {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    var results: [Result] = []
    while try statement.step() { results.append(read(statement)) }
    return results
  }

  var lastInserted: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  /// All of it or nothing.
  func transaction<Result>(_ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
    try run("BEGIN IMMEDIATE")
    do throws(CatalogError) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // SQLite may have rolled back by itself (a full disk); then there is nothing to do.
      if unsafe sqlite3_get_autocommit(handle) == 0 { try run("ROLLBACK") }
      throw error
    }
  }
}

/// After each commit: how long the log is by now.
@c func noteLog(
  _ pages: UnsafeMutableRawPointer?, _ database: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ count: CInt
) -> CInt {
  unsafe pages?.storeBytes(of: count, as: CInt.self)
  return SQLITE_OK
}
