/// The parts of the kernel's FUSE protocol (7.31 to 7.45, `linux/fuse.h`) that we speak ourselves, because libfuse 3.14 does not
/// or because the order of things matters. All fields are of the host's byte order.
enum Kernel {
  /// Operation codes.
  enum Opcode {
    static let setattr: UInt32 = 4
    static let read: UInt32 = 15
    static let write: UInt32 = 16
    static let fsync: UInt32 = 20
    static let initialize: UInt32 = 26
    static let opendir: UInt32 = 27
    static let readdir: UInt32 = 28
    static let fsyncdir: UInt32 = 30
    static let fallocate: UInt32 = 43
    static let readdirplus: UInt32 = 44
    static let lseek: UInt32 = 46
    static let copyFileRange: UInt32 = 47
    static let tmpfile: UInt32 = 51
    static let statx: UInt32 = 52
  }

  /// `struct fuse_in_header`: length u32, opcode u32, unique u64, nodeid u64, uid u32, gid u32, pid u32, extensions u16, padding u16.
  enum InHeader {
    static let size = 40
    static let opcode = 4
    static let unique = 8
    static let node = 16
    static let user = 24
    static let group = 28
    static let process = 32
  }

  /// `struct fuse_statx_in`: getattr_flags u32, reserved u32, handle u64, flags u32, mask u32.
  enum StatxIn {
    static let flags = 0
    static let handle = 8
    static let size = 24
  }

  /// `struct fuse_create_in`: flags u32, mode u32, umask u32, open_flags u32.
  enum CreateIn {
    static let flags = 0
    static let mode = 4
    static let mask = 8
    static let size = 16
  }

  /// `struct fuse_write_in`: handle u64, offset u64, count u32, write_flags u32, lock_owner u64, flags u32 (as of open), padding u32.
  enum WriteIn {
    static let flags = 32
    static let size = 40
  }

  /// `struct fuse_out_header`: length u32, error s32, unique u64.
  enum OutHeader {
    static let size = 16
    static let error = 4
    static let unique = 8
  }

  /// `struct fuse_init_in`, from its start: major u32, minor u32, max_readahead u32, flags u32, flags2 u32.
  enum InitIn {
    static let flags = 12
    static let flags2 = 16
  }

  /// `struct fuse_init_out`, from its start: major u32, minor u32, max_readahead u32, flags u32, max_background u16,
  /// congestion_threshold u16, max_write u32, time_gran u32, max_pages u16, map_alignment u16, flags2 u32, max_stack_depth u32.
  enum InitOut {
    static let flags = 12
    static let flags2 = 32
    static let stackDepth = 36
    static let size = 64
  }

  /// A lifetime in whole seconds and nanoseconds.
  static func time(_ lifetime: Double) -> (seconds: UInt64, nanoseconds: UInt32) {
    let whole = lifetime.rounded(.down)
    return (UInt64(whole), UInt32((lifetime - whole) * 1e9))
  }

  /// FUSE_INIT_EXT: the upper half of the flags, flags2, is valid.
  static let initExtended: UInt32 = 1 << 30
  /// FUSE_HANDLE_KILLPRIV_V2: suid bits are cleared by us where told to; without it every write costs a GETXATTR.
  static let handleKillPrivV2: UInt32 = 1 << 28
  /// FUSE_PASSTHROUGH, bit 37 of the flags.
  static let passthrough2: UInt32 = 1 << 5
  /// FUSE_DIRECT_IO_ALLOW_MMAP, bit 36 of the flags: what is opened for direct I/O can be mapped all the same.
  static let directIOMapped2: UInt32 = 1 << 4

  /// FUSE_NO_EXPORT_SUPPORT, bit 38: a file handle cannot be told, rather than be told and found stale once the kernel has forgotten its inode.
  static let noExportSupport2: UInt32 = 1 << 6

  /// `FATTR_SIZE` in `struct fuse_setattr_in`'s first field.
  static let setSize: UInt32 = 1 << 3

  /// FOPEN_ flags of `struct fuse_open_out`: fh u64, open_flags u32, backing_id s32.
  static let openDirectIO: UInt32 = 1 << 0
  static let openKeepCache: UInt32 = 1 << 1
  static let openCacheFolder: UInt32 = 1 << 3
  static let openNoFlush: UInt32 = 1 << 5
  static let openPassthrough: UInt32 = 1 << 7

  /// FUSE_WRITE_KILL_SUIDGID, in a write's flags.
  static let writeKillSuid: UInt32 = 1 << 2
  /// FUSE_OPEN_KILL_SUIDGID, in an open's flags.
  static let openKillSuid: UInt32 = 1 << 0

  /// `FUSE_DEV_IOC_BACKING_OPEN`: _IOW(229, 1, struct {s32 fd; u32 flags; u64 padding}).
  static let backingOpen: UInt = 0x4010_e501
  /// `FUSE_DEV_IOC_BACKING_CLOSE`: _IOW(229, 2, u32).
  static let backingClose: UInt = 0x4004_e502
}

extension [UInt8] {
  /// Appends a field of a message, in the host's byte order.
  mutating func append(integer value: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: value) { unsafe append(contentsOf: $0) }
  }
}
