import CSQLite

/// A value as SQLite keeps it.
enum Value {
  case null
  case number(Int64)
  case real(Double)
  case text(String)
  /// File names and paths: their bytes need not be text.
  case blob([UInt8])

  static func integer(_ value: some FixedWidthInteger) -> Value { .number(Int64(truncatingIfNeeded: value)) }
  static func optional(_ value: Int?) -> Value { value.map { .integer($0) } ?? .null }
  static func optional(_ value: Double?) -> Value { value.map { .real($0) } ?? .null }
  static func optional(_ value: String?) -> Value { value.map { .text($0) } ?? .null }
}

/// A compiled statement, kept by its `Connection` for the next time. SQLite copies what is bound.
@safe final class Statement {
  private let handle: OpaquePointer
  private let database: OpaquePointer

  init(_ sql: String, on database: OpaquePointer) throws(CatalogError) {
    var made: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made = unsafe made else { throw unsafe Connection.failure(database, "prepare \(sql)") }
    unsafe handle = made
    unsafe self.database = database
  }

  deinit { unsafe sqlite3_finalize(handle) }

  func bind(_ values: [Value]) throws(CatalogError) {
    let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      let code =
        switch value {
        case .null: unsafe sqlite3_bind_null(handle, position)
        case .number(let number): unsafe sqlite3_bind_int64(handle, position, number)
        case .real(let number): unsafe sqlite3_bind_double(handle, position, number)
        case .text(let text): unsafe sqlite3_bind_text(handle, position, text, -1, copied)
        case .blob(let bytes):
          // An empty array may have no address, which SQLite would take for NULL.
          bytes.isEmpty
            ? unsafe sqlite3_bind_zeroblob(handle, position, 0)
            : unsafe sqlite3_bind_blob64(handle, position, bytes, UInt64(bytes.count), copied)
        }
      guard code == SQLITE_OK else { throw unsafe Connection.failure(database, "bind a value") }
    }
  }

  /// - Returns: whether there is a row; the statement must be reset once there is none or none is wanted.
  func step() throws(CatalogError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw unsafe Connection.failure(database, "run \(String(cString: sqlite3_sql(handle)))")
    }
  }

  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }
  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }
  func real(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

  func text(_ column: Int32) -> String {
    guard let text = unsafe sqlite3_column_text(handle, column) else { return "" }
    return unsafe String(cString: text)
  }

  func blob(_ column: Int32) -> [UInt8] {
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    guard count > 0, let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
  func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : Int(integer(column)) }
  func optionalReal(_ column: Int32) -> Double? { isNull(column) ? nil : real(column) }
  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
