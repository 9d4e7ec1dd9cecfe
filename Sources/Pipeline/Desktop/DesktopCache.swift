import Catalog
import Contracts
import Glibc
import Posix

/// Puts pictures into the user's own thumbnail cache, where every file manager looks, and takes them away or moves them with their documents. A thread of
/// its own does it: nobody waits for it, and what it cannot do, a file manager's thumbnailer does as ever.
final class DesktopCache: Sendable {
  private enum Task: Sendable {
    case publish(Asset, [SharePath], [[UInt8]])
    case move(from: SharePath, to: SharePath, modified: FileTime)
    case moveFolder(from: SharePath, to: SharePath)
    case copy(Asset, to: SharePath)
    case touch(Asset)
    case remove([SharePath])
  }

  private struct State {
    var tasks: [Task] = []
    /// Brought by workers, not yet judged: by asset, with the content's version.
    var brought: [Int64: (version: Int64, pictures: [[UInt8]])] = [:]
    var isStopping = false
  }

  private static let most = 20_000

  private let folder: FileName
  /// As the user reaches the share.
  private let mountpoint: FileName
  private let catalog: FileName
  private let problems: Problems
  private let state = Monitor(State())
  private let thread = OwnThread()

  init(_ settings: Settings.Desktop, catalog: FileName, problems: Problems) {
    folder = settings.cacheFolder.appending("thumbnails")
    mountpoint = settings.mountpoint
    self.catalog = catalog
    self.problems = problems
  }

  func start() {
    thread.begin("sharefs-desktop") { [self] in
      Thread.giveWay(.modest)
      while true {
        let tasks: [Task] = state.wait { state in
          if state.tasks.isEmpty { return state.isStopping ? [] : nil }
          defer { state.tasks = [] }
          return state.tasks
        }
        if tasks.isEmpty { return }
        for task in tasks { carryOut(task) }
      }
    }
  }

  private func carryOut(_ task: Task) {
    do throws(Errno) {
      try perform(task)
      problems.end(.desktop, "The desktop's thumbnails can be written again.")
    } catch {
      problems.begin(.desktop, .warning, "The desktop's thumbnails in \(folder) cannot be written: \(error).")
    }
  }

  /// What is waiting is done first.
  func stop() {
    state.change { $0.isStopping = true }
    thread.join()
  }

  // MARK: From the worker's thread

  /// - Parameter pictures: in the order of `DesktopPicture.sizes`.
  func bring(_ pictures: [[UInt8]], of asset: Int64, version: Int64) {
    state.withLock { $0.brought[asset] = (version, pictures) }
  }

  // MARK: From the writer, after its commit

  /// The document's content was judged; without a picture of its content it has none here.
  func publish(_ asset: Asset, _ places: [SharePath]) {
    let places = places.filter { !TemporaryNames.contains($0) }
    state.change { state in
      let brought = state.brought.removeValue(forKey: asset.id)
      if let brought, brought.version == asset.version, asset.picture?.placeholder == nil {
        add(.publish(asset, places, brought.pictures), &state)
      } else if asset.picture?.placeholder != nil {
        add(.remove(places), &state)
      }
    }
  }

  func forget(_ asset: Int64) { _ = state.withLock { $0.brought.removeValue(forKey: asset) } }

  func move(_ asset: Asset, from: SharePath, to: SharePath) {
    state.change { add(.move(from: from, to: to, modified: asset.stamp.modified), &$0) }
  }
  func moveFolder(from: SharePath, to: SharePath) { state.change { add(.moveFolder(from: from, to: to), &$0) } }
  func copy(_ asset: Asset, to: SharePath) { state.change { add(.copy(asset, to: to), &$0) } }
  func touch(_ asset: Asset) { state.change { add(.touch(asset), &$0) } }
  func remove(_ places: [SharePath]) { state.change { add(.remove(places), &$0) } }

  private func add(_ task: Task, _ state: inout State) {
    if state.tasks.count < DesktopCache.most { state.tasks.append(task) }
  }

  // MARK: The thread

  private func perform(_ task: Task) throws(Errno) {
    switch task {
    case .publish(let asset, let places, let pictures):
      for place in places {
        for (size, picture) in zip(DesktopPicture.sizes, pictures) {
          try write(picture, size.folder, place, asset.stamp.modified)
        }
      }
    case .move(let from, let to, let modified):
      // What has a hidden name is shown by nobody.
      if !TemporaryNames.contains(to) { try copy(from: from, to: to, modified: modified) }
      try remove(from)
    case .moveFolder(let from, let to):
      for one in listing(within: to) {
        guard let before = one.path.moved(from: to, to: from) else { continue }
        try copy(from: before, to: one.path, modified: one.asset.stamp.modified)
        try remove(before)
      }
    case .copy(let asset, let to):
      if TemporaryNames.contains(to) { return }
      for place in places(of: asset.id) where place != to {
        try copy(from: place, to: to, modified: asset.stamp.modified)
      }
    case .touch(let asset):
      for place in places(of: asset.id) { try copy(from: place, to: place, modified: asset.stamp.modified) }
    case .remove(let places):
      for place in places { try remove(place) }
    }
  }

  private func path(_ size: String, _ place: SharePath) -> (file: FileName, uri: [UInt8]) {
    let uri = DesktopPicture.uri(of: mountpoint.appending(FileName(place.bytes)))
    return (folder.appending(size).appending(DesktopPicture.name(of: uri)), uri)
  }

  private func write(_ png: [UInt8], _ size: String, _ place: SharePath, _ modified: FileTime) throws(Errno) {
    let (file, uri) = path(size, place)
    guard let labelled = DesktopPicture.labelled(png, uri: uri, modified: modified) else { return }
    let aside = FileName(Array(file.bytes) + Array(".sharefs".utf8))
    try Files.makeFolders(folder.appending(size), mode: 0o700)
    let made = try Descriptor.open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    try made.write(labelled)
    try made.close()
    try Files.rename(aside, to: file)
  }

  private func copy(from: SharePath, to: SharePath, modified: FileTime) throws(Errno) {
    for size in DesktopPicture.sizes {
      guard let png = try? Files.read(path(size.folder, from).file, limit: 1 << 20) else { continue }
      try write(png, size.folder, to, modified)
    }
  }

  private func remove(_ place: SharePath) throws(Errno) {
    for size in DesktopPicture.sizes {
      do throws(Errno) { try Files.remove(path(size.folder, place).file) } catch {
        if error != .noEntry && error != .notFolder { throw error }
      }
    }
  }

  /// Without the catalog, file managers make their own.
  private func places(of asset: Int64) -> [SharePath] {
    ((try? CatalogReader(folder: catalog)?.places(of: asset)) ?? []).filter { !TemporaryNames.contains($0) }
  }

  private func listing(within folder: SharePath) -> [Listing] {
    (try? CatalogReader(folder: catalog)?.list(within: folder)) ?? []
  }
}
