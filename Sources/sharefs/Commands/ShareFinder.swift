import Catalog
import Posix

/// The share that a path lies in, mounted or not, and where its catalog is.
struct FoundShare {
  /// The share's folder as the path reaches it.
  let root: FileName
  /// The folder of the catalog.
  let data: FileName
  /// The path inside the share.
  let path: SharePath
  /// The daemon, when it is mounted.
  let running: RunningShare?

  /// - Parameter state: given with `--state`.
  static func around(_ typed: FileName, state: FileName?) throws(Failure) -> FoundShare {
    while true {
      let table = try MountTable.now()
      let path = try Paths.real(typed, table: table)
      do throws(Failure) {
        if let state { return try around(path, state: try Paths.absolute(state), table) }
        return try around(path, table)
      } catch {
        // A share loses its mount first and its card then: one that stood in the table without a card may have gone between the two looks.
        guard let mount = table.share(around: path), try !MountTable.now().mounts.contains(mount) else { throw error }
      }
    }
  }

  private static func around(_ path: FileName, _ table: MountTable) throws(Failure) -> FoundShare {
    if let mount = table.share(around: path) {
      let running = RunningShare.at(mount.mountpoint)
      // A dead or root's daemon has left no card that we could read.
      guard let data = running?.state ?? known(by: mount) else {
        throw Failure(
          .permission, "The share \(mount.mountpoint) is another user's, or its state lies in a folder of its own.",
          hint: "Ask as the user who mounted it; with `--state DIR` when it was mounted with that.")
      }
      if running == nil { try mustBeDead(mount) }
      return try found(mount.mountpoint, path, data, running)
    }
    let states = try StateFolders.own()
    let all = ShareLocation.find(in: states.data)
    for folder in ancestors(of: path) {
      let named = ShareIdentity.seen(at: folder)
      let match =
        all.first { one in named.map { one.identity.isSameFolder(as: $0) } ?? false }
        ?? all.first { $0.identity.path == folder }
      if let match { return try found(folder, path, states.data.appending(match.name), nil) }
    }
    throw Failure(
      .noSuchThing, "\(path) does not lie in a share of yours.",
      hint: "Mount one with `sharefs mount DIR`; give `--state DIR` when it was mounted with that.")
  }

  private static func around(_ path: FileName, state: FileName, _ table: MountTable) throws(Failure) -> FoundShare {
    guard let identity = ShareIdentity.read(in: state) else {
      throw Failure(.noSuchThing, "\(state) holds no state of a share.")
    }
    if let running = RunningShare.all().first(where: { $0.state == state }), path.isWithin(running.mountpoint) {
      return try found(running.mountpoint, path, state, running)
    }
    if let mount = table.share(around: path) { try mustBeDead(mount) }
    for folder in ancestors(of: path) {
      let named = ShareIdentity.seen(at: folder)
      if folder == identity.path || named.map({ $0.isSameFolder(as: identity) }) ?? false {
        return try found(folder, path, state, nil)
      }
    }
    throw Failure(
      .noSuchThing, "\(path) does not lie in the share whose state is in \(state): that is \(identity.path).")
  }

  /// A share that is served by a daemon which left no card where we look must not be taken for one that nobody serves: what is being written
  /// there would pass for whole.
  private static func mustBeDead(_ mount: Mount) throws(Failure) {
    guard mount.health() != .dead else { return }
    let runtime = try StateFolders.own().runtime
    throw Failure(
      .permission, "\(mount.mountpoint) is mounted, but its daemon cannot be found: it has left no card in \(runtime).",
      hint: "Set XDG_RUNTIME_DIR to what it was when the share was mounted, or ask as the user who mounted it.")
  }

  private static func known(by mount: Mount) -> FileName? {
    guard let states = try? StateFolders.own() else { return nil }
    return ShareLocation.find(in: states.data)
      .first { $0.identity.path == mount.source || $0.identity.path == mount.mountpoint }
      .map { states.data.appending($0.name) }
  }

  private static func ancestors(of path: FileName) -> [FileName] {
    var all = [path]
    while let parent = all[all.count - 1].parent, parent != all[all.count - 1] { all.append(parent) }
    return all
  }

  private static func found(
    _ root: FileName, _ path: FileName, _ data: FileName, _ running: RunningShare?
  ) throws(Failure) -> FoundShare {
    let prefix = root.bytes.last == UInt8(ascii: "/") ? root.count : root.count + 1
    guard let inside = SharePath(Array(path.bytes.dropFirst(prefix))) else {
      throw Failure(.noSuchThing, "\(path) cannot be a path in a share.")
    }
    return FoundShare(root: root, data: data, path: inside, running: running)
  }

  /// - Returns: nil when nothing was catalogued yet.
  func catalog() throws(Failure) -> CatalogReader? {
    try Self.explained { () throws(CatalogError) in try CatalogReader(folder: data) }
  }

  static func explained<Result>(_ body: () throws(CatalogError) -> Result) throws(Failure) -> Result {
    do throws(CatalogError) {
      return try body()
    } catch {
      throw Failure(
        .usage, "The catalog cannot be read: \(error.what)",
        hint: error.isCorrupt ? "Mount the share: a damaged catalog is set aside and made anew." : nil)
    }
  }
}
