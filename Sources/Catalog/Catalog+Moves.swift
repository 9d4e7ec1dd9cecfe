public import Contracts
public import Posix

/// Names that come, go and change. Told in the order in which they happened, though a scan may have seen the result before: every one
/// of them can be applied twice.
extension Catalog {
  public func rename(
    _ file: FileID, _ kind: FileKind, from: SharePath, to: SharePath, replaced: FileID?, _ effects: inout [Effect]
  ) throws(CatalogError) {
    // rename(2) between two names of one file does nothing.
    if replaced == file || from == to { return }
    if kind == .folder {
      try moveFolder(from: from, to: to, &effects)
      return
    }
    if kind == .regular, let known = try asset(of: file) {
      let had = try owner(of: from) == known.id
      if had { try unplace(from) }
      let new = try owner(of: to) != known.id
      try claim(to, for: known, announced: false, &effects)
      if had { effects.append(.moved(known, from: from, to: to)) } else if new { effects.append(.placed(known, to)) }
      if !had, !new, let replaced { try succeed(replaced, by: known.id, &effects) }
    } else if kind == .regular, let owner = try asset(at: from) {
      // A file that replaced the asset's own and is still being written: it goes on standing for the asset.
      try unplace(from)
      try claim(to, for: owner, announced: false, &effects)
      effects.append(.moved(owner, from: from, to: to))
    } else if kind == .regular {
      if TemporaryNames.contains(to) {
        try vacate(to, &effects)
        if !TemporaryNames.contains(from) { effects.append(.strangerRemoved(from)) }
      } else if !TemporaryNames.contains(from) {
        effects.append(.strangerMoved(from: from, to: to))
        effects.append(.look(to, replaced: replaced))
      }
      // From a temporary name to a real one: whoever has that name keeps it, for the settled change that follows.
    } else {
      try vacate(to, &effects)
    }
    try free(from, &effects)
  }

  public func exchange(
    _ first: Document, _ firstKind: FileKind, _ second: Document, _ secondKind: FileKind, _ effects: inout [Effect]
  ) throws(CatalogError) {
    if firstKind == .regular, secondKind == .regular {
      if try isSave(first, second) { return }
      if try isSave(second, first) { return }
    }
    // No path begins with a slash, so nothing else is there.
    let aside = [UInt8(ascii: "/")]
    try shift(first.path.bytes, to: aside)
    try shift(second.path.bytes, to: first.path.bytes)
    try shift(aside, to: second.path.bytes)
    for (now, kind, before) in [(first, firstKind, second.path), (second, secondKind, first.path)] {
      switch kind {
      case .folder:
        effects.append(.folderMoved(from: before, to: now.path))
        try crossed(from: before, to: now.path, &effects)
      case .regular:
        if let asset = try asset(of: now.file) {
          try markNames(asset.id)
          effects.append(.moved(asset, from: before, to: now.path))
          try refreshHidden(asset.id, &effects)
        } else if !TemporaryNames.contains(now.path) {
          effects.append(.look(now.path))
        }
      default: break
      }
    }
  }

  /// A program has written the new document under a temporary name, and exchanged it with the old one: the asset stays where it is, and the settled
  /// change that follows gives it its new file.
  private func isSave(_ new: Document, _ old: Document) throws(CatalogError) -> Bool {
    guard !TemporaryNames.contains(new.path), TemporaryNames.contains(old.path), try asset(of: new.file) == nil,
      let known = try asset(of: old.file)
    else { return false }
    return try owner(of: new.path) == known.id
  }

  public func link(_ document: Document, _ effects: inout [Effect]) throws(CatalogError) {
    if let known = try asset(of: document.file) {
      try claim(document.path, for: known, &effects)
    } else if !TemporaryNames.contains(document.path) {
      effects.append(.look(document.path))
    }
  }

  public func unlink(
    _ document: Document, _ kind: FileKind, wasLast: Bool, _ effects: inout [Effect]
  ) throws(CatalogError) {
    switch kind {
    case .folder:
      // Only an empty folder can go: what we think stands in it is gone.
      for (path, _) in try places(within: document.path) { try vacate(path, &effects) }
    case .regular:
      let known = try asset(of: document.file)
      if let known, wasLast {
        // The old file after an exchange, gone before the new one has settled: another stands for the asset by now.
        if TemporaryNames.contains(document.path), try owner(of: document.path) != known.id,
          try !places(of: known.id).isEmpty
        {
          return
        }
        try remove(known, &effects)
      } else if known == nil, try owner(of: document.path) == nil {
        if !TemporaryNames.contains(document.path) { effects.append(.strangerRemoved(document.path)) }
      } else {
        try vacate(document.path, &effects)
      }
      try free(document.path, &effects)
    default:
      try vacate(document.path, &effects)
    }
  }

