import Glibc
import Posix

/// A copy that is not to be seen before it is whole. It has no name where the file system can do that: then nothing of it can stay, however the
/// command ends. Elsewhere it has a hidden one, and is locked as long as somebody works at it; the next import into the folder takes away
/// what a killed one has left.
struct Aside: ~Copyable {
  let file: Descriptor
  /// The hidden name.
  let name: FileName?

  private static let prefix = ".sharefs-import-"

  static func make(in folder: FileName, mode: mode_t) throws(Errno) -> Aside {
    do throws(Errno) {
      return Aside(file: try Descriptor.openUnnamed(in: folder, mode: mode), name: nil)
    } catch {
      // The second is what file systems answer that have never heard of it: they see a folder opened for writing.
      guard error == .notSupported || error == .isFolder else { throw error }
    }
    sweep(folder)
    while true {
      let name = folder.appending("\(prefix)\(ProcessTable.own)-\(UInt32.random(in: 0 ... .max))")
      let file = try Descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
      // Another import's sweep may have come first.
      if try file.lock(), try file.status().links > 0 { return Aside(file: file, name: name) }
    }
  }

  /// Gives it its name.
  /// - Throws: EEXIST when something has that already.
  func appear(at path: FileName) throws(Errno) {
    if let name { try Files.renameToFree(name, to: path) } else { try file.link(to: path) }
  }

  consuming func close() throws(Errno) { try file.close() }

  /// What cannot be looked at is another user's, whose own imports see to it.
  private static func sweep(_ folder: FileName) {
    for name in (try? Files.names(in: folder)) ?? [] where name.hasPrefix(".sharefs-import-") {
      let path = folder.appending(name)
      guard let left = try? Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), (try? left.lock()) == true
      else { continue }
      try? Files.remove(path)
    }
  }
}
