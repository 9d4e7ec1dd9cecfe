public import Contracts
import Posix

/// What is pending, and what became of it.
extension Catalog {
  /// A place in the queue.
  public struct Turn: Sendable {
    public let queued: Int64
    public let asset: Int64

    public init(queued: Int64, asset: Int64) {
      self.queued = queued
      self.asset = asset
    }

    public static let first = Turn(queued: .min, asset: .min)
  }

  /// What is pending, oldest first.
  /// - Parameters:
  ///   - after: the last one that is known; `.first` for none.
  ///   - limit: how many are told.
  public func pending(after: Turn = .first, limit: Int = .max) throws(CatalogError) -> [Turn] {
    try connection.all(
      "SELECT queued, id FROM asset WHERE state = 1 AND (queued, id) > (?, ?) ORDER BY queued, id LIMIT ?",
      .integer(after.queued), .integer(after.asset), .integer(Int64(limit))
    ) { Turn(queued: $0.integer(0), asset: $0.integer(1)) }
  }

  /// Writes down that a try begins, before it does: a document that ends the whole machine is met again, but not for ever.
  public func begin(_ id: Int64) throws(CatalogError) {
    try connection.run("UPDATE asset SET attempts = attempts + 1 WHERE id = ?", .integer(id))
  }

  /// The try ended for a reason that is not the document's.
  public func release(_ id: Int64) throws(CatalogError) {
    try connection.run("UPDATE asset SET attempts = max(0, attempts - 1) WHERE id = ?", .integer(id))
  }

  /// The try killed a worker.
  /// - Returns: how often this version has done so.
  public func crashed(_ id: Int64) throws(CatalogError) -> Int {
    try connection.run(
      "UPDATE asset SET attempts = max(0, attempts - 1), crashes = crashes + 1 WHERE id = ?", .integer(id))
    return try connection.first("SELECT crashes FROM asset WHERE id = ?", .integer(id)) { Int($0.integer(0)) } ?? 0
  }

  /// The newest version is to be looked at once more.
  public func requeue(_ id: Int64) throws(CatalogError) {
    try connection.run(
      """
      UPDATE asset SET state = 1, queued = ?, attempts = 0, crashes = 0, unreadable = 0, verdict = NULL, reason = ''
      WHERE id = ? AND state = 2
      """, .integer(Clock.wall().nanoseconds), .integer(id))
  }

  /// The stored picture was lost.
  public func forgetPicture(_ id: Int64) throws(CatalogError) {
    try connection.run(
      "UPDATE asset SET picture_version = NULL, picture_size = 0, placeholder = NULL WHERE id = ?", .integer(id))
  }

  /// All that have a picture of their content get a new one, since its size is to be another.
  public func requeuePictures() throws(CatalogError) {
    try connection.run(
      """
      UPDATE asset SET state = 1, queued = ?, attempts = 0, crashes = 0, verdict = NULL, reason = ''
      WHERE state = 2 AND picture_version IS NOT NULL AND placeholder IS NULL
      """, .integer(Clock.wall().nanoseconds))
  }

  /// Documents that could not be read get another try, after a start.
  public func requeueUnreadable() throws(CatalogError) {
    try connection.run(
      """
      UPDATE asset SET state = 1, queued = ?, attempts = 0, crashes = 0, unreadable = 0, verdict = NULL, reason = ''
      WHERE state = 2 AND unreadable = 1
      """, .integer(Clock.wall().nanoseconds))
  }

  /// What became of the newest version.
  /// - Parameters:
  ///   - placeholder: nil when there is a picture of the content.
  ///   - pictureSize: bytes; 0 for a placeholder.
  public func finish(
    _ id: Int64, verdict: Verdict, reason: String, facts: Facts, placeholder: PlaceholderKind?, pictureSize: Int64,
    unreadable: Bool = false
  ) throws(CatalogError) {
    var values: [Value] = [.integer(verdict.rawValue), .text(reason), .integer(unreadable ? 1 : 0)]
    values += [
      .optional(facts.type.map { Int($0.kind.rawValue) }), .optional(facts.type?.identifier),
      .optional(facts.type?.mime), .optional(facts.container), .optional(facts.duration), .optional(facts.width),
      .optional(facts.height), .optional(facts.videoCodec), .optional(facts.audioCodec), .optional(facts.frameRate),
      .optional(facts.rotation), .optional(facts.hasAudio.map { $0 ? 1 : 0 }), .optional(facts.taken),
      .optional(facts.cameraMake), .optional(facts.cameraModel),
    ]
    values += [.integer(pictureSize), .optional(placeholder.map { Int($0.rawValue) }), .integer(id)]
    try connection.run(
      """
      UPDATE asset SET state = 2, verdict = ?, reason = ?, unreadable = ?, kind = ?, uti = ?, mime = ?, container = ?,
        duration = ?, width = ?, height = ?, video_codec = ?, audio_codec = ?, frame_rate = ?, rotation = ?, has_audio = ?,
        taken = ?, camera_make = ?, camera_model = ?, picture_version = version, picture_size = ?, placeholder = ?,
        attempts = 0, crashes = 0
      WHERE id = ?
      """, values)
  }
}
