import Contracts
import Posix

/// What the pipeline's threads share. Everything in it guards itself, with `Monitor` also where nobody waits: the thread sanitizer
/// does not see the order that a contended `Mutex` of the standard library makes, and what it cannot check it reports.
final class Parts: Sendable {
  let settings: Settings
  let source: Source
  let problems: Problems
  let store: ThumbnailStore
  let index: ThumbnailIndex
  let inbox: Inbox
  let pool: WorkerPool
  let scanner: Scanner
  let desktop: DesktopCache?
  /// Nil when nothing changes the source folder but the mount.
  let watch: SourceWatch?
  let feed: EventFeed
  let checkpointer: Checkpointer
  private let observing = Monitor<(any ProjectionObserver)?>(nil)

  init(_ settings: Settings, _ source: Source, lastEvent: UInt64, _ problems: Problems) throws(Errno) {
    self.settings = settings
    self.source = source
    self.problems = problems
    feed = EventFeed(last: lastEvent)
    checkpointer = Checkpointer(folder: settings.catalogFolder, problems: problems)
    store = ThumbnailStore(folder: settings.cacheFolder, box: settings.box)
    index = ThumbnailIndex(store: store)
    desktop = settings.desktop.map { [problems] in
      DesktopCache($0, catalog: settings.catalogFolder, problems: problems)
    }
    let inbox = Inbox(index: index)
    self.inbox = inbox
    pool = WorkerPool(settings: settings, source: source, store: store, desktop: desktop, problems: problems) {
      ticket, result in
      inbox.post(.finished(ticket, result, tries: 0))
    }
    scanner = Scanner(settings: settings, source: source, store: store, inbox: inbox, problems: problems)
    watch =
      settings.watchesSource
      ? try SourceWatch(source: source, inbox: inbox, scanner: scanner, problems: problems) : nil
  }

  var observer: (any ProjectionObserver)? { observing.withLock { $0 } }
  func observe(_ observer: any ProjectionObserver) { observing.withLock { $0 = observer } }
}
