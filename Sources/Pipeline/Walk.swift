import Catalog
import Contracts
import Posix

/// One walk through the source folder, comparing what stands there with the catalog.
struct Walk: ~Copyable {
  private let source: Source
  private let reader: CatalogReader
  private let isStopping: () -> Bool
  private(set) var files = 0
  /// Names in the root folder.
  private(set) var entries = 0
  private(set) var volumes: Set<UInt64> = [0]
  private(set) var unreadable: [(SharePath, Errno)] = []
  /// Paths whose asset had another file: it may stand elsewhere, so they are told last.
  private var replaced: [SharePath] = []

  init(source: Source, reader: CatalogReader, isStopping: @escaping () -> Bool) {
    self.source = source
    self.reader = reader
    self.isStopping = isStopping
  }

  /// - Parameter found: told of what the catalog does not know as it is; false ends the walk.
  mutating func run(
    _ root: SharePath, progress: (Int) -> Void, found: (SharePath) -> Bool
  ) throws(CatalogError) {
    if TemporaryNames.contains(root) { return }
    var folders = [root]
    while let folder = folders.popLast() {
      for (path, status) in list(folder, &folders) {
        if isStopping() { return }
        files += 1
        if try !compare(path, status, found) { return }
      }
      progress(files)
    }
    for path in replaced where !found(path) { return }
  }

  /// The regular files in a folder; folders in it are put on the list.
  private mutating func list(_ folder: SharePath, _ folders: inout [SharePath]) -> [(SharePath, FileStatus)] {
    var regular: [(SharePath, FileStatus)] = []
    do throws(Errno) {
      var listing = Directory(try Descriptor.openFolder(beneath: source.folder.raw, folder))
      while let entry = try listing.next() {
        if entry.name.isDots { continue }
        if folder.isRoot { entries += 1 }
        if TemporaryNames.contains(entry.name) { continue }
        let path = folder.appending(entry.name)
        if entry.kind == .folder { folders.append(path) }
        guard entry.kind == .regular || entry.kind == nil else { continue }
        do throws(Errno) {
          let status = try FileStatus.of(entry.name, in: listing.descriptor.raw)
          if status.kind == .regular { regular.append((path, status)) }
          if status.kind == .folder { folders.append(path) }
        } catch {
          if !error.isAbsence { unreadable.append((path, error)) }
        }
      }
    } catch {
      // One that went by itself is no matter; the share's own folder is.
      if !error.isAbsence || folder.isRoot { unreadable.append((folder, error)) }
    }
    return regular
  }

  private mutating func compare(
    _ path: SharePath, _ status: FileStatus, _ found: (SharePath) -> Bool
  ) throws(CatalogError) -> Bool {
    let file = source.id(status)
    volumes.insert(file.volume)
    let owner = try reader.asset(at: path)
    if let owner, owner.file == file {
      return owner.stamp == status.stamp ? true : found(path)
    }
    if owner != nil, try reader.asset(of: file) == nil {
      replaced.append(path)
      return true
    }
    return found(path)
  }
}
