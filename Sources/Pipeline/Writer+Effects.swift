import Catalog
import Contracts
import Posix

/// What a change meant for the catalog, and who is told.
extension Writer {
  /// Runs one of the catalog's rules and acts on what it says.
  func act(_ rule: (inout [Effect]) throws(CatalogError) -> Void) throws(CatalogError) {
    var effects: [Effect] = []
    try rule(&effects)
    for effect in effects { try act(on: effect) }
  }

  private func act(on effect: Effect) throws(CatalogError) {
    let parts = parts
    switch effect {
    case .version(let asset, let path):
      after {
        parts.index.set(asset)
        self.scheduler.add(asset.id)
      }
      try announce(.closed, asset, path)
    case .same(let asset):
      after {
        parts.index.set(asset)
        if asset.state == .done { parts.desktop?.touch(asset) }
        if asset.state == .pending { self.scheduler.add(asset.id) }
      }
    case .refiled(let asset, let old):
      after {
        if old != asset.file { parts.index.drop(old, asset: asset.id) }
        parts.index.set(asset)
      }
    case .moved(let asset, let from, let to):
      after {
        let picture = parts.index.picture(of: asset.file)
        parts.desktop?.move(asset, from: from, to: to)
        // Under a temporary name it has none any more, and has gone from the old one.
        self.tell(asset.file, from, old: picture ?? asset.picture, new: nil)
        self.tell(asset.file, to, old: nil, new: picture)
        if asset.isWhole {
          self.tell(asset, from, isWhole: false)
          self.tell(asset, to, isWhole: true)
        }
      }
      try announceMove(asset, from: from, to: to)
    case .strangerMoved(let from, let to):
      try announce(.renamed, nil, to, from: from)
    case .strangerRemoved(let path):
      try announce(.removed, nil, path)
    case .restored(let asset, let path):
      try announce(.restored, asset, path)
    case .folderMoved(let from, let to):
      for (path, id) in try catalog.places(within: to) {
        guard let before = path.moved(from: to, to: from), let asset = try catalog.asset(id: id) else { continue }
        try announceMove(asset, from: before, to: path)
      }
      after {
        parts.desktop?.moveFolder(from: from, to: to)
        // A scan under way may have passed the one and not yet reached the other.
        parts.scanner.moved(to)
      }
    case .unplaced(let asset, let path):
      after {
        parts.desktop?.remove([path])
        self.tell(asset.file, path, old: parts.index.picture(of: asset.file), new: nil)
        if asset.isWhole { self.tell(asset, path, isWhole: false) }
      }
      try announce(.removed, asset, path)
    case .placed(let asset, let path):
      after {
        parts.desktop?.copy(asset, to: path)
        self.tell(asset.file, path, old: nil, new: parts.index.picture(of: asset.file))
        if asset.isWhole { self.tell(asset, path, isWhole: true) }
      }
    case .removed(let asset, let places):
      after {
        self.scheduler.forget(asset.id)
        parts.desktop?.remove(places)
        let picture = parts.index.drop(asset.file, asset: asset.id) ?? asset.picture
        if let stored = asset.picture, stored.placeholder == nil {
          parts.store.remove(asset: asset.id, version: stored.version)
        }
        for place in places {
          self.tell(asset.file, place, old: picture, new: nil)
          if asset.isWhole { self.tell(asset, place, isWhole: false) }
        }
      }
      for place in places { try announce(.removed, asset, place) }
    case .hidden(let asset, _):
      after { parts.index.set(asset) }
    case .look(let path, let replaced):
      try look(at: path, replaced: replaced)
    case .scan(let folder):
      after { parts.scanner.request(folder) }
    case .doubtful(let asset):
      after {
        parts.problems.report(.notice, "Asset \(asset.id) was overlaid by another one; a scan looks where its file is.")
        parts.scanner.request()
      }
    }
  }

  /// Writes an event down, and hands it on after the commit. Nobody hears of what has a temporary name.
  func announce(
    _ kind: Event.Kind, _ asset: Asset?, _ path: SharePath, from: SharePath? = nil
  ) throws(CatalogError) {
    if TemporaryNames.contains(path) { return }
    let event = try catalog.record(kind, asset: asset, path: path, from: from)
    after { self.parts.feed.publish(event) }
  }

  /// A catalogued document changed its name; a temporary one takes it out of sight, a real one brings it back.
  private func announceMove(_ asset: Asset, from: SharePath, to: SharePath) throws(CatalogError) {
    if TemporaryNames.contains(to) {
      try announce(.removed, asset, from)
    } else if TemporaryNames.contains(from) {
      try announce(.restored, asset, to)
    } else {
      try announce(.renamed, asset, to, from: from)
    }
  }

  /// A document is there for those who want whole ones, or is not any more.
  func tell(_ asset: Asset, _ path: SharePath, isWhole: Bool) {
    if TemporaryNames.contains(path) { return }
    parts.observer?.wholenessChanged(of: Document(file: asset.file, path: path), isWhole: isWhole)
  }

  /// Tells the observer; nobody sees what has a temporary name.
  func tell(_ file: FileID, _ path: SharePath, old: Picture?, new: Picture?) {
    guard old != new, !TemporaryNames.contains(path) else { return }
    parts.observer?.pictureChanged(of: Document(file: file, path: path), old: old, new: new)
  }
}
