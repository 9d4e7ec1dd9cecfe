import Catalog
import Contracts
import Control
import FoundationEssentials
import Posix

/// An asset as `list --json` and `info --json` tell it, one object. The names are a promise (docs/cli.md).
struct AssetRecord: Encodable {
  let path: FileName
  let asset: Asset

  /// `pending` until there is a verdict.
  static func verdict(of asset: Asset) -> String {
    if asset.state == .removed { return "removed" }
    if asset.state == .pending { return "pending" }
    switch asset.verdict {
    case .ready?: return "ready"
    case .incomplete?: return "incomplete"
    case .invalid?: return "invalid"
    case .unsupported?: return "unsupported"
    case nil: return "pending"
    }
  }

  static func kind(of asset: Asset) -> String? {
    switch asset.facts.type?.kind {
    case .video?: "video"
    case .image?: "image"
    case .audio?: "audio"
    case .document?: "document"
    case nil: nil
    }
  }

  /// UTC, ISO 8601, whole seconds.
  static func time(_ time: FileTime) -> String {
    Date(timeIntervalSince1970: Double(time.nanoseconds / 1_000_000_000)).ISO8601Format()
  }

  private enum Key: String, CodingKey {
    case id, path, verdict, reason, kind, type, mime, size, version, modified, duration, width, height, container,
      rotation, taken
    case pathBytes = "path_bytes"
    case videoCodec = "video_codec"
    case audioCodec = "audio_codec"
    case frameRate = "frame_rate"
    case hasAudio = "has_audio"
    case cameraMake = "camera_make"
    case cameraModel = "camera_model"
    case firstSeen = "first_seen"
    case settledAt = "settled_at"
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(asset.id, forKey: .id)
    try box.encode(path: path, .path, bytes: .pathBytes)
    try box.encode(Self.verdict(of: asset), forKey: .verdict)
    if !asset.reason.isEmpty { try box.encode(asset.reason, forKey: .reason) }
    try box.encodeIfPresent(Self.kind(of: asset), forKey: .kind)
    try box.encode(asset.stamp.size, forKey: .size)
    try box.encode(asset.version, forKey: .version)
    try box.encode(Self.time(asset.stamp.modified), forKey: .modified)
    try box.encode(Self.time(asset.firstSeen), forKey: .firstSeen)
    try box.encode(Self.time(asset.settledAt), forKey: .settledAt)
    let facts = asset.facts
    try box.encodeIfPresent(facts.type?.identifier, forKey: .type)
    try box.encodeIfPresent(facts.type?.mime, forKey: .mime)
    try box.encodeIfPresent(facts.duration, forKey: .duration)
    try box.encodeIfPresent(facts.width, forKey: .width)
    try box.encodeIfPresent(facts.height, forKey: .height)
    try box.encodeIfPresent(facts.container, forKey: .container)
    try box.encodeIfPresent(facts.rotation, forKey: .rotation)
    try box.encodeIfPresent(facts.taken, forKey: .taken)
    try box.encodeIfPresent(facts.videoCodec, forKey: .videoCodec)
    try box.encodeIfPresent(facts.audioCodec, forKey: .audioCodec)
    try box.encodeIfPresent(facts.frameRate, forKey: .frameRate)
    try box.encodeIfPresent(facts.hasAudio, forKey: .hasAudio)
    try box.encodeIfPresent(facts.cameraMake, forKey: .cameraMake)
    try box.encodeIfPresent(facts.cameraModel, forKey: .cameraModel)
  }
}

/// Numbers as people read them.
enum Words {
  /// `1.5 MB`, powers of ten as `ls --si`.
  static func size(_ bytes: Int64) -> String {
    if bytes < 1000 { return "\(bytes) B" }
    var value = Double(bytes)
    for unit in ["kB", "MB", "GB", "TB"] {
      value /= 1000
      if value < 999.5 || unit == "TB" {
        return value < 9.95 ? "\((value * 10).rounded() / 10) \(unit)" : "\(Int64(value.rounded())) \(unit)"
      }
    }
    return "\(bytes) B"
  }

  /// `0:07`, `1:02:03`; empty when it is not known or beyond sense.
  static func duration(_ seconds: Double?) -> String {
    guard let seconds, seconds.isFinite, (0..<1e9).contains(seconds) else { return "" }
    let whole = Int(seconds.rounded())
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = whole / 60
    return minutes < 60
      ? "\(minutes):\(two(whole % 60))" : "\(minutes / 60):\(two(minutes % 60)):\(two(whole % 60))"
  }

  /// At most three digits after the point, and none of them in vain.
  static func number(_ number: Double) -> String {
    let text = "\((number * 1000).rounded() / 1000)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  static func dimensions(_ facts: Facts) -> String {
    guard let width = facts.width, let height = facts.height else { return "" }
    return "\(width)x\(height)"
  }
}
