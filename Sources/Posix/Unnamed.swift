public import CLinux
import Glibc

/// Files that get their name when they are finished.
extension Descriptor {
  /// Makes a file for writing that stands in no folder (O_TMPFILE); unless it is given a name it goes with its last descriptor.
  /// - Throws: EOPNOTSUPP or EISDIR where the file system cannot.
  public static func openUnnamed(in folder: FileName, mode: mode_t) throws(Errno) -> Descriptor {
    try open(folder, O_WRONLY | CInt(O_TMPFILE), mode: mode)
  }

  /// Gives the file a (further) name.
  /// - Throws: EEXIST when something has it already.
  public func link(to path: FileName) throws(Errno) {
    let own = FileName.ofDescriptor(raw)
    try unsafe own.withCString { own throws(Errno) in
      _ = try unsafe path.withCString { path throws(Errno) in
        try check { unsafe linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) }
      }
    }
  }

  /// Locks the file (flock, exclusive) for as long as this descriptor is open.
  /// - Returns: false when somebody else has.
  public func lock() throws(Errno) -> Bool {
    let raw = raw
    do throws(Errno) {
      try check { clinux_lock_file(raw) }
      return true
    } catch {
      if error == .again { return false }
      throw error
    }
  }
}
