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
        if !TemporaryNames.contains(path) { parts.feed.publish(.closed, asset: asset, path: path) }
      }
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
        self.tell(asset.file, from, old: picture, new: nil)
        self.tell(asset.file, to, old: nil, new: picture)
        if TemporaryNames.contains(to) {
          if !TemporaryNames.contains(from) { parts.feed.publish(.removed, asset: asset, path: from) }
        } else {
          parts.feed.publish(.renamed, asset: asset, path: to, from: from)
        }
      }
    case .folderMoved(let from, let to):
      after {
        if !TemporaryNames.contains(to) { parts.feed.publish(.renamed, asset: nil, path: to, from: from) }
        parts.desktop?.moveFolder(from: from, to: to)
        // A scan under way may have passed the one and not yet reached the other.
        parts.scanner.moved(to)
      }
    case .unplaced(let asset, let path):
      after {
        parts.desktop?.remove([path])
        self.tell(asset.file, path, old: parts.index.picture(of: asset.file), new: nil)
        if !TemporaryNames.contains(path) { parts.feed.publish(.removed, asset: asset, path: path) }
      }
    case .placed(let asset, let path):
      after {
        parts.desktop?.copy(asset, to: path)
        self.tell(asset.file, path, old: nil, new: parts.index.picture(of: asset.file))
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
          if !TemporaryNames.contains(place) { parts.feed.publish(.removed, asset: asset, path: place) }
        }
      }
    case .hidden(let asset, _):
      after { parts.index.set(asset) }
    case .look(let path):
      try look(at: path)
    case .scan(let folder):
      after { parts.scanner.request(folder) }
    case .doubtful(let asset):
      after {
        parts.problems.report(.notice, "Asset \(asset.id) was overlaid by another one; a scan looks where its file is.")
        parts.scanner.request()
      }
    }
  }

  /// Tells the observer; nobody sees what has a temporary name.
  func tell(_ file: FileID, _ path: SharePath, old: Picture?, new: Picture?) {
    guard old != new, !TemporaryNames.contains(path) else { return }
    parts.observer?.pictureChanged(of: Document(file: file, path: path), old: old, new: new)
  }
}
