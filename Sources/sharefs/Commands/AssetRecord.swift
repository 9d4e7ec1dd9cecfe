import Catalog
import Contracts
import Control
import Posix

/// An asset as `list --json` and `info --json` tell it, one object. The names are a promise (docs/cli.md).
struct AssetRecord {
  let path: FileName
  let asset: Asset

  /// `pending` until there is a verdict.
  static func verdict(of asset: Asset) -> String {
    if asset.state == .removed { return "removed" }
    guard asset.state == .done, let verdict = asset.verdict else { return "pending" }
    return verdict.word
  }

  static func kind(of asset: Asset) -> String? { asset.facts.type?.kind.word }

  /// UTC, ISO 8601, whole seconds.
  static func time(_ time: FileTime) -> String { Times.text(time) }

  /// With the line's end; the keys stand in the order of the alphabet.
  var line: [UInt8] { object().line }

  /// - Parameters:
  ///   - thumbnail: where its picture can be opened.
  ///   - url: by which it can be asked for.
  func object(thumbnail: FileName? = nil, url: String? = nil) -> JSONObject {
    var object = JSONObject()
    let facts = asset.facts
    if let codec = facts.audioCodec { object.add("audio_codec", codec) }
    if let make = facts.cameraMake { object.add("camera_make", make) }
    if let model = facts.cameraModel { object.add("camera_model", model) }
    if let container = facts.container { object.add("container", container) }
    if let duration = facts.duration { object.add("duration", duration) }
    object.add("first_seen", Self.time(asset.firstSeen))
    if let rate = facts.frameRate { object.add("frame_rate", rate) }
    if let hasAudio = facts.hasAudio { object.add("has_audio", hasAudio) }
    if let height = facts.height { object.add("height", height) }
    object.add("id", asset.id)
    if let kind = Self.kind(of: asset) { object.add("kind", kind) }
    if let mime = facts.type?.mime { object.add("mime", mime) }
    object.add("modified", Self.time(asset.stamp.modified))
    object.add("path", bytes: "path_bytes", path: path)
    if !asset.reason.isEmpty { object.add("reason", asset.reason) }
    if let rotation = facts.rotation { object.add("rotation", rotation) }
    object.add("settled_at", Self.time(asset.settledAt))
    object.add("size", asset.stamp.size)
    if let taken = facts.taken { object.add("taken", taken) }
    if let thumbnail { object.add("thumbnail", bytes: "thumbnail_bytes", path: thumbnail) }
    if let type = facts.type?.identifier { object.add("type", type) }
    if let url { object.add("url", url) }
    object.add("verdict", Self.verdict(of: asset))
    object.add("version", asset.version)
    if let codec = facts.videoCodec { object.add("video_codec", codec) }
    if let width = facts.width { object.add("width", width) }
    return object
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
