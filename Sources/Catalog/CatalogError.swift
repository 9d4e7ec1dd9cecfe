import CSQLite

/// Why the catalog could not do what was asked.
public struct CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence.
  public let what: String
  /// SQLite's extended result code; 0 for a refusal of our own.
  public let code: Int32

  public init(_ what: String, code: Int32 = 0) {
    self.what = what
    self.code = code
  }

  private var primary: Int32 { code & 0xff }

  /// The database's bytes cannot be what we wrote: move it aside and build a new one.
  public var isCorrupt: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// The disk is full, failing or read-only: nothing is lost, later it may work.
  public var isDisk: Bool {
    [SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY].contains(primary)
  }

  /// It may work when tried again as it is.
  public var isPassing: Bool {
    isDisk || [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_PROTOCOL, SQLITE_INTERRUPT].contains(primary)
  }

  public var description: String { what }
}
