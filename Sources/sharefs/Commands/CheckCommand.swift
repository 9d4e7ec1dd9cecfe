import Catalog
import Contracts
import Control
import Glibc
import Pipeline
import Posix

/// `sharefs check`: whether folder, catalog and stored thumbnails agree; on demand, sees to it that they do.
enum CheckCommand {
  /// What does not agree.
  private struct Finding: Hashable {
    enum Kind: String {
      /// In the catalog, not in the folder.
      case missing
      /// In the folder, not in the catalog.
      case uncatalogued
      /// Other than when it was catalogued.
      case changed
      case lostThumbnail = "lost_thumbnail"
      case orphanThumbnail = "orphan_thumbnail"
      case damagedCatalog = "damaged_catalog"
    }

    let kind: Kind
    let path: FileName
  }

  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let state = arguments.value("state")
    let share = try FoundShare.around(arguments.operands.first ?? FileName("."), state: state)
    try Health.mustNotBeSilent(share.root)
    var findings = try look(share, state: state)
    let isJSON = arguments.has("json")
    try tell(findings, isJSON: isJSON)
    if findings.isEmpty { return .done }
    guard arguments.has("repair") else {
      if !isJSON {
        Output.complain(
          "sharefs: \(findings.count == 1 ? "1 finding" : "\(findings.count) findings"); `sharefs check --repair` sees to them.\n"
        )
      }
      return .disagreement
    }
    if let running = share.running {
      try RescanCommand.run(running, repairs: true, until: nil)
      try waitUntilIdle(running)
    } else {
      try OfflineShare.catalog(share.root, state: state)
    }
    findings = try look(share, state: state)
    if findings.isEmpty { return .done }
    if !isJSON { Output.complain("sharefs: after the repair, these are left:\n") }
    try tell(findings, isJSON: isJSON)
    return .disagreement
  }

  private static func tell(_ findings: [Finding], isJSON: Bool) throws(Failure) {
    for finding in findings {
      if isJSON {
        var object = JSONObject()
        object.add("finding", finding.kind.rawValue)
        object.add("path", bytes: "path_bytes", path: finding.path)
        try Output.write(object.line)
      } else {
        let word = finding.kind.rawValue.replacing("_", with: " ")
        try Output.write("\(word)  \(finding.path)\n")
      }
    }
  }

  private static func look(_ share: FoundShare, state: FileName?) throws(Failure) -> [Finding] {
    let damaged = [Finding(kind: .damagedCatalog, path: share.data.appending(Catalog.fileName))]
    let catalog: CatalogReader?
    do throws(CatalogError) {
      catalog = try CatalogReader(folder: share.data)
      if let catalog, try !catalog.isSound() { return damaged }
    } catch {
      if error.isCorrupt { return damaged }
      throw Failure(.usage, "The catalog cannot be read: \(error.what)")
    }
    guard let catalog else { return uncatalogued(share, [:]) }
    var known: [SharePath: Asset] = [:]
    try FoundShare.explained { () throws(CatalogError) in
      try catalog.list { one in
        known[one.path] = one.asset
        return true
      }
    }
    return uncatalogued(share, known) + missing(share, known) + (try thumbnails(share, known, state: state))
  }

  private static func missing(_ share: FoundShare, _ known: [SharePath: Asset]) -> [Finding] {
    var findings: [Finding] = []
    for (path, asset) in known.sorted(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }) {
      let whole = share.root.appending(FileName(path.bytes))
      var kind: Finding.Kind?
      do throws(Errno) {
        let status = try FileStatus.of(whole, in: AT_FDCWD)
        if status.kind != .regular { kind = .missing } else if status.stamp != asset.stamp { kind = .changed }
      } catch {
        if error == .noEntry || error == .notFolder { kind = .missing }
      }
      if let kind, !isOnItsWay(path, share) { findings.append(Finding(kind: kind, path: FileName(path.bytes))) }
    }
    return findings
  }

  private static func uncatalogued(_ share: FoundShare, _ known: [SharePath: Asset]) -> [Finding] {
    var findings: [Finding] = []
    var folders = [SharePath.root]
    while let folder = folders.popLast() {
      let whole = folder.isRoot ? share.root : share.root.appending(FileName(folder.bytes))
      // What may not be read is nobody's finding: the catalog does not know it either.
      for name in (try? Files.names(in: whole)) ?? [] where !TemporaryNames.contains(name) {
        let path = folder.appending(name)
        guard let status = try? FileStatus.of(whole.appending(name), in: AT_FDCWD) else { continue }
        if status.kind == .folder { folders.append(path) }
        guard status.kind == .regular, known[path] == nil, !isOnItsWay(path, share) else { continue }
        findings.append(Finding(kind: .uncatalogued, path: FileName(path.bytes)))
      }
    }
    return findings.sorted { $0.path < $1.path }
  }

  private static func thumbnails(
    _ share: FoundShare, _ known: [SharePath: Asset], state: FileName?
  ) throws(Failure) -> [Finding] {
    // With --state they stand beside the catalog.
    let beside = share.data.appending("cache")
    let cache =
      try (try? Files.status(beside)) != nil ? beside : StateFolders.own().cache.appending(share.data.lastComponent)
    let assets = Dictionary(known.map { ($0.value.id, $0) }, uniquingKeysWith: { first, _ in first })
    let expected = assets.values.compactMap { entry in entry.value.state == .done ? entry.value.picture : nil }
      .filter { $0.placeholder == nil }
    let stored: StoredPictures
    do throws(Errno) {
      stored = try StoredPictures(cacheFolder: cache, expected: expected)
    } catch {
      throw Failure(.usage, "The thumbnails in \(cache) cannot be listed", error)
    }
    var findings: [Finding] = stored.lost.compactMap { id in assets[id] }
      .map { Finding(kind: .lostThumbnail, path: FileName($0.key.bytes)) }
    findings += stored.orphans.map { Finding(kind: .orphanThumbnail, path: $0) }
    return findings.sorted { $0.path < $1.path }
  }

  /// Whether its daemon is about to catalog it.
  private static func isOnItsWay(_ path: SharePath, _ share: FoundShare) -> Bool {
    guard let running = share.running else { return false }
    do throws(Client.Failure) {
      var client = try Client.connect(to: running.socket)
      let known = try client.ask(.document(path), for: DocumentStatus.self)
      return known.state == .writing || known.state == .pending
    } catch {
      return false
    }
  }

  private static func waitUntilIdle(_ share: RunningShare) throws(Failure) {
    while true {
      do throws(Client.Failure) {
        var client = try Client.connect(to: share.socket)
        let status = try client.ask(.status, for: ShareStatus.self, within: 5)
        if status.pending == 0 && status.running == 0 && status.scan != .running { return }
      } catch {
        throw Failure(.timedOut, "The daemon of \(share.mountpoint) does not answer.", hint: "See `sharefs status`.")
      }
      Clock.pause(0.05)
    }
  }
}
