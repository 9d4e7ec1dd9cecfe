import Catalog
import Contracts
import Posix

/// The one thread that writes the catalog. It takes all that waits in the inbox as one transaction, announces what came of it once that is
/// committed, and hands out jobs.
///
/// - `Writer+Changes`: what happened to the share's files.
/// - `Writer+Effects`: what that meant, and who is told.
/// - `Writer+Results`: what workers brought.
final class Writer {
  let parts: Parts
  var catalog: Catalog
  var scheduler: Scheduler
  /// Messages to be judged again later.
  private var delayed: [(time: Clock.Instant, message: Message)] = []
  /// What is done once the transaction is committed, in this order.
  private var steps: [() -> Void] = []
  var strangers = Strangers()
  var unfinished = Unfinished()
  /// Assets whose last name may have gone; see `Message.vanished`.
  var unplaced: Set<Int64> = []
  private var nextJob: UInt64 = 1
  private var burst = Burst()
  private var indexesFrom: Clock.Instant = 0
  var isStopping = false

  /// Messages in one transaction.
  private static let most = 5000
  /// How long nothing must have happened before names are indexed, how many may wait whatever happens, and how many are indexed at once.
  private static let idle = Clock.seconds(0.1)
  private static let mostMarked = 4000
  private static let mostIndexed = 500
  /// After which it is tried again where it failed.
  private static let indexPause = Clock.seconds(60)
  /// For what still waits when the pipeline is stopped.
  private static let farewell = Clock.seconds(1)
  /// After which a change of metadata in the source folder is looked at.
  static let calm = Clock.seconds(0.1)
  /// Tries of one version that neither ended nor killed a worker: the daemon itself was ended each time.
  static let mostAttempts = 5

  init(_ parts: Parts, _ catalog: Catalog) {
    self.parts = parts
    self.catalog = catalog
    // Twice as many as there are workers, so that none waits for a commit.
    scheduler = Scheduler(slots: parts.settings.workers * 2)
  }

  /// Does it after the commit, and not at all when the transaction fails.
  func after(_ step: @escaping () -> Void) { steps.append(step) }

  func delay(_ message: Message, by time: Clock.Instant) {
    after { self.delayed.append((Clock.now() + time, message)) }
  }

  // MARK: - The thread

  func run() {
    Thread.beQuick(.soon)
    begin()
    while !isStopping {
      let batch = parts.inbox.next(until: deadline)
      if batch.messages.isEmpty || catalog.markedNames > Writer.mostMarked { indexNames() }
      isStopping = batch.isLast
      if batch.hasOverflowed {
        parts.problems.report(.warning, "Too many changes waited at once; a scan finds those that were dropped.")
        parts.scanner.request()
      }
      let now = Clock.now()
      let due = delayed.filter { $0.time <= now }.map(\.message)
      delayed.removeAll { $0.time <= now }
      write(due + unfinished.take(now: now).map(Message.found) + batch.messages)
      if !isStopping { dispatch() }
      parts.inbox.done(batch.messages.count)
      if !isStopping {
        burst.wrote(batch.messages, since: now, requests: parts.settings.requests()) { parts.inbox.isPressing }
      }
    }
    // Results that were still being judged: their documents stay pending, and the try is not counted.
    let open = delayed.compactMap { if case .finished(let ticket, _, _) = $0.message { ticket.asset } else { nil } }
    if !open.isEmpty { _ = commit { () throws(CatalogError) in for id in open { try self.catalog.release(id) } } }
  }

  /// Writes down what has come, in transactions of a bearable size. On the way out that may take a second; the scan of the next start finds what was left.
  private func write(_ messages: [Message]) {
    var rest = messages[...]
    var end: Clock.Instant?
    while !rest.isEmpty {
      if parts.inbox.isStopping {
        let until = end ?? Clock.now() + Writer.farewell
        end = until
        if Clock.now() > until {
          let count = rest.count
          rest = ArraySlice(rest.filter { !$0.isFoundAgain })
          if rest.count < count {
            parts.problems.report(
              .info, "\(count - rest.count) changes were not written down any more; the next mount's scan finds them.")
          }
        }
      }
      let part = rest.prefix(end == nil ? Writer.most : Writer.most / 10)
      rest = rest.dropFirst(part.count)
      write(part)
    }
  }

