import Contracts
import Posix

/// The PNG files: `<cache>/<2 hex>/<asset>-<version>.png` and `<cache>/placeholders/<W>x<H>-<kind>.png`. Written aside and renamed, so a
/// name always leads to a whole picture. Any thread may call; names differ by asset and version, so nobody meets another's file.
final class ThumbnailStore: Sendable {
  private let folder: FileName
  private let box: Box
  /// Bytes of each placeholder that is there.
  private let sizes = Monitor<[PlaceholderKind: Int64]>([:])

  init(folder: FileName, box: Box) {
    self.folder = folder
    self.box = box
  }

  private func shelf(_ asset: Int64) -> FileName {
    let digits = String(UInt8(truncatingIfNeeded: asset), radix: 16)
    return folder.appending(digits.count == 1 ? "0" + digits : digits)
  }

  private func file(_ asset: Int64, _ version: Int64) -> FileName { shelf(asset).appending("\(asset)-\(version).png") }

  private var placeholders: FileName { folder.appending("placeholders") }

  private func file(_ kind: PlaceholderKind) -> FileName {
    placeholders.appending("\(box.width)x\(box.height)-\(kind).png")
  }

  func write(_ bytes: [UInt8], asset: Int64, version: Int64) throws(Errno) {
    try write(bytes, to: file(asset, version), in: shelf(asset))
  }

  func write(_ bytes: [UInt8], _ kind: PlaceholderKind) throws(Errno) {
    try write(bytes, to: file(kind), in: placeholders)
    sizes.withLock { $0[kind] = Int64(bytes.count) }
  }

  private func write(_ bytes: [UInt8], to path: FileName, in folder: FileName) throws(Errno) {
    let aside = FileName(Array(path.bytes) + Array(".\(Thread.currentID).part".utf8))
    let file: Descriptor
    do throws(Errno) {
      file = try Descriptor.createFile(aside)
    } catch {
      guard error == .noEntry else { throw error }
      // The first picture of this folder, or somebody emptied the cache.
      try Files.makeFolders(folder, mode: 0o700)
      file = try Descriptor.createFile(aside)
    }
    do throws(Errno) {
      try file.write(bytes)
      // Without fsync: what a power cut takes is noticed by its size when it is opened, and made again.
      try file.close()
      try Files.rename(aside, to: path)
    } catch {
      forget(aside)
      throw error
    }
  }

  func remove(asset: Int64, version: Int64) { forget(file(asset, version)) }

  /// What cannot be removed now is an orphan that the sweep of the next start finds.
  private func forget(_ path: FileName) {
    do throws(Errno) { try Files.remove(path) } catch {
      // It was not there, or it waits for the sweep.
    }
  }

  /// - Throws: ENOENT also when it is not the file that was stored.
  func open(_ picture: Picture) throws(Errno) -> Descriptor {
    let path = picture.placeholder.map { self.file($0) } ?? self.file(picture.asset, picture.version)
    let stored = try Descriptor.openFile(path)
    guard try stored.status().size == picture.size, picture.size > 0 else { throw .noEntry }
    return stored
  }

  /// Bytes; nil while there is no such file.
  func size(_ kind: PlaceholderKind) -> Int64? { sizes.withLock { $0[kind] } }

  func forgetSize(_ kind: PlaceholderKind) { sizes.withLock { $0[kind] = nil } }

  /// Looks which placeholders are there.
  /// - Returns: those that are missing.
  func findPlaceholders() -> [PlaceholderKind] {
    var found: [PlaceholderKind: Int64] = [:]
    for kind in PlaceholderKind.allCases {
      do throws(Errno) {
        let status = try Files.status(file(kind))
        if status.kind == .regular && status.size > 0 { found[kind] = status.size }
      } catch {
        // Whatever the reason, it is drawn again.
      }
    }
    sizes.withLock { [found] in $0 = found }
    return PlaceholderKind.allCases.filter { found[$0] == nil }
  }

  /// One stored picture's name.
  struct Entry: Hashable {
    let asset: Int64
    let version: Int64
  }

  /// All stored pictures, and the paths of what is no picture of ours.
  func entries() throws(Errno) -> (pictures: Set<Entry>, others: [FileName]) {
    var pictures: Set<Entry> = []
    var others: [FileName] = []
    for number in 0..<256 {
      let shelf = shelf(Int64(number))
      let names: [FileName]
      do throws(Errno) { names = try Files.names(in: shelf) } catch {
        if error == .noEntry { continue }
        throw error
      }
      for name in names {
        if let entry = Entry(name) { pictures.insert(entry) } else { others.append(shelf.appending(name)) }
      }
    }
    return (pictures, others)
  }

  /// What has not been touched since then is not being written, and the catalog knows what it is by now.
  static var oldestInTheMaking: FileTime { FileTime(nanoseconds: Clock.wall().nanoseconds - Clock.seconds(60)) }

  /// Removes a file that nobody has touched since `time`: whoever is writing now keeps his.
  func sweep(_ path: FileName, ifOlderThan time: FileTime) {
    do throws(Errno) {
      if try Files.status(path).modified < time { try Files.remove(path) }
    } catch {
      // It went by itself, or the next start tries again.
    }
  }

  func path(of entry: Entry) -> FileName { file(entry.asset, entry.version) }
}

extension ThumbnailStore.Entry {
  /// From `<asset>-<version>.png`.
  fileprivate init?(_ name: FileName) {
    guard let text = String(validating: name.bytes, as: UTF8.self), text.hasSuffix(".png") else { return nil }
    let parts = text.dropLast(4).split(separator: "-")
    guard parts.count == 2, let asset = Int64(parts[0]), let version = Int64(parts[1]) else { return nil }
    self.init(asset: asset, version: version)
  }
}
