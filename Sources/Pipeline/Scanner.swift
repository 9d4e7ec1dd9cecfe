import Catalog
import Contracts
import Posix

/// Finds what changed while nobody told us: at every start, on request, and below folders that became visible. One thread of low priority, which
/// only looks and tells the writer; the writer looks again before it believes it.
final class Scanner: Sendable {
  struct Progress: Hashable {
    var isRunning = false
    /// Of the present scan, or of the last one.
    var files = 0
    /// Of whole scans.
    var ended: FileTime?
    var isComplete = true
  }

  private struct State {
    var whole = false
    var folders: [SharePath] = []
    var isStopping = false
    var hasSwept = false
    var progress = Progress()
  }

  private let settings: Settings
  private let source: Source
  private let store: ThumbnailStore
  private let inbox: Inbox
  private let problems: Problems
  private let state = Monitor(State())
  private let started = Clock.wall()

  init(settings: Settings, source: Source, store: ThumbnailStore, inbox: Inbox, problems: Problems) {
    self.settings = settings
    self.source = source
    self.store = store
    self.inbox = inbox
    self.problems = problems
  }

  /// - Parameter sweeping: whether the stored pictures are compared too, as at every start.
  func request(sweeping: Bool = false) {
    state.change { state in
      state.whole = true
      if sweeping { state.hasSwept = false }
    }
  }

  func request(_ folder: SharePath) {
    state.change { state in if !state.folders.contains(folder) { state.folders.append(folder) } }
  }

  /// A folder got this name: only a scan under way cares.
  func moved(_ folder: SharePath) {
    state.change { state in
      if state.progress.isRunning && !state.folders.contains(folder) { state.folders.append(folder) }
    }
  }

  func stop() { state.change { $0.isStopping = true } }

  /// A scan that was asked for and has not begun counts as running.
  var progress: Progress {
    state.withLock { state in
      var progress = state.progress
      if state.whole { progress.isRunning = true }
      return progress
    }
  }

  private var isStopping: Bool { state.withLock { $0.isStopping } }

  private enum Turn {
    case whole
    case folder(SharePath)
    case stop
  }

  func run() {
    Thread.giveWay(.idle)
    while true {
      let turn = state.wait { state -> Turn? in
        if state.isStopping { return .stop }
        if state.whole {
          state.whole = false
          state.progress = Progress(isRunning: true, ended: state.progress.ended)
          return .whole
        }
        guard !state.folders.isEmpty else { return nil }
        return .folder(state.folders.removeFirst())
      }
      switch turn {
      case .stop: return
      case .whole: scan(.root, isWhole: true)
      case .folder(let folder): scan(folder, isWhole: false)
      }
    }
  }

  private func scan(_ folder: SharePath, isWhole: Bool) {
    var isComplete = true
    var mayForget = false
    do throws(CatalogError) {
      guard let reader = try CatalogReader(folder: settings.catalogFolder) else {
        throw CatalogError("The catalog in \(settings.catalogFolder) is not there.")
      }
      var walk = Walk(source: source, reader: reader, isStopping: { self.isStopping })
      try walk.run(
        folder, progress: { files in self.state.withLock { $0.progress.files = files } },
        found: { self.inbox.postPatiently(.found($0)) })
      isComplete = walk.unreadable.isEmpty
      if let (path, error) = walk.unreadable.first {
        problems.report(
          .warning,
          "\(walk.unreadable.count) folders cannot be looked at, such as \(path): \(error). What stands in them is kept as it was."
        )
      }
      if isWhole && !isStopping {
        mayForget = isComplete
        if try !finish(&walk, reader) { mayForget = false }
      }
    } catch {
      isComplete = false
      problems.report(.error, "The source folder could not be compared with the catalog. \(error)")
    }
    if isWhole { _ = inbox.postPatiently(.scanEnded(isComplete: isComplete, mayForget: mayForget)) }
  }

  /// All that a whole scan found is in the catalog by now.
  func applied(isComplete: Bool) {
    state.change { state in
      state.progress.isRunning = false
      state.progress.isComplete = isComplete
      state.progress.ended = Clock.wall()
    }
  }

  /// After the walk: names that lead nowhere, and the store.
  /// - Returns: whether what no name leads to may be forgotten.
  private func finish(_ walk: inout Walk, _ reader: CatalogReader) throws(CatalogError) -> Bool {
    var isEmpty = walk.entries == 0
    if isEmpty { isEmpty = try reader.summary().assets > 0 }
    if isEmpty {
      problems.begin(
        .emptySource, .warning,
        "The source folder is empty or has vanished though the catalog knows documents in it. Nothing is forgotten.")
    } else {
      problems.end(.emptySource, "The source folder has documents again.")
      try tellMissing(walk, reader)
    }
    if state.withLock({ state in
      defer { state.hasSwept = true }
      return !state.hasSwept
    }) {
      try sweep(reader)
    }
    return !isEmpty
  }

  private func tellMissing(_ walk: borrowing Walk, _ reader: CatalogReader) throws(CatalogError) {
    let volumes = walk.volumes
    try reader.places { path, asset, file in
      // A volume that is not mounted now has not lost its documents.
      guard volumes.contains(file.volume) else { return !self.isStopping }
      do throws(Errno) {
        if try self.source.status(path) != nil { return !self.isStopping }
      } catch {
        if !error.isAbsence { return !self.isStopping }
      }
      return self.inbox.postPatiently(.missing(path, asset: asset))
    }
  }

  /// Removes stored pictures that belong to nobody, and has those made again that are not there.
  private func sweep(_ reader: CatalogReader) throws(CatalogError) {
    var stored: Set<ThumbnailStore.Entry>
    let others: [FileName]
    do throws(Errno) {
      (stored, others) = try store.entries()
    } catch {
      problems.report(.warning, "The thumbnails in \(settings.cacheFolder) cannot be listed: \(error).")
      return
    }
    try reader.shown { shown in
      if let picture = shown.picture, picture.placeholder == nil,
        stored.remove(ThumbnailStore.Entry(asset: picture.asset, version: picture.version)) == nil
      {
        return self.inbox.postPatiently(.lost(asset: picture.asset, version: picture.version))
      }
      return !self.isStopping
    }
    // Young ones of this run may belong to rows that were not there yet when they were read.
    let limit = max(started, ThumbnailStore.oldestInTheMaking)
    for path in stored.map(store.path) + others { store.sweep(path, ifOlderThan: limit) }
  }
}