  /// One transaction for all; where one message cannot be written, the others are, each by itself.
  private func write(_ part: ArraySlice<Message>) {
    guard case .refused = commit({ () throws(CatalogError) in for message in part { try self.apply(message) } }) else {
      return
    }
    for message in part {
      guard case .refused(let error) = commit({ () throws(CatalogError) in try self.apply(message) }) else { continue }
      if case .step = message {
        // Whoever asked for it is told.
      } else {
        parts.problems.report(
          .error, "A change could not be written down. `sharefs rescan` finds what it was. \(error)")
      }
      switch message {
      case .change(let change, counted: true): if let file = change.document?.file { parts.index.applied(file) }
      case .finished(let ticket, _, _): scheduler.finish(ticket.asset)
      case .step(let step): step.end(error)
      case .scanEnded: parts.scanner.applied(isComplete: false)
      default: break
      }
    }
  }

  private var deadline: Clock.Instant? {
    let now = Clock.now()
    // Once the pause is over, what comes next wakes us anyway.
    let resume = scheduler.pausedUntil.flatMap { $0 > now ? $0 : nil }
    let idle = catalog.markedNames > 0 ? max(now + Writer.idle, indexesFrom) : nil
    return (delayed.map(\.time) + [resume, idle, unfinished.next].compactMap { $0 }).min()
  }

  /// What is searched by is brought up to date when nothing else is to do, or too much has come.
  private func indexNames() {
    if catalog.markedNames == 0 || Clock.now() < indexesFrom { return }
    switch commit({ () throws(CatalogError) in try self.catalog.indexMarkedNames(most: Writer.mostIndexed) }) {
    case .done: parts.problems.end(.names, "Names can be indexed for searching again.")
    case .stopped: break
    case .refused(let error):
      indexesFrom = Clock.now() + Writer.indexPause
      parts.problems.begin(.names, .warning, "Names cannot be indexed for searching, which makes it slower. \(error)")
    }
  }

  /// What must be done before the first change.
  private func begin() {
    _ = commit { () throws(CatalogError) in
      try self.catalog.purge()
      let box = "\(self.parts.settings.box.width)x\(self.parts.settings.box.height)"
      let before = try self.catalog.setting("box")
      if before != box {
        if before != nil { try self.catalog.requeuePictures() }
        try self.catalog.set("box", box)
      }
      if try self.catalog.setting(Catalog.shareName) == nil {
        try self.catalog.set(Catalog.shareName, self.parts.settings.name)
      }
      // What was made before the desktop was to have its own is made again for it.
      let desktop = self.parts.settings.desktop == nil ? "off" : "on"
      let desktopBefore = try self.catalog.setting("desktop")
      if desktopBefore != desktop {
        if desktop == "on", before != nil { try self.catalog.requeuePictures() }
        try self.catalog.set("desktop", desktop)
      }
      try self.catalog.requeueUnreadable()
    }
    do throws(CatalogError) {
      if let reader = try CatalogReader(folder: parts.settings.catalogFolder) {
        try parts.index.load(reader, count: try reader.summary().assets)
      }
    } catch {
      parts.problems.report(.error, "What stands in .thumbs cannot be loaded. \(error)")
    }
    parts.index.flush()
    dispatch()
  }

  enum Commit {
    case done
    /// It would fail again.
    case refused(CatalogError)
    /// The pipeline is being stopped first.
    case stopped
  }

