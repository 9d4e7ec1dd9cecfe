import Catalog
import Contracts
import Control
import Posix

/// `sharefs info`: everything that is known of a file.
enum InfoCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let operand = arguments.operands[0]
    let state = arguments.value("state")
    let number = operand.text.flatMap { Int64($0) }
    let share = try FoundShare.around(number == nil ? operand : FileName("."), state: state)
    let path: SharePath
    let asset: Asset
    if let number {
      (path, asset) = try find(number, share)
    } else {
      path = share.path
      asset = try find(share)
    }
    if arguments.has("json") {
      try Output.json(AssetRecord(path: FileName(path.bytes), asset: asset))
    } else {
      try Output.write(text(path, asset, share))
    }
    switch asset.verdict {
    case .incomplete?, .invalid?: return asset.state == .done ? .notWhole : .done
    default: return .done
    }
  }

  private static func find(_ number: Int64, _ share: FoundShare) throws(Failure) -> (SharePath, Asset) {
    let found = try FoundShare.explained { () throws(CatalogError) -> (SharePath, Asset)? in
      guard let catalog = try CatalogReader(folder: share.data), let asset = try catalog.asset(id: number),
        asset.state != .removed, let path = try catalog.places(of: number).first
      else { return nil }
      return (path, asset)
    }
    guard let found else {
      throw Failure(
        .noSuchThing, "There is no asset \(number) in the share \(share.root).",
        hint: "A file whose name is a number is named by ./\(number)")
    }
    return found
  }

  private static func find(_ share: FoundShare) throws(Failure) -> Asset {
    let asset = try FoundShare.explained { () throws(CatalogError) in
      try CatalogReader(folder: share.data)?.asset(at: share.path)
    }
    if let asset { return asset }
    let whole = share.path.isRoot ? share.root : share.root.appending(FileName(share.path.bytes))
    let status = try explain(.noSuchThing, "\(whole)") { () throws(Errno) in try Files.status(whole) }
    if status.kind != .regular {
      throw Failure(.noSuchThing, "\(whole) is no regular file: only those are catalogued.")
    }
    if TemporaryNames.contains(share.path) {
      throw Failure(
        .noSuchThing, "\(whole) has a temporary or hidden name: it is catalogued when it gets a real one.")
    }
    if let running = share.running, let live = live(running, share.path), live.state == .writing {
      throw Failure(.noSuchThing, "\(whole) is being written: it is catalogued when its last writer has closed it.")
    }
    throw Failure(
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

  private static func text(_ path: SharePath, _ asset: Asset, _ share: FoundShare) -> String {
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
    // While it is being made, looking would wait for it.
    if share.running != nil && asset.state == .done {
      line("thumbnail", thumbnail(of: path, in: share.root)?.description)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Where it can be opened, if the share shows thumbnails there.
  private static func thumbnail(of path: SharePath, in root: FileName) -> FileName? {
    let shown = root.appending(".thumbs").appending(FileName(path.bytes + Array(".png".utf8)))
    return (try? Files.status(shown)) == nil ? nil : shown
  }
}
