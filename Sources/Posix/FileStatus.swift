public import CLinux
import Glibc

public enum FileKind: UInt8, Sendable {
  case regular, folder, link, fifo, socket, characterDevice, blockDevice

  /// The type bits of st_mode.
  public var bits: mode_t {
    switch self {
    case .regular: S_IFREG
    case .folder: S_IFDIR
    case .link: S_IFLNK
    case .fifo: S_IFIFO
    case .socket: S_IFSOCK
    case .characterDevice: S_IFCHR
    case .blockDevice: S_IFBLK
    }
  }

  public init?(bits: mode_t) {
    switch bits & S_IFMT {
    case S_IFREG: self = .regular
    case S_IFDIR: self = .folder
    case S_IFLNK: self = .link
    case S_IFIFO: self = .fifo
    case S_IFSOCK: self = .socket
    case S_IFCHR: self = .characterDevice
    case S_IFBLK: self = .blockDevice
    default: return nil
    }
  }
}

/// Nanoseconds since 1970, as files have them.
public struct FileTime: Hashable, Comparable, Sendable {
  public let nanoseconds: Int64
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Times outside of the years 1678 to 2262 are held at that bound: the comparison of versions needs no more.
  public init(seconds: Int64, nanoseconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, over) = product.addingReportingOverflow(nanoseconds)
    self.nanoseconds = overflow || over ? (seconds < 0 ? .min : .max) : sum
  }

  public static func < (left: FileTime, right: FileTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// Who a file is, whatever it is called: the file system it stands on (0 for the one of the share's root), its inode and its birth
/// time, which tells a new file with a recycled inode number from the old one.
public struct FileID: Hashable, Sendable {
  public let volume: UInt64
  public let inode: UInt64
  /// 0 where the file system keeps none.
  public let birth: FileTime

  public init(volume: UInt64, inode: UInt64, birth: FileTime) {
    self.volume = volume
    self.inode = inode
    self.birth = birth
  }
}

/// What tells two contents of one file apart without reading it.
public struct ContentStamp: Hashable, Sendable {
  public let size: Int64
  public let modified: FileTime
  public let changed: FileTime

  public init(size: Int64, modified: FileTime, changed: FileTime) {
    self.size = size
    self.modified = modified
    self.changed = changed
  }
}

/// What statx(2) tells of a file.
public struct FileStatus: Sendable {
  public var kind: FileKind
  /// Without the type bits.
  public var permissions: mode_t
  /// Whether it acts as its owner or group when it is run.
  public var hasSetID: Bool { permissions & (S_ISUID | S_ISGID) != 0 }
  public var device: UInt64
  public var inode: UInt64
  public var links: UInt64
  public var user: uid_t
  public var group: gid_t
  public var deviceNumber: UInt64
  /// Bytes.
  public var size: Int64
  /// Of 512 bytes.
  public var blocks: Int64
  /// Bytes, the preferred size of an I/O.
  public var blockSize: Int32
  public var accessSeconds: Int64
  public var accessNanoseconds: UInt32
  public var modifiedSeconds: Int64
  public var modifiedNanoseconds: UInt32
  public var changedSeconds: Int64
  public var changedNanoseconds: UInt32
  public var birth: FileTime
  public var isImmutable: Bool
  public var isAppendOnly: Bool

  public var modified: FileTime { FileTime(seconds: modifiedSeconds, nanoseconds: Int64(modifiedNanoseconds)) }
  public var changed: FileTime { FileTime(seconds: changedSeconds, nanoseconds: Int64(changedNanoseconds)) }
  public var stamp: ContentStamp { ContentStamp(size: size, modified: modified, changed: changed) }

  /// - Parameter root: the device of the share's root, whose files have volume 0.
  public func id(root: UInt64) -> FileID {
    FileID(volume: device == root ? 0 : device, inode: inode, birth: birth)
  }

  /// Of an open file, also an O_PATH one, a symbolic link itself included.
  public static func of(_ raw: CInt) throws(Errno) -> FileStatus { try at(raw, FileName(""), AT_EMPTY_PATH) }

  /// Kind and size of an open file by a call that a caged process may make: statx(2) and its like are refused there.
  public static func kindAndSize(of raw: CInt) throws(Errno) -> (kind: FileKind?, size: Int64) {
    var mode: CUnsignedInt = 0
    var size: CLongLong = 0
    try check { unsafe clinux_fstat(raw, &mode, &size) }
    return (FileKind(bits: mode_t(mode)), size)
  }

  /// Of a name in a folder, a symbolic link itself.
  public static func of(_ name: FileName, in folder: CInt) throws(Errno) -> FileStatus {
    try at(folder, name, AT_SYMLINK_NOFOLLOW)
  }

  /// Of a path, links followed.
  public static func of(path: String) throws(Errno) -> FileStatus { try at(AT_FDCWD, FileName(path), 0) }

  private static func at(_ folder: CInt, _ name: FileName, _ flags: CInt) throws(Errno) -> FileStatus {
    var raw = statx()
    try unsafe name.withCString { name throws(Errno) in
      _ = try check { unsafe clinux_statx(folder, name, flags, &raw) }
    }
    return FileStatus(raw)
  }

  /// A regular file of no size, of root, of no time.
  public static var empty: FileStatus {
    var raw = statx()
    raw.stx_mode = 0o100000
    return FileStatus(raw)
  }

  private init(_ raw: statx) {
    // A type that Linux does not have cannot be served; it is shown as a socket, which nobody reads.
    kind = FileKind(bits: mode_t(raw.stx_mode)) ?? .socket
    permissions = mode_t(raw.stx_mode) & 0o7777
    device = UInt64(makedev(raw.stx_dev_major, raw.stx_dev_minor))
    inode = raw.stx_ino
    links = UInt64(raw.stx_nlink)
    user = raw.stx_uid
    group = raw.stx_gid
    deviceNumber = UInt64(makedev(raw.stx_rdev_major, raw.stx_rdev_minor))
    size = Int64(clamping: raw.stx_size)
    blocks = Int64(clamping: raw.stx_blocks)
    blockSize = Int32(clamping: raw.stx_blksize)
    accessSeconds = raw.stx_atime.tv_sec
    accessNanoseconds = raw.stx_atime.tv_nsec
    modifiedSeconds = raw.stx_mtime.tv_sec
    modifiedNanoseconds = raw.stx_mtime.tv_nsec
    changedSeconds = raw.stx_ctime.tv_sec
    changedNanoseconds = raw.stx_ctime.tv_nsec
    birth =
      raw.stx_mask & UInt32(STATX_BTIME) != 0
      ? FileTime(seconds: raw.stx_btime.tv_sec, nanoseconds: Int64(raw.stx_btime.tv_nsec)) : FileTime(nanoseconds: 0)
    isImmutable = raw.stx_attributes & UInt64(STATX_ATTR_IMMUTABLE) != 0
    isAppendOnly = raw.stx_attributes & UInt64(STATX_ATTR_APPEND) != 0
  }
}

/// Linux's makedev(3), a macro in C.
public func makedev(_ major: UInt32, _ minor: UInt32) -> UInt64 {
  (UInt64(major & 0xffff_f000) << 32) | (UInt64(major & 0xfff) << 8) | (UInt64(minor & 0xffff_ff00) << 12)
    | UInt64(minor & 0xff)
}
