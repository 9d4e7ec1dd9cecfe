public import CLinux
import Glibc

/// The few ways in which documents and files of our own are opened outside of the filesystem's operations.
extension Descriptor {
  /// Opens a document below `folder` for reading, without following links, without blocking on a pipe, and without a trace in
  /// its access time where we may.
  public static func openDocument(beneath folder: CInt, _ path: SharePath) throws(Errno) -> Descriptor {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    do throws(Errno) {
      return try open(beneath: folder, path, flags | O_NOATIME)
    } catch {
      guard error == .notPermitted else { throw error }
      return try open(beneath: folder, path, flags)
    }
  }

  /// What a path below `folder` leads to, a link itself, only to be asked about.
  public static func openPath(beneath folder: CInt, _ path: SharePath) throws(Errno) -> Descriptor {
    try open(beneath: folder, path, O_PATH | O_NOFOLLOW)
  }

  /// A folder below `folder`, for listing.
  public static func openFolder(beneath folder: CInt, _ path: SharePath) throws(Errno) -> Descriptor {
    try open(beneath: folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Another descriptor of the same folder, which cannot be read through.
  public static func reopenFolder(_ raw: CInt) throws(Errno) -> Descriptor {
    try open(at: raw, FileName("."), O_PATH | O_DIRECTORY)
  }

  /// Opens a file of ours for reading; a link is refused (ELOOP).
  public static func openFile(_ path: FileName) throws(Errno) -> Descriptor {
    try open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Makes a file of ours, or empties it; a link is refused (ELOOP).
  public static func createFile(_ path: FileName, mode: mode_t = 0o600) throws(Errno) -> Descriptor {
    try open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
  }

  /// Sees to it that a file is there, with this mode when it is made. Nothing is opened: closing any descriptor of a file takes away the locks
  /// (fcntl) that this process has on it.
  public static func ensureFile(_ path: FileName, mode: mode_t = 0o600) throws(Errno) {
    do throws(Errno) {
      _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe mknod(path, S_IFREG | mode, 0) } }
    } catch .exists {
      // It is there.
    }
  }
}

extension Errno {
  public static let connectionReset = Errno(ECONNRESET)
  public static let tooManyOpenInAll = Errno(ENFILE)
}
