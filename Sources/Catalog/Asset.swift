public import Contracts
public import Posix

/// A document that the catalog knows.
public struct Asset: Hashable, Sendable {
  public enum State: Int64, Sendable {
    /// Its newest content version waits to be looked at.
    case pending = 1
    case done = 2
    /// Its file is gone; the row stays for a while so that the id can come back.
    case removed = 3
  }

  /// Lasts across rename, rewrite and remount; never given out twice.
  public let id: Int64
  public let file: FileID
  public let stamp: ContentStamp
  /// Counts the contents that were announced, from 1.
  public let version: Int64
  public let state: State
  /// All its names are temporary ones: it is kept, and shown nowhere.
  public let isHidden: Bool
  /// nil while pending.
  public let verdict: Verdict?
  /// One sentence; empty when ready.
  public let reason: String
  public let facts: Facts
  /// What stands in `.thumbs`; while pending, of an earlier version. A placeholder's size is not known here and 0.
  public let picture: Picture?
  /// Tries begun and not ended, and workers killed, for this version.
  public let attempts: Int
  public let crashes: Int
  /// The last try failed since the document may not be read.
  public let isUnreadable: Bool
  public let firstSeen: FileTime
  public let settledAt: FileTime
  public let removedAt: FileTime?

  /// Whether its newest content is all there, a medium or not.
  public var isWhole: Bool { state == .done && (verdict == .ready || verdict == .unsupported) }

  static let columns = """
    asset.id, volume, inode, birth, size, modified, changed, version, state, hidden, verdict, reason, kind, uti, mime, \
    container, duration, width, height, video_codec, audio_codec, frame_rate, rotation, has_audio, taken, camera_make, \
    camera_model, picture_version, picture_size, placeholder, attempts, crashes, unreadable, first_seen, settled_at, \
    removed_at
    """

  /// Reads `columns` from a row.
  init(_ row: Statement) {
    id = row.integer(0)
    file = FileID(row, from: 1)
    stamp = ContentStamp(
      size: row.integer(4), modified: FileTime(nanoseconds: row.integer(5)),
      changed: FileTime(nanoseconds: row.integer(6)))
    version = row.integer(7)
    state = State(rawValue: row.integer(8)) ?? .pending
    isHidden = row.integer(9) != 0
    verdict = row.optionalInteger(10).flatMap { Verdict(rawValue: UInt8(clamping: $0)) }
    reason = row.text(11)
    var facts = Facts()
    if let kind = row.optionalInteger(12).flatMap({ MediaKind(rawValue: UInt8(clamping: $0)) }) {
      facts.type = MediaType(kind: kind, identifier: row.text(13), mime: row.text(14))
    }
    facts.container = row.optionalText(15)
    facts.duration = row.optionalReal(16)
    facts.width = row.optionalInt(17)
    facts.height = row.optionalInt(18)
    facts.videoCodec = row.optionalText(19)
    facts.audioCodec = row.optionalText(20)
    facts.frameRate = row.optionalReal(21)
    facts.rotation = row.optionalInt(22)
    facts.hasAudio = row.optionalInteger(23).map { $0 != 0 }
    facts.taken = row.optionalText(24)
    facts.cameraMake = row.optionalText(25)
    facts.cameraModel = row.optionalText(26)
    self.facts = facts
    picture = Picture(row, asset: id, from: 27)
    attempts = Int(row.integer(30))
    crashes = Int(row.integer(31))
    isUnreadable = row.integer(32) != 0
    firstSeen = FileTime(nanoseconds: row.integer(33))
    settledAt = FileTime(nanoseconds: row.integer(34))
    removedAt = row.optionalInteger(35).map { FileTime(nanoseconds: $0) }
  }
}

extension FileID {
  init(_ row: Statement, from column: Int32) {
    self.init(
      volume: UInt64(bitPattern: row.integer(column)), inode: UInt64(bitPattern: row.integer(column + 1)),
      birth: FileTime(nanoseconds: row.integer(column + 2)))
  }

  /// volume, inode, birth.
  var values: [Value] {
    [
      .integer(Int64(bitPattern: volume)), .integer(Int64(bitPattern: inode)), .integer(birth.nanoseconds),
    ]
  }
}

extension ContentStamp {
  /// size, modified, changed.
  var values: [Value] { [.integer(size), .integer(modified.nanoseconds), .integer(changed.nanoseconds)] }
}

extension Picture {
  /// Reads picture_version, picture_size, placeholder.
  init?(_ row: Statement, asset: Int64, from column: Int32) {
    guard let version = row.optionalInteger(column) else { return nil }
    let placeholder = row.optionalInteger(column + 2).flatMap { PlaceholderKind(rawValue: UInt8(clamping: $0)) }
    self.init(asset: asset, version: version, placeholder: placeholder, size: row.integer(column + 1))
  }
}
