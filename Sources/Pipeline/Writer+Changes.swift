import Catalog
import Contracts
import Posix

/// What happened to the share's files.
extension Writer {
  func apply(_ message: Message) throws(CatalogError) {
    switch message {
    case .change(let change, let counted):
      try apply(change)
      if counted, let file = change.document?.file { after { self.parts.index.applied(file) } }
    case .want(let files):
      for file in files {
        guard let asset = try catalog.asset(of: file), asset.state == .pending else { continue }
        after { if self.scheduler.want(asset.id) { self.parts.pool.hurry(asset.id) } }
      }
    case .finished(let ticket, let result, let tries):
      try finished(ticket, result, tries: tries)
    case .found(let path):
      // What is known of how it came there waits behind this, and is better than what a look tells.
      if case .file(let file) = finding(path), parts.index.isExpected(file) { return }
      try look(at: path)
    case .touched(let path, let time):
      let left = time + Writer.calm - Clock.now()
      if left > 0 { delay(.touched(path, at: time), by: left) } else { try touch(path) }
    case .missing(let path, let id):
      if finding(path) == .absent {
        try act { effects throws(CatalogError) in try self.catalog.lost(path, of: id, &effects) }
      }
    case .vanished(let path):
      for (place, id) in try catalog.places(within: path) where finding(place) == .absent {
        try act { effects throws(CatalogError) in try self.catalog.lost(place, of: id, &effects) }
        unplaced.insert(id)
        // One link less is a change of metadata that nobody tells of.
        for other in try catalog.places(of: id) { delay(.touched(other, at: Clock.now()), by: Writer.calm) }
      }
    case .vanishedForGood:
      for id in unplaced {
        try act { effects throws(CatalogError) in try self.catalog.removePlaceless(id, &effects) }
      }
      after { self.unplaced = [] }
    case .scanEnded(let isComplete, let mayForget):
      if mayForget { try act { effects throws(CatalogError) in try self.catalog.removePlaceless(&effects) } }
      try announce(.rescan, nil, .root)
      after { self.parts.scanner.applied(isComplete: isComplete) }
    case .lost(let id, let version):
      try lost(id, version)
    case .step(let step):
      try step.body(catalog)
      after { step.end(nil) }
    case .retry(let id):
      after { self.scheduler.add(id) }
    }
  }

  private func apply(_ change: Change) throws(CatalogError) {
    switch change {
    case .started(let document):
      if TemporaryNames.contains(document.path) { return }
      let asset = try catalog.asset(of: document.file)
      if asset == nil { strangers.enter(document.file, at: document.path) }
      if let asset, asset.isWhole { after { self.tell(asset, document.path, isWhole: false) } }
      try announce(.started, asset, document.path)
    case .settled(let document, let stamp):
      strangers.leave(document.file)
      // Its download goes on; it is looked at when the mark goes.
      if !TemporaryNames.contains(document.path), isMarked(document.path) { return }
      try act { effects throws(CatalogError) in try self.catalog.settle(document, stamp, &effects) }
    case .unchanged(let document):
      strangers.leave(document.file)
      guard let asset = try catalog.asset(of: document.file) else { return }
      after {
        if asset.state == .pending { self.scheduler.add(asset.id) }
        if asset.isWhole { self.tell(asset, document.path, isWhole: true) }
      }
    case .renamed(let file, let kind, let from, let to, let replaced):
      try act { effects throws(CatalogError) in
        try self.catalog.rename(file, kind, from: from, to: to, replaced: replaced, &effects)
      }
      if let replaced { strangers.leave(replaced) }
      if kind == .folder {
        try tell(strangers.move([Strangers.Move(from: from, to: to)]))
      } else if kind == .regular, parts.settings.isBeingWritten(file), try catalog.asset(of: file) == nil {
        strangers.enter(file, at: to)
      }
    case .exchanged(let first, let firstKind, let second, let secondKind):
      try act { effects throws(CatalogError) in
        try self.catalog.exchange(first, firstKind, second, secondKind, &effects)
      }
      var folders: [Strangers.Move] = []
      if firstKind == .folder { folders.append(Strangers.Move(from: second.path, to: first.path)) }
      if secondKind == .folder { folders.append(Strangers.Move(from: first.path, to: second.path)) }
      try tell(strangers.move(folders))
    case .linked(let document):
      try act { effects throws(CatalogError) in try self.catalog.link(document, &effects) }
    case .removed(let document, let kind, let wasLast):
      if wasLast { strangers.leave(document.file) }
      try act { effects throws(CatalogError) in
        try self.catalog.unlink(document, kind, wasLast: wasLast, &effects)
      }
    case .touched(let file, let stamp):
      try act { effects throws(CatalogError) in try self.catalog.touch(file, stamp, &effects) }
    case .seen(let document, _):
      try look(at: document.path)
    }
  }