  /// Makes `path` a name of the asset; whoever had it has been replaced, and goes when that was its only name.
  func claim(
    _ path: SharePath, for asset: Asset, announced: Bool = true, _ effects: inout [Effect]
  ) throws(CatalogError) {
    if try owner(of: path) == asset.id { return }
    try vacate(path, to: asset.id, &effects)
    _ = try place(asset.id, at: path)
    if announced { effects.append(.placed(asset, path)) }
    try refreshHidden(asset.id, &effects)
  }

  /// Nobody has the name any more; an asset goes with its only name.
  /// - Parameter successor: who has it from now on, by a rename over it.
  private func vacate(
    _ path: SharePath, to successor: Int64? = nil, _ effects: inout [Effect]
  ) throws(CatalogError) {
    guard let asset = try asset(at: path) else { return }
    if try places(of: asset.id).count == 1 {
      try remove(asset, &effects)
      if let successor { try rebind(asset.id, to: successor) }
    } else {
      try unplace(path)
      effects.append(.unplaced(asset, path))
      try refreshHidden(asset.id, &effects)
    }
  }

  /// So do programs save a document, under whatever name they have made the new one: whoever wants the document wants that.
  private func rebind(_ old: Int64, to new: Int64) throws(CatalogError) {
    try connection.run("UPDATE bookmark SET asset = ? WHERE asset = ?", .integer(new), .integer(old))
  }

  /// A scan saw a rename's outcome before we were told of it, and could not know that one file took the other's place.
  private func succeed(_ replaced: FileID, by new: Int64, _ effects: inout [Effect]) throws(CatalogError) {
    if let old = try asset(of: replaced) {
      guard try places(of: old.id).isEmpty else { return }
      try remove(old, &effects)
      try rebind(old.id, to: new)
    }
    try connection.run(
      "UPDATE bookmark SET asset = ? WHERE asset = 0 AND volume = ? AND inode = ? AND birth = ?",
      [.integer(new)] + replaced.values)
  }

  /// The download that `x.aria2` spoke of is finished when that file goes.
  private func free(_ path: SharePath, _ effects: inout [Effect]) throws(CatalogError) {
    if let finished = path.finishedDownload { effects.append(.look(finished)) }
  }

  private func moveFolder(from: SharePath, to: SharePath, _ effects: inout [Effect]) throws(CatalogError) {
    // A folder that is replaced was empty.
    for (path, _) in try places(within: to) { try vacate(path, &effects) }
    try shift(from.bytes, to: to.bytes)
    effects.append(.folderMoved(from: from, to: to))
    try crossed(from: from, to: to, &effects)
  }

  /// A folder may have become a temporary one, or a real one whose documents we have never looked at.
  private func crossed(from: SharePath, to: SharePath, _ effects: inout [Effect]) throws(CatalogError) {
    let wasTemporary = TemporaryNames.contains(from)
    let isTemporary = TemporaryNames.contains(to)
    guard wasTemporary != isTemporary else { return }
    for asset in Set(try places(within: to).map(\.asset)).sorted() { try refreshHidden(asset, &effects) }
    if wasTemporary { effects.append(.scan(to)) }
  }

  /// Renames a path and all below it, as bytes: two range updates, whatever the number of documents.
  private func shift(_ from: [UInt8], to: [UInt8]) throws(CatalogError) {
    try connection.run("UPDATE place SET path = ? WHERE path = ?", .blob(to), .blob(from))
    try connection.run(
      "UPDATE place SET path = CAST(? || substr(path, ?) AS BLOB) WHERE path > ? AND path < ?", .blob(to),
      .integer(from.count + 1), .blob(from + [UInt8(ascii: "/")]), .blob(from + [UInt8(ascii: "0")]))
  }
}

extension SharePath {
  private static let downloadMark = Array(".aria2".utf8)

  /// What `x.mp4.aria2` is the mark of: `x.mp4`, unfinished as long as the mark is there.
  public var finishedDownload: SharePath? {
    guard bytes.count > Self.downloadMark.count, bytes.suffix(Self.downloadMark.count).elementsEqual(Self.downloadMark)
    else { return nil }
    return SharePath(Array(bytes.dropLast(Self.downloadMark.count)))
  }

  /// The name of the mark; nil for the root and for names too long to have one.
  public var downloadMark: SharePath? {
    guard let name, name.count + Self.downloadMark.count <= 255 else { return nil }
    return SharePath(bytes + Self.downloadMark)
  }

  /// Where editors (vim, Emacs) leave the file that they are about to write anew; nil for the root and for names too long to have one.
  var backup: SharePath? {
    guard let name, name.count < 255 else { return nil }
    return SharePath(bytes + [UInt8(ascii: "~")])
  }
}
