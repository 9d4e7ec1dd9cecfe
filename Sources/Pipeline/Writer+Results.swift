import Catalog
import Contracts
import Posix

/// What workers brought.
extension Writer {
  /// A document's change of metadata is told a little after it is visible: so long, so often a result waits for it.
  private static let patience = (time: Clock.seconds(0.02), tries: 10)

  func finished(_ ticket: Ticket, _ result: JobResult, tries: Int) throws(CatalogError) {
    guard let asset = try catalog.asset(id: ticket.asset), asset.state == .pending, asset.version == ticket.version,
      asset.file == ticket.file
    else {
      // Settled again, or gone, while it was being looked at.
      let now = try catalog.asset(id: ticket.asset)
      if now?.state != .done || now?.version != ticket.version { discard(ticket, result) }
      after {
        self.scheduler.finish(ticket.asset)
        if now?.state == .pending { self.scheduler.add(ticket.asset) }
      }
      return
    }
    switch result {
    case .done(let outcome, let size, let before, let after):
      try judge(ticket, asset, outcome, size, before: before, after: after, tries: tries)
    case .gone:
      try gone(ticket, asset, tries: tries)
    case .unreadable(let error):
      let kind = MediaKind(guessedFrom: ticket.places.first?.name)
      try conclude(
        asset, error == .access || error == .notPermitted ? .unsupported : .invalid,
        "It cannot be read: \(error).", Facts(), placeholder: PlaceholderKind(kind), unreadable: true)
    case .crashed(let what):
      let count = try catalog.crashed(ticket.asset)
      let name = ticket.places.first.map { "\($0)" } ?? "asset \(ticket.asset)"
      after { self.parts.problems.report(.warning, "A media worker failed over \(name): \(what).") }
      if count >= 2 {
        try giveUp(asset, "It stopped the media worker twice: \(what).")
      } else {
        again(ticket)
      }
    case .unstored(let error):
      try catalog.release(ticket.asset)
      wait(for: .cache, parts.pool.cannotStore(error))
      again(ticket)
    case .failed(let error):
      try catalog.release(ticket.asset)
      wait(for: .source, "Documents cannot be looked at: \(error). They stay pending.")
      again(ticket)
    case .abandoned:
      try catalog.release(ticket.asset)
      again(ticket)
    }
  }

  private func again(_ ticket: Ticket) {
    after {
      self.scheduler.finish(ticket.asset)
      self.scheduler.add(ticket.asset)
    }
  }

  /// Nothing goes out for a while, then one document alone.
  private func wait(for trouble: Problems.Standing, _ text: String) {
    after {
      self.parts.problems.begin(trouble, .error, text)
      self.scheduler.hold(now: Clock.now())
    }
  }

  private func discard(_ ticket: Ticket, _ result: JobResult) {
    guard case .done(_, .some, _, _) = result else { return }
    after {
      self.parts.store.remove(asset: ticket.asset, version: ticket.version)
      self.parts.desktop?.forget(ticket.asset)
    }
  }

  /// Whether the result is of the content that the catalog speaks of.
  private func judge(
    _ ticket: Ticket, _ asset: Asset, _ outcome: Outcome, _ size: Int64?, before: ContentStamp,
    after stamp: ContentStamp, tries: Int
  ) throws(CatalogError) {
    if parts.settings.isBeingWritten(asset.file) {
      // Its last writer's going brings it back, whether it changed anything or not.
      try catalog.release(asset.id)
      discard(ticket, .done(outcome, pictureSize: size, before: before, after: stamp))
      after { self.scheduler.finish(asset.id) }
      return
    }
    // Only metadata changed since: whatever changes content brings a new version before it changes the row's stamp.
    if asset.stamp == stamp && before.size == stamp.size {
      try accept(asset, outcome, size)
      return
    }
    var now: (document: Document, stamp: ContentStamp)?
    for place in try catalog.places(of: asset.id) {
      guard let (document, stamp) = finished(place), document.file == asset.file else { continue }
      now = (document, stamp)
      break
    }
    if let now, now.stamp == asset.stamp, now.stamp.size == before.size {
      try accept(asset, outcome, size)
    } else if tries < Writer.patience.tries {
      delay(
        .finished(ticket, .done(outcome, pictureSize: size, before: before, after: stamp), tries: tries + 1),
        by: Writer.patience.time)
    } else {
      // Changed behind our back.
      discard(ticket, .done(outcome, pictureSize: size, before: before, after: stamp))
      try catalog.release(asset.id)
      after { self.scheduler.finish(asset.id) }
      if let now {
        try look(at: now.document.path)
      } else {
        delay(.retry(asset: asset.id), by: Clock.seconds(1))
      }
    }
  }

