import Posix

/// The share's source folder, and what stands below it: links are never followed, and nothing outside is reached.
struct Source: Sendable {
  let folder: SharedDescriptor
  /// The device whose files have volume 0.
  let device: UInt64

  init(_ raw: CInt) throws(Errno) {
    folder = SharedDescriptor(try Descriptor.reopenFolder(raw))
    device = try folder.descriptor.status().device
  }

  func open(_ path: SharePath) throws(Errno) -> Descriptor {
    try Descriptor.openDocument(beneath: folder.raw, path)
  }

  /// - Returns: nil when it is no regular file.
  func status(_ path: SharePath) throws(Errno) -> FileStatus? {
    let status = try Descriptor.openPath(beneath: folder.raw, path).status()
    return status.kind == .regular ? status : nil
  }

  /// Whether somebody writes it without us. Of what we may not read nobody can tell; then the answer is no.
  func isOpenForWriting(_ path: SharePath) throws(Errno) -> Bool {
    do throws(Errno) { return try open(path).isOpenForWriting } catch {
      if error == .access { return false }
      throw error
    }
  }

  func id(_ status: FileStatus) -> FileID { status.id(root: device) }

  /// Whether the folder is there and has anything in it: what is missing from a vanished or empty source was not deleted.
  func isSane() -> Bool {
    do throws(Errno) {
      var listing = try Directory(reading: folder.raw)
      while let entry = try listing.next() { if !entry.name.isDots { return true } }
      return false
    } catch {
      return false
    }
  }
}

extension Errno {
  /// No name leads there (any more).
  var isAbsence: Bool { [.noEntry, .notFolder, .loop].contains(self) }
}
