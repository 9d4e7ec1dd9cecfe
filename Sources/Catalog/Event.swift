public import Contracts
public import Posix

/// One thing that happened to a share, for scripts and programs. It is written down in the transaction of the change that it tells of, so
/// the order of the numbers is that of the commits, and what was announced outlives the daemon.
public struct Event: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    /// The first writer came.
    case started
    /// The last writer has gone: once for each content version.
    case closed
    case ready, incomplete, invalid, unsupported
    /// What stands in `.thumbs` is another picture.
    case thumbnail
    case renamed, removed
    /// A removed document is back, with its id.
    case restored
    /// The whole folder was compared with the catalog.
    case rescan

    public init(_ verdict: Verdict) {
      switch verdict {
      case .ready: self = .ready
      case .incomplete: self = .incomplete
      case .invalid: self = .invalid
      case .unsupported: self = .unsupported
      }
    }
  }

  /// Counts up from 1, without a gap.
  public let number: UInt64
  public let time: FileTime
  public let kind: Kind
  /// 0 where there is none (a document not catalogued yet).
  public let asset: Int64
  public let path: SharePath
  /// The name before; only for `renamed`.
  public let from: SharePath?
  /// Bytes, of the version told of.
  public let size: Int64
  public let version: Int64
  public let verdict: Verdict?
  /// Of the verdict; empty when there is nothing to say.
  public let reason: String
  /// What it is; until somebody has looked, what its name claims.
  public let type: MediaType?
}

extension Event {
  static let columns =
    "number, time, kind, asset, path, origin, size, version, verdict, reason, media, uti, mime"

  init?(_ row: Statement) {
    guard let kind = Kind(rawValue: row.text(2)), let path = SharePath(row.blob(4)) else { return nil }
    number = UInt64(clamping: row.integer(0))
    time = FileTime(nanoseconds: row.integer(1))
    self.kind = kind
    asset = row.integer(3)
    self.path = path
    from = row.isNull(5) ? nil : SharePath(row.blob(5))
    size = row.integer(6)
    version = row.integer(7)
    verdict = row.optionalInteger(8).flatMap { Verdict(rawValue: UInt8(clamping: $0)) }
    reason = row.text(9)
    type = row.optionalInteger(10).flatMap { MediaKind(rawValue: UInt8(clamping: $0)) }
      .map { MediaType(kind: $0, identifier: row.text(11), mime: row.text(12)) }
  }

  /// All columns but the number.
  var values: [Value] {
    var values: [Value] = [
      .integer(time.nanoseconds), .text(kind.rawValue), .integer(asset), .blob(path.bytes),
      from.map { .blob($0.bytes) } ?? .null, .integer(size), .integer(version),
      .optional(verdict.map { Int($0.rawValue) }), .text(reason), .optional(type.map { Int($0.kind.rawValue) }),
    ]
    values += [.text(type?.identifier ?? ""), .text(type?.mime ?? "")]
    return values
  }
}
