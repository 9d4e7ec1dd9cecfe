public import Contracts
public import Posix

/// What stands at a path, as far as can be told now.
public enum Finding: Hashable, Sendable {
  case file(FileID)
  /// Nothing, or something that is no regular file.
  case absent
  /// It cannot be looked at: no reason to forget anything.
  case unknown
}

/// Which asset a document is. The inode decides, not the name: only a file that took another's only name by replacing it takes its
/// asset too.
extension Catalog {
  /// The last writer has gone, and the content is a new one.
  public func settle(_ document: Document, _ stamp: ContentStamp, _ effects: inout [Effect]) throws(CatalogError) {
    if let known = try asset(of: document.file) {
      try claim(document.path, for: known, &effects)
      if sighted.remove(known.id) != nil && known.stamp == stamp {
        effects.append(.same(known))
      } else {
        try advance(known.id, to: document.file, stamp)
        try announce(known.id, at: document.path, &effects)
      }
      return
    }
    if TemporaryNames.contains(document.path) { return }
    _ = try enter(document, stamp, isWitnessed: true, &effects)
  }

  /// A document was found, by a scan or by somebody who asked for it. Nothing tells what happened to it before.
  /// - Parameters:
  ///   - replaced: the file in whose place a rename has just put it.
  ///   - look: what stands at another path now.
  public func sight(
    _ document: Document, _ stamp: ContentStamp, replaced: FileID? = nil, look: (SharePath) -> Finding,
    _ effects: inout [Effect]
  ) throws(CatalogError) {
    if TemporaryNames.contains(document.path) { return }
    guard let known = try asset(of: document.file) else {
      sighted.insert(try enter(document, stamp, isWitnessed: false, replaced: replaced, &effects))
      return
    }
    let isNewName = try follow(known, to: document.path, look: look, &effects)
    if known.stamp == stamp {
      effects.append(.same(known))
    } else if isNewName && known.stamp.isLike(stamp) {
      // A rename changes the change time too, as a link does.
      try refresh(known.id, document.file, stamp)
      effects.append(.same(known))
    } else {
      try advance(known.id, to: document.file, stamp)
      sighted.insert(known.id)
      try announce(known.id, at: document.path, &effects)
    }
  }

  /// A scan found that a name leads to no file any more. The asset stays until the scan's end: its file may stand elsewhere.
  public func lost(_ path: SharePath, of id: Int64, _ effects: inout [Effect]) throws(CatalogError) {
    guard try owner(of: path) == id, let asset = try asset(id: id) else { return }
    try unplace(path)
    effects.append(.unplaced(asset, path))
    try refreshHidden(id, &effects)
  }

  /// A whole scan has ended: what no name leads to is gone.
  public func removePlaceless(_ effects: inout [Effect]) throws(CatalogError) {
    let gone = try connection.all(
      """
      SELECT \(Asset.columns) FROM asset
      WHERE state != 3 AND NOT EXISTS (SELECT 1 FROM place WHERE place.asset = asset.id)
      """
    ) { Asset($0) }
    for asset in gone { try remove(asset, &effects) }
  }

  /// The asset goes if no name leads to it.
  public func removePlaceless(_ id: Int64, _ effects: inout [Effect]) throws(CatalogError) {
    if let asset = try asset(id: id), try places(of: id).isEmpty { try remove(asset, &effects) }
  }

  /// Metadata changed and with it the change time, the content did not.
  public func touch(_ file: FileID, _ stamp: ContentStamp, _ effects: inout [Effect]) throws(CatalogError) {
    guard let known = try asset(of: file) else { return }
    try refresh(known.id, file, stamp)
    // It may be readable now.
    if known.isUnreadable { try requeue(known.id) }
    if let asset = try asset(id: known.id) { effects.append(.same(asset)) }
  }