  /// Runs one transaction and then what it left to be done. A full or failing disk is waited for; a damaged database is replaced.
  func commit(_ body: () throws(CatalogError) -> Void) -> Commit {
    var pause = Clock.seconds(0.25)
    var hasShrunk = false
    let before = strangers
    while true {
      steps = []
      do throws(CatalogError) {
        try catalog.transaction(body)
        parts.problems.end(.catalog, "The catalog can be written again.")
        let done = steps
        steps = []
        for step in done { step() }
        parts.index.flush()
        parts.checkpointer.committed(catalog.logPages)
        return .done
      } catch {
        steps = []
        strangers = before
        if error.isCorrupt {
          if !rebuild(error) { return .stopped }
          continue
        }
        guard error.isPassing else { return .refused(error) }
        if error.isDisk && !hasShrunk {
          hasShrunk = true
          do throws(CatalogError) {
            try catalog.shrinkLog()
            continue
          } catch {
            // The disk has no room for that either.
          }
        }
        parts.problems.begin(.catalog, .error, "The catalog cannot be written; changes wait. \(error)")
        // On the way out nobody waits any longer: the scan of the next start finds what was not written.
        if parts.inbox.rest(until: Clock.now() + pause) {
          isStopping = true
          return .stopped
        }
        pause = min(Clock.seconds(30), pause * 2)
      }
    }
  }

  /// Keeps the damaged database, begins a new one and has it filled by a scan.
  /// - Returns: false when there can be none.
  private func rebuild(_ why: CatalogError) -> Bool {
    let problems = parts.problems
    parts.checkpointer.hold()
    defer { parts.checkpointer.go() }
    do throws(CatalogError) {
      catalog = try catalog.replaced { kept in
        problems.report(.error, "The catalog is damaged (\(why)). It is kept as \(kept); a new one is being built.")
      }
    } catch {
      problems.begin(.catalog, .error, "The catalog is damaged and no new one can be made. \(error)")
      return !parts.inbox.rest(until: Clock.now() + Clock.seconds(5))
    }
    scheduler.clear()
    parts.index.clear()
    parts.scanner.request()
    return true
  }

  // MARK: - Jobs

  /// Hands out as many jobs as there is room for.
  func dispatch() {
    while !parts.pool.isStopping {
      if scheduler.needsMore { readQueue() }
      var picked: [Int64] = []
      var urgent: Set<Int64> = []
      let now = Clock.now()
      while let (id, isUrgent) = scheduler.next(now: now) {
        picked.append(id)
        if isUrgent { urgent.insert(id) }
      }
      if picked.isEmpty { return }
      var tickets: [Ticket] = []
      let result = commit { () throws(CatalogError) in
        tickets = []
        for id in picked {
          if let ticket = try self.ticket(for: id) {
            tickets.append(ticket)
          } else {
            self.after { self.scheduler.finish(id) }
          }
        }
      }
      guard case .done = result else {
        if case .refused(let error) = result { parts.problems.report(.error, "No job can be handed out. \(error)") }
        for id in picked {
          scheduler.finish(id)
          scheduler.add(id)
        }
        scheduler.hold(now: Clock.now())
        return
      }
      parts.pool.add(tickets, ahead: urgent)
    }
  }

  private func readQueue() {
    do throws(CatalogError) {
      scheduler.take(try catalog.pending(after: scheduler.last, limit: Scheduler.portion))
    } catch {
      // What stands in the queue is handed out meanwhile; then it is read again.
      parts.problems.report(.warning, "The queue cannot be read from the catalog. \(error)")
    }
  }

  private func ticket(for id: Int64) throws(CatalogError) -> Ticket? {
    guard let asset = try catalog.asset(id: id), asset.state == .pending else { return nil }
    // Its last writer's going brings it back.
    if parts.settings.isBeingWritten(asset.file) { return nil }
    if asset.attempts >= Writer.mostAttempts {
      try giveUp(asset, "It was being looked at \(asset.attempts) times when sharefs was ended.")
      return nil
    }
    let places = try catalog.places(of: id)
    try catalog.begin(id)
    nextJob += 1
    return Ticket(number: nextJob, asset: id, version: asset.version, file: asset.file, places: places)
  }
}