  private func accept(_ asset: Asset, _ outcome: Outcome, _ size: Int64?) throws(CatalogError) {
    if let size {
      try conclude(asset, outcome.verdict, outcome.reason, outcome.facts, placeholder: nil, size: size)
    } else if let kind = outcome.placeholder {
      try conclude(asset, outcome.verdict, outcome.reason, outcome.facts, placeholder: kind)
    }
    after {
      if self.scheduler.pausedUntil == nil { return }
      self.scheduler.goOn()
      self.parts.problems.end(.source, "Documents can be looked at again.")
    }
  }

  /// The document is not tried again until it changes.
  func giveUp(_ asset: Asset, _ reason: String) throws(CatalogError) {
    try conclude(asset, .invalid, reason, Facts(), placeholder: .damaged)
  }

  /// Writes down what became of the newest version, and tells it.
  private func conclude(
    _ asset: Asset, _ verdict: Verdict, _ reason: String, _ facts: Facts, placeholder: PlaceholderKind?,
    size: Int64 = 0, unreadable: Bool = false
  ) throws(CatalogError) {
    let parts = parts
    if let kind = placeholder, parts.store.size(kind) == nil {
      // It is not announced before what stands for it can be opened.
      parts.pool.draw([kind])
      try catalog.release(asset.id)
      after {
        self.scheduler.finish(asset.id)
      }
      delay(.retry(asset: asset.id), by: Clock.seconds(1))
      return
    }
    try catalog.finish(
      asset.id, verdict: verdict, reason: reason, facts: facts, placeholder: placeholder, pictureSize: size,
      unreadable: unreadable)
    guard let done = try catalog.asset(id: asset.id) else { return }
    let places = try catalog.places(of: asset.id)
    after {
      self.scheduler.finish(asset.id)
      let old = parts.index.picture(of: asset.file)
      parts.index.set(done)
      parts.desktop?.publish(done, places)
      let new = parts.index.picture(of: asset.file)
      if let stored = asset.picture, stored.placeholder == nil, stored.version != done.version {
        parts.store.remove(asset: asset.id, version: stored.version)
      }
      for place in places where !TemporaryNames.contains(place) {
        self.tell(asset.file, place, old: old, new: new)
        if done.isWhole { self.tell(done, place, isWhole: true) }
      }
    }
    for place in places {
      try announce(Event.Kind(verdict), done, place)
      if done.picture != asset.picture { try announce(.thumbnail, done, place) }
    }
  }

  /// No name led to the document: it was renamed a moment ago, or is gone.
  private func gone(_ ticket: Ticket, _ asset: Asset, tries: Int) throws(CatalogError) {
    let places = try catalog.places(of: asset.id)
    let findings = places.map { finding($0) }
    if findings.contains(.file(asset.file)) {
      try catalog.release(asset.id)
      again(ticket)
    } else if tries < Writer.patience.tries {
      delay(.finished(ticket, .gone, tries: tries + 1), by: Writer.patience.time)
    } else if findings.contains(.unknown) || !parts.source.isSane() {
      try catalog.release(asset.id)
      after {
        self.parts.problems.begin(.source, .warning, "The source folder cannot be looked at; nothing is forgotten.")
        self.scheduler.finish(asset.id)
      }
      delay(.retry(asset: asset.id), by: Clock.seconds(30))
    } else {
      try act { effects throws(CatalogError) in
        for place in places { try self.catalog.lost(place, of: asset.id, &effects) }
        try self.catalog.removePlaceless(asset.id, &effects)
      }
      after { self.scheduler.finish(asset.id) }
    }
  }
}