  /// A file that no living asset has.
  /// - Parameters:
  ///   - isWitnessed: whether it is known how it came there; a scan knows the name alone.
  ///   - replaced: the file in whose place a rename has just put it.
  /// - Returns: the asset that it is from now on.
  private func enter(
    _ document: Document, _ stamp: ContentStamp, isWitnessed: Bool, replaced: FileID? = nil,
    _ effects: inout [Effect]
  ) throws(CatalogError) -> Int64 {
    if isWitnessed { try returnFromBackup(to: document.path, &effects) }
    if let owner = try asset(at: document.path), try places(of: owner.id).count == 1 {
      // It stands where that asset stood, by a rename over it: editors, rsync, a restored backup.
      let sameFile = owner.file.inode == document.file.inode && owner.file.birth == document.file.birth
      if sameFile && owner.stamp == stamp {
        // A mounted volume came back under another device number.
        try refresh(owner.id, document.file, stamp)
      } else {
        try advance(owner.id, to: document.file, stamp)
        if !isWitnessed, replaced != owner.file { try loosen(owner) }
      }
      if let asset = try asset(id: owner.id) {
        effects.append(.refiled(asset, from: owner.file))
        effects.append(asset.version == owner.version ? .same(asset) : .version(asset, at: document.path))
      }
      return owner.id
    }
    let id: Int64
    if let gone = try removed(document.file), gone.file.birth.nanoseconds != 0 || gone.stamp.isLike(stamp) {
      id = gone.id
      try advance(id, to: document.file, stamp)
      effects.append(.restored(gone, at: document.path))
    } else {
      id = try insert(document, stamp)
    }
    if let other = try place(id, at: document.path), let other = try asset(id: other) {
      effects.append(.unplaced(other, document.path))
    }
    try announce(id, at: document.path, &effects)
    return id
  }

  /// An editor has renamed a document to a backup's name and written a new file in its place: that is the document from now on, and the backup is nobody's.
  private func returnFromBackup(to path: SharePath, _ effects: inout [Effect]) throws(CatalogError) {
    guard try owner(of: path) == nil, let backup = path.backup, let asset = try asset(at: backup), asset.isHidden,
      try places(of: asset.id) == [backup]
    else { return }
    try unplace(backup)
    _ = try place(asset.id, at: path)
    try connection.run("UPDATE asset SET hidden = 0 WHERE id = ?", .integer(asset.id))
    effects.append(.restored(asset, at: path))
  }

  /// Another file stands under the asset's name, and nobody saw how it came there: who wanted the old one must look for it itself.
  private func loosen(_ old: Asset) throws(CatalogError) {
    try connection.run(
      "UPDATE bookmark SET asset = 0, volume = ?, inode = ?, birth = ? WHERE asset = ?",
      old.file.values + [.integer(old.id)])
  }

  /// The youngest removed asset that had this file.
  private func removed(_ file: FileID) throws(CatalogError) -> Asset? {
    try one("WHERE volume = ? AND inode = ? AND birth = ? AND state = 3 ORDER BY id DESC LIMIT 1", file.values)
  }

  private func announce(_ id: Int64, at path: SharePath, _ effects: inout [Effect]) throws(CatalogError) {
    if let asset = try asset(id: id) { effects.append(.version(asset, at: path)) }
  }

  /// The known asset stands at `path` now; names that lead elsewhere by now go.
  /// - Returns: whether the name is new to it.
  private func follow(
    _ known: Asset, to path: SharePath, look: (SharePath) -> Finding, _ effects: inout [Effect]
  ) throws(CatalogError) -> Bool {
    let before = try places(of: known.id)
    if before.contains(path) { return false }
    var left: [SharePath] = []
    for place in before {
      switch look(place) {
      case .unknown: continue
      case .file(let file) where file == known.file: continue
      case .file, .absent:
        try unplace(place)
        left.append(place)
      }
    }
    if let other = try place(known.id, at: path), let other = try asset(id: other) {
      effects.append(try places(of: other.id).isEmpty ? .doubtful(other) : .unplaced(other, path))
    }
    if let first = left.first {
      effects.append(.moved(known, from: first, to: path))
      for place in left.dropFirst() { effects.append(.unplaced(known, place)) }
    } else {
      effects.append(.placed(known, path))
    }
    try refreshHidden(known.id, &effects)
    return true
  }
}

extension ContentStamp {
  fileprivate func isLike(_ other: ContentStamp) -> Bool { size == other.size && modified == other.modified }
}
