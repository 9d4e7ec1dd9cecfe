public import CLinux
import Glibc

/// Names in the tree of files: made, moved, removed, followed.
public enum Files {
  public static func makeFolder(_ path: FileName, mode: mode_t = 0o777) throws(Errno) {
    _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe mkdir(path, mode) } }
  }

  /// As `mkdir -p`: folders that are there stay as they are.
  public static func makeFolders(_ path: FileName, mode: mode_t = 0o777) throws(Errno) {
    do throws(Errno) {
      try makeFolder(path, mode: mode)
    } catch {
      switch error {
      case .exists:
        guard try status(path).kind == .folder else { throw .notFolder }
      case .noEntry:
        guard let parent = path.parent, parent != path else { throw error }
        try makeFolders(parent, mode: mode)
        do throws(Errno) { try makeFolder(path, mode: mode) } catch { if error != .exists { throw error } }
      default: throw error
      }
    }
  }

  public static func remove(_ path: FileName) throws(Errno) {
    _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe unlink(path) } }
  }

  public static func removeFolder(_ path: FileName) throws(Errno) {
    _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe rmdir(path) } }
  }

  public static func rename(_ old: FileName, to new: FileName) throws(Errno) {
    try unsafe old.withCString { old throws(Errno) in
      _ = try unsafe new.withCString { new throws(Errno) in try check { unsafe Glibc.rename(old, new) } }
    }
  }

  /// Puts `bytes` under a name in one step: readers see the old content or the new one, whole.
  public static func replace(_ path: FileName, with bytes: [UInt8], mode: mode_t = 0o600) throws(Errno) {
    let aside = FileName(Array(path.bytes) + Array(".new".utf8))
    let file = try Descriptor.open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
    try file.write(bytes)
    try file.synchronize()
    try file.close()
    try rename(aside, to: path)
  }

  /// The whole content; a longer file is EMSGSIZE.
  public static func read(_ path: FileName, limit: Int) throws(Errno) -> [UInt8] {
    // Without waiting: in its place may stand somebody's FIFO.
    let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
    return try file.readAll(limit: limit)
  }

  /// As `read`, for files of /proc that have no positions.
  public static func readStream(_ path: FileName, limit: Int) throws(Errno) -> [UInt8] {
    let file = try Descriptor.open(path, O_RDONLY)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while bytes.count < limit {
      let got = try unsafe chunk.withUnsafeMutableBufferPointer { chunk throws(Errno) in
        try unsafe file.read(into: UnsafeMutableRawBufferPointer(chunk))
      }
      if got == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<got])
    }
    throw .messageTooLong
  }

  /// Of a path, links followed.
  public static func status(_ path: FileName) throws(Errno) -> FileStatus {
    try Descriptor.open(path, O_PATH).status()
  }

  /// Whether this process may, by its effective user and groups.
  /// - Parameter mode: R_OK, W_OK, X_OK.
  public static func mayAccess(_ path: FileName, _ mode: CInt) -> Bool {
    unsafe path.withCString { path in unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 }
  }

  /// The absolute path without links and dots; everything named must be there.
  public static func resolve(_ path: FileName) throws(Errno) -> FileName {
    try unsafe path.withCString { path throws(Errno) in
      guard let real = unsafe realpath(path, nil) else { throw Errno.last }
      defer { unsafe free(real) }
      return unsafe FileName(cString: real)
    }
  }

  /// What a symbolic link says.
  public static func target(_ path: FileName) throws(Errno) -> FileName {
    var buffer = [UInt8](repeating: 0, count: 8192)
    let length = try unsafe path.withCString { path throws(Errno) in
      try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
        try check { unsafe clinux_readlink(path, buffer.baseAddress, buffer.count) }
      }
    }
    return FileName(buffer[..<length])
  }

  /// The names in a folder but for the dots, in byte order.
  public static func names(in folder: FileName) throws(Errno) -> [FileName] {
    var names: [FileName] = []
    var listing = Directory(try Descriptor.open(folder, O_RDONLY | O_DIRECTORY))
    while let entry = try listing.next() {
      if !entry.name.isDots { names.append(entry.name) }
    }
    return names.sorted()
  }

  public static func setPermissions(_ path: FileName, _ mode: mode_t) throws(Errno) {
    _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe chmod(path, mode) } }
  }

  /// What tells the file system that a descriptor stands on from others, also after the next start where the file system has such a number.
  public static func fileSystemID(_ raw: CInt) throws(Errno) -> UInt64 {
    var facts = statfs()
    try check { unsafe fstatfs(raw, &facts) }
    let (low, high) = facts.f_fsid.__val
    return UInt64(UInt32(bitPattern: high)) << 32 | UInt64(UInt32(bitPattern: low))
  }
}

extension FileName {
  /// Without the last component; nil for one without a slash. The parent of "/" is "/".
  public var parent: FileName? {
    var kept = bytes
    while kept.count > 1, kept.last == UInt8(ascii: "/") { kept.removeLast() }
    guard let slash = kept.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return FileName(slash == kept.startIndex ? kept[...slash] : kept[..<slash])
  }

  /// The last component; the whole where there is no slash.
  public var lastComponent: FileName {
    var kept = bytes
    while kept.count > 1, kept.last == UInt8(ascii: "/") { kept.removeLast() }
    guard let slash = kept.lastIndex(of: UInt8(ascii: "/")), kept.count > 1 else { return FileName(kept) }
    return FileName(kept[(slash + 1)...])
  }

  public var isAbsolute: Bool { bytes.first == UInt8(ascii: "/") }

  /// This folder's path and a name in it.
  public func appending(_ name: FileName) -> FileName {
    let slash = bytes.last == UInt8(ascii: "/") || isEmpty ? [] : [UInt8(ascii: "/")]
    return FileName(Array(bytes) + slash + Array(name.bytes))
  }

  public func appending(_ name: String) -> FileName { appending(FileName(name)) }

  /// Whether an absolute path is `folder` or stands anywhere below it, by its letters alone.
  public func isWithin(_ folder: FileName) -> Bool {
    if self == folder || folder.bytes.elementsEqual("/".utf8) { return true }
    let position = bytes.startIndex + folder.count
    return bytes.count > folder.count && bytes.starts(with: folder.bytes) && bytes[position] == UInt8(ascii: "/")
  }

  /// As text, when the bytes are valid UTF-8.
  public var text: String? { String(validating: bytes, as: UTF8.self) }
}
