public import Posix

/// One event as it stands on the wire and in `sharefs watch --json`.
public struct EventRecord: Hashable, Sendable {
  public var number: UInt64
  /// Seconds since 1970.
  public var time: Double
  /// Such as `closed`; the kinds are listed in docs/cli.md.
  public var event: String
  /// nil for a document that is not catalogued.
  public var asset: Int64?
  public var path: FileName
  /// The name before, of `renamed`.
  public var from: FileName?
  /// Bytes.
  public var size: Int64
  public var version: Int64
  public var verdict: String?
  public var reason: String?
  /// What it is, or what its name claims; see `MediaType`.
  public var kind: String?
  public var type: String?
  public var mime: String?

  public init(
    number: UInt64, time: Double, event: String, asset: Int64?, path: FileName, from: FileName?, size: Int64,
    version: Int64, verdict: String?, reason: String?, kind: String?, type: String?, mime: String?
  ) {
    self.number = number
    self.time = time
    self.event = event
    self.asset = asset
    self.path = path
    self.from = from
    self.size = size
    self.version = version
    self.verdict = verdict
    self.reason = reason
    self.kind = kind
    self.type = type
    self.mime = mime
  }

  public var line: [UInt8] {
    var object = JSONObject()
    object.add("number", number)
    object.add("time", time)
    object.add("event", event)
    if let asset { object.add("asset", asset) }
    object.add("path", bytes: "path_bytes", path: path)
    if let from { object.add("from", bytes: "from_bytes", path: from) }
    object.add("size", size)
    object.add("version", version)
    if let verdict { object.add("verdict", verdict) }
    if let reason { object.add("reason", reason) }
    if let kind { object.add("kind", kind) }
    if let type { object.add("type", type) }
    if let mime { object.add("mime", mime) }
    return object.line
  }
}

extension EventRecord: Decodable {
  private enum Key: String, CodingKey {
    case number, time, event, asset, path, from, size, version, verdict, reason, kind, type, mime
    case pathBytes = "path_bytes"
    case fromBytes = "from_bytes"
  }

  public init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    number = try box.decode(UInt64.self, forKey: .number)
    time = try box.decode(Double.self, forKey: .time)
    event = try box.decode(String.self, forKey: .event)
    asset = try box.decodeIfPresent(Int64.self, forKey: .asset)
    path = try box.decodePath(.path, bytes: .pathBytes)
    from = box.contains(.from) ? try box.decodePath(.from, bytes: .fromBytes) : nil
    size = try box.decode(Int64.self, forKey: .size)
    version = try box.decode(Int64.self, forKey: .version)
    verdict = try box.decodeIfPresent(String.self, forKey: .verdict)
    reason = try box.decodeIfPresent(String.self, forKey: .reason)
    kind = try box.decodeIfPresent(String.self, forKey: .kind)
    type = try box.decodeIfPresent(String.self, forKey: .type)
    mime = try box.decodeIfPresent(String.self, forKey: .mime)
  }
}

/// Stands between two events of a reader that did not keep up, or that asked for events which are no longer kept.
public struct OverflowRecord: Hashable, Sendable, Codable {
  /// Always `overflow`.
  public let event: String
  /// The next line is the event of this number, or the first one after it.
  public let resumeFrom: UInt64
  /// How many events before it are lost for good.
  public let lost: UInt64

  public init(resumeFrom: UInt64, lost: UInt64) {
    event = "overflow"
    self.resumeFrom = resumeFrom
    self.lost = lost
  }

  private enum CodingKeys: String, CodingKey {
    case event, lost
    case resumeFrom = "resume_from"
  }

  public var line: [UInt8] {
    var object = JSONObject()
    object.add("event", event)
    object.add("resume_from", resumeFrom)
    object.add("lost", lost)
    return object.line
  }
}

/// The answer to `watch`.
public struct Watching: Hashable, Sendable, Codable {
  public let done: Bool
  /// The number that the next event will have.
  public let next: UInt64

  public init(next: UInt64) {
    done = true
    self.next = next
  }
}
