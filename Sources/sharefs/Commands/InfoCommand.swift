import Catalog
import Contracts
import Control
import Posix

/// `sharefs info`: everything that is known of a file.
enum InfoCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let found = try FoundDocument.find(arguments.operands[0], state: arguments.value("state"))
    guard let asset = found.asset else { throw why(found) }
    let url = found.share.name.map { AssetURL(share: $0, asset: asset.id, path: found.path).text }
    // While it is being made, looking would wait for it.
    let isShown = found.share.running != nil && asset.state == .done
    let thumbnail = isShown ? thumbnail(of: found.path, in: found.share.root) : nil
    if arguments.has("json") {
      let record = AssetRecord(path: FileName(found.path.bytes), asset: asset)
      try Output.write(record.object(thumbnail: thumbnail, url: url).line)
    } else {
      let names = try FoundShare.explained { () throws(CatalogError) in
        try CatalogReader(folder: found.share.data)?.places(of: asset.id) ?? []
      }
      try Output.write(text(found.path, asset, others: names.filter { $0 != found.path }, thumbnail, url))
    }
    switch asset.verdict {
    case .incomplete?, .invalid?: return asset.state == .done ? .notWhole : .done
    default: return .done
    }
  }

  /// Why a path leads to nothing that is catalogued.
  private static func why(_ found: FoundDocument) -> Failure {
    let (share, whole) = (found.share, found.whole)
    let status: FileStatus
    do throws(Errno) { status = try Files.status(whole) } catch { return Failure(.noSuchThing, "\(whole)", error) }
    if status.kind != .regular {
      return Failure(.noSuchThing, "\(whole) is no regular file: only those are catalogued.")
    }
    if TemporaryNames.contains(share.path) {
      return Failure(
        .noSuchThing, "\(whole) has a temporary or hidden name: it is catalogued when it gets a real one.")
    }
    if let running = share.running, let live = live(running, share.path), live.state == .writing {
      return Failure(.noSuchThing, "\(whole) is being written: it is catalogued when its last writer has closed it.")
    }
    return Failure(
      .noSuchThing, "\(whole) is not catalogued yet.",
      hint: share.running == nil ? "Mount the share: what came while it was unmounted is found then." : nil)
  }

  /// What the daemon knows at this moment; nil when it does not say.
  private static func live(_ running: RunningShare, _ path: SharePath) -> DocumentStatus? {
    do throws(Client.Failure) {
      var client = try Client.connect(to: running.socket)
      return try client.ask(.document(path), for: DocumentStatus.self)
    } catch {
      return nil
    }
  }

  private static func text(
    _ path: SharePath, _ asset: Asset, others: [SharePath], _ thumbnail: FileName?, _ url: String?
  ) -> String {
    var lines = ["\(path)"]
    func line(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      lines.append("  \(name)\(String(repeating: " ", count: max(1, 12 - name.count)))\(value)")
    }
    let facts = asset.facts
    line("verdict", AssetRecord.verdict(of: asset) + (asset.reason.isEmpty ? "" : ": \(asset.reason)"))
    line("asset", "\(asset.id), content version \(asset.version)")
    line("type", facts.type.map { "\($0.identifier), \($0.mime)" })
    line("container", facts.container)
    line(
      "size",
      asset.stamp.size < 1000
        ? Words.size(asset.stamp.size) : "\(Words.size(asset.stamp.size)), \(asset.stamp.size) bytes")
    line("duration", Words.duration(facts.duration))
    line("dimensions", Words.dimensions(facts))
    line("rotation", facts.rotation.flatMap { $0 == 0 ? nil : "\($0) degrees" })
    line("frame rate", facts.frameRate.map { "\(Words.number($0)) a second" })
    line("video", facts.videoCodec)
    line("audio", facts.audioCodec ?? (facts.hasAudio == false ? "none" : nil))
    line("taken", facts.taken)
    line("camera", [facts.cameraMake, facts.cameraModel].compactMap { $0 }.joined(separator: " "))
    line("modified", AssetRecord.time(asset.stamp.modified))
    line("first seen", AssetRecord.time(asset.firstSeen))
    for other in others { line("also", other.description) }
    line("thumbnail", thumbnail?.description)
    line("url", url)
    return lines.joined(separator: "\n") + "\n"
  }

  /// Where it can be opened, if the share shows thumbnails there.
  private static func thumbnail(of path: SharePath, in root: FileName) -> FileName? {
    let shown = root.appending(".thumbs").appending(FileName(path.bytes + Array(".png".utf8)))
    return (try? Files.status(shown)) == nil ? nil : shown
  }
}
