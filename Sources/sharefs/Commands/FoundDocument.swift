import Catalog
import Contracts
import Control
import Posix

/// A document as it is named on the command line: by a path, by the asset's id in the share of the current folder, or by its URL.
struct FoundDocument {
  let share: FoundShare
  let path: SharePath
  /// nil for one that is not catalogued.
  let asset: Asset?

  /// The path by which it can be opened.
  var whole: FileName { path.isRoot ? share.root : share.root.appending(FileName(path.bytes)) }

  static func find(_ operand: FileName, state: FileName?) throws(Failure) -> FoundDocument {
    if AssetURL.isURL(operand) {
      guard let url = AssetURL(operand) else {
        throw Failure(
          .usage, "\"\(operand)\" is no URL of an asset.", hint: "Such a URL is sharefs://SHARE/asset/NUMBER?ext=MOV")
      }
      return try find(url.asset, in: try FoundShare.named(url.share, state: state))
    }
    if let number = operand.text.flatMap({ Int64($0) }) {
      return try find(number, in: try FoundShare.around(FileName("."), state: state))
    }
    let share = try FoundShare.around(operand, state: state)
    let asset = try FoundShare.explained { () throws(CatalogError) in
      try CatalogReader(folder: share.data)?.asset(at: share.path)
    }
    return FoundDocument(share: share, path: share.path, asset: asset)
  }

  private static func find(_ number: Int64, in share: FoundShare) throws(Failure) -> FoundDocument {
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
    return FoundDocument(share: share, path: found.0, asset: found.1)
  }
}

extension FoundShare {
  /// The share that URLs call so, mounted or not.
  static func named(_ name: String, state: FileName?) throws(Failure) -> FoundShare {
    if let found = try first(state: state, where: { $0 == name }) { return found }
    throw Failure(
      .noSuchThing, "There is no share \"\(escaped(Array(name.utf8)))\" of yours.",
      hint: "Give `--state DIR` when it is not mounted and was mounted with that.")
  }

  /// The share whose name ends so.
  static func ending(_ tag: String, state: FileName?) throws(Failure) -> FoundShare? {
    try first(state: state, where: { $0.hasSuffix(tag) })
  }

  private static func first(
    state: FileName?, where isIt: (String) -> Bool
  ) throws(Failure) -> FoundShare? {
    let running = RunningShare.all()
    var states = running.map(\.state)
    if let state {
      states = [try Paths.absolute(state)]
    } else {
      let own = try StateFolders.own().data
      states += ShareLocation.find(in: own).map { own.appending($0.name) }.filter { !states.contains($0) }
    }
    for data in states where Self.name(of: data).map(isIt) ?? false {
      let daemon = running.first { $0.state == data }
      guard let root = daemon?.mountpoint ?? ShareIdentity.read(in: data)?.path else { continue }
      return FoundShare(root: root, data: data, path: .root, running: daemon)
    }
    return nil
  }

  /// What URLs call the share, as its catalog has it; nil before its first mount.
  var name: String? { Self.name(of: data) }

  private static func name(of data: FileName) -> String? {
    // A catalog that cannot be read names no share; whoever needs it will say why.
    guard let reader = try? CatalogReader(folder: data) else { return nil }
    return try? reader.setting(Catalog.shareName)
  }
}