  /// What is not catalogued yet has moved with its folder.
  private func tell(_ moves: [Strangers.Move]) throws(CatalogError) {
    for move in moves {
      if TemporaryNames.contains(move.to) {
        try announce(.removed, nil, move.from)
      } else {
        try announce(.renamed, nil, move.to, from: move.from)
      }
    }
  }

  /// Looks what stands at a path now, and catalogs it when it is a finished document.
  ///
  /// Whoever found it did so some time ago. What has happened since is in the inbox behind it; looking again makes both tell the same.
  ///
  /// - Parameter replaced: the file in whose place a rename has just put it.
  func look(at path: SharePath, replaced: FileID? = nil) throws(CatalogError) {
    guard !TemporaryNames.contains(path), !isMarked(path), let (document, stamp) = finished(path) else { return }
    try act { effects throws(CatalogError) in
      try self.catalog.sight(document, stamp, replaced: replaced, look: { self.finding($0) }, &effects)
    }
  }

  /// Metadata changed behind the mount. A change of content before it has been told and looked at by now, so that whatever still differs is that.
  private func touch(_ path: SharePath) throws(CatalogError) {
    guard !TemporaryNames.contains(path), !isMarked(path), let (document, stamp) = finished(path) else { return }
    guard let known = try catalog.asset(of: document.file), known.stamp.size == stamp.size else {
      return try look(at: path)
    }
    if known.stamp == stamp { return }
    try act { effects throws(CatalogError) in try self.catalog.touch(document.file, stamp, &effects) }
  }

  /// - Returns: nil when nothing is there, or somebody is writing it: then a settled change follows, or it is looked at again.
  func finished(_ path: SharePath) -> (Document, ContentStamp)? {
    do throws(Errno) {
      guard let first = try parts.source.status(path) else { return nil }
      let file = parts.source.id(first)
      // Asked before the stamp that counts and after it: a stream that began or ended in between is met by one of them.
      if parts.settings.isBeingWritten(file) { return nil }
      if parts.settings.watchesSource, try parts.source.isOpenForWriting(path) {
        after { self.unfinished.enter(path) }
        return nil
      }
      guard let second = try parts.source.status(path), parts.source.id(second) == file else { return nil }
      if parts.settings.isBeingWritten(file) { return nil }
      return (Document(file: file, path: path), second.stamp)
    } catch {
      // Gone again, or nobody's to look at: a change follows, or the next scan.
      return nil
    }
  }

  func finding(_ path: SharePath) -> Finding {
    do throws(Errno) {
      guard let status = try parts.source.status(path) else { return .absent }
      return .file(parts.source.id(status))
    } catch {
      return error.isAbsence ? .absent : .unknown
    }
  }

  /// Whether `x.mp4.aria2` says that `x.mp4` is not finished.
  private func isMarked(_ path: SharePath) -> Bool {
    guard let mark = path.downloadMark else { return false }
    if case .file = finding(mark) { return true }
    return false
  }

  /// A stored picture is not there any more: it is made again.
  private func lost(_ id: Int64, _ version: Int64) throws(CatalogError) {
    guard let asset = try catalog.asset(id: id), asset.state == .done, let picture = asset.picture,
      picture.version == version
    else { return }
    if picture.placeholder == nil {
      do throws(Errno) {
        _ = try parts.store.open(picture)
        return
      } catch {
        parts.problems.report(.notice, "The thumbnail of asset \(id) was lost (\(error)); it is being made again.")
      }
    }
    try catalog.requeue(id)
    try catalog.forgetPicture(id)
    guard let asset = try catalog.asset(id: id) else { return }
    after {
      self.parts.index.set(asset)
      self.scheduler.add(id)
    }
  }
}

extension Change {
  /// Who a `settled` or `seen` change is about.
  var document: Document? {
    switch self {
    case .settled(let document, _), .seen(let document, _): document
    default: nil
    }
  }
}
