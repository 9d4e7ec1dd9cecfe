import Catalog
public import Contracts
public import Posix

/// From settled document to stored picture: catalogs what happens to a share's files, has every new content looked at by a worker, and
/// answers what stands in `.thumbs`.
///
/// Threads: one writer (catalog), one per worker process, one scanner, one that answers waiters. Lock order: inbox, then index; feed, then
/// subscription. Nothing else is locked while another lock is held, and observers, waiters and reporters are called without any.
public final class Pipeline: Settled, Projection {
  private struct State {
    /// Until the writer thread has taken it.
    var catalog: Catalog?
    var threads: Threads?
  }

  private struct Threads {
    let writer: Thread
    let scanner: Thread
    let answerer: Thread
    let checkpointer: Thread
    let workers: [Thread]
    let watch: Thread?
  }

  private let parts: Parts
  private let state: Guarded<State>

  /// Opens the catalog, or makes it, and takes a descriptor of its own for the source folder. Nothing runs until `start`.
  /// - Throws: what forbids to begin, such as a catalog written by a newer sharefs. A damaged catalog is no such thing: it is kept
  ///   aside, reported, and built anew by the scan.
  public init(settings: Settings, reporter: any Reporter) throws(PipelineError) {
    let problems = Problems(reporter)
    let lastEvent: UInt64
    do throws(CatalogError) {
      let catalog = try Catalog(folder: settings.catalogFolder) { kept in
        problems.report(.error, "The catalog is damaged. It is kept as \(kept); a new one is being built.")
      }
      lastEvent = try catalog.lastEvent()
      state = Guarded(State(catalog: catalog))
    } catch {
      throw PipelineError(error.what)
    }
    do throws(Errno) {
      parts = try Parts(settings, try Source(settings.source), lastEvent: lastEvent, problems)
    } catch {
      throw PipelineError("The source folder cannot be opened: \(error).")
    }
  }

  /// Begins: loads what is known, starts the workers, looks what changed since the last time. Returns at once.
  /// - Parameter observer: told of every change of a picture, from the writer's thread.
  public func start(observer: any ProjectionObserver) {
    parts.observe(observer)
    let parts = parts
    parts.pool.draw(parts.store.findPlaceholders())
    parts.desktop?.start()
    let workers = parts.pool.start()
    let scanner = Thread("sharefs-scan") { parts.scanner.run() }
    let writer = Thread("sharefs-catalog") { [self] in
      guard
        let catalog = state.withLock({ state in
          let catalog = state.catalog
          state.catalog = nil
          return catalog
        })
      else { return }
      Writer(parts, catalog).run()
    }
    let answerer = Thread("sharefs-answer") { parts.index.answer() }
    let checkpointer = Thread("sharefs-log") { parts.checkpointer.run() }
    let watch = parts.watch.map { watch in Thread("sharefs-watch") { watch.run() } }
    state.withLock {
      $0.threads = Threads(
        writer: writer, scanner: scanner, answerer: answerer, checkpointer: checkpointer, workers: workers, watch: watch
      )
    }
    if watch == nil { parts.scanner.request() }
  }

  /// Ends all threads and workers within a second or two. What is pending stays so for the next start; who waits is answered.
  public func stop() {
    guard
      let threads = state.withLock({ state in
        defer { state.threads = nil }
        return state.threads
      })
    else {
      // Never started, or stopped before: those who wait are answered all the same.
      parts.index.stop()
      parts.index.answer()
      return
    }
    parts.watch?.stop()
    parts.scanner.stop()
    parts.pool.stop()
    // First those that hand something to the writer, so that it hears of every job that was broken off.
    for thread in threads.workers { thread.join() }
    parts.inbox.stop()
    threads.watch?.join()
    threads.scanner.join()
    threads.writer.join()
    parts.checkpointer.stop()
    threads.checkpointer.join()
    parts.desktop?.stop()
    parts.index.stop()
    threads.answerer.join()
    parts.feed.close()
  }

  // MARK: - Settled

  public func take(_ change: Change) { parts.inbox.take(change) }

  // MARK: - Projection

  public func picture(volume: UInt64, inode: UInt64) -> PictureState {
    parts.index.picture(volume: volume, inode: inode)
  }

  public func wholeness(volume: UInt64, inode: UInt64) -> Wholeness {
    parts.index.wholeness(volume: volume, inode: inode)
  }

  public var revision: UInt64 { parts.index.revision }

  public func wait(
    for files: [FileID], until deadline: Clock.Instant, then: @escaping @Sendable () -> Void
  ) -> UInt64 {
    let (token, open) = parts.index.wait(for: files, until: deadline, then: then)
    if !open.isEmpty { parts.inbox.post(.want(open)) }
    return token
  }

  public func cancel(_ token: UInt64) -> Bool { parts.index.cancel(token) }

  public func placeholder(for name: FileName) -> Picture {
    let kind = PlaceholderKind(MediaKind(guessedFrom: name))
    return Picture(asset: 0, version: 1, placeholder: kind, size: parts.store.size(kind) ?? 0)
  }

  public func open(_ picture: Picture) throws(Errno) -> Descriptor {
    do throws(Errno) {
      return try parts.store.open(picture)
    } catch {
      if error == .noEntry {
        if let kind = picture.placeholder {
          parts.pool.draw([kind])
        } else {
          parts.inbox.post(.lost(asset: picture.asset, version: picture.version))
        }
      }
      throw error
    }
  }

  // MARK: - For people and programs

  func post(_ message: Message) { parts.inbox.post(message) }

  /// What happens from now on.
  public var events: EventFeed { parts.feed }

  /// Compares the whole source folder with the catalog, in the background.
  /// - Parameter repairs: whether the stored pictures are compared too.
  public func rescan(repairs: Bool = false) { parts.scanner.request(sweeping: repairs) }

  public func status() -> PipelineStatus {
    var status = PipelineStatus()
    do throws(CatalogError) {
      status.summary = try CatalogReader(folder: parts.settings.catalogFolder)?.summary()
    } catch {
      parts.problems.report(.warning, error.what)
    }
    let pool = parts.pool.now
    status.backlog = parts.inbox.backlog
    status.running = pool.running
    status.workers = pool.up
    status.workersWanted = parts.settings.workers
    status.workerFailure = pool.failure
    let scan = parts.scanner.progress
    status.isScanning = scan.isRunning
    status.scannedFiles = scan.files
    status.scanEnded = scan.ended
    status.isScanComplete = scan.isComplete
    status.isIndexLoaded = parts.index.isLoaded
    status.problems = parts.problems.last
    return status
  }
}
