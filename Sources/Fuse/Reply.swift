public import CFuse
import CLinux
public import Posix

/// What a name leads to.
public struct Entry: Sendable {
  public let node: NodeID
  public let status: FileStatus
  /// Seconds for which the kernel may believe the name, and the attributes.
  public let nameLifetime: Double
  public let attributesLifetime: Double

  public init(node: NodeID, status: FileStatus, nameLifetime: Double, attributesLifetime: Double) {
    self.node = node
    self.status = status
    self.nameLifetime = nameLifetime
    self.attributesLifetime = attributesLifetime
  }

  var parameters: fuse_entry_param {
    var parameters = fuse_entry_param()
    parameters.ino = node.raw
    parameters.generation = 1
    parameters.attr = status.cStatus
    parameters.entry_timeout = nameLifetime
    parameters.attr_timeout = attributesLifetime
    return parameters
  }

  /// `struct fuse_entry_out`, for the one answer that libfuse 3.14 cannot give: create with passthrough.
  var bytes: [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(144)
    func add(_ value: some FixedWidthInteger) { out.append(integer: value) }
    let (nameSeconds, nameRest) = Kernel.time(nameLifetime)
    let (attributeSeconds, attributeRest) = Kernel.time(attributesLifetime)
    add(node.raw)
    add(1 as UInt64)
    add(nameSeconds)
    add(attributeSeconds)
    add(nameRest)
    add(attributeRest)
    add(status.inode)
    add(UInt64(bitPattern: status.size))
    add(UInt64(bitPattern: status.blocks))
    add(status.accessSeconds)
    add(status.modifiedSeconds)
    add(status.changedSeconds)
    add(status.accessNanoseconds)
    add(status.modifiedNanoseconds)
    add(status.changedNanoseconds)
    add(UInt32(status.kind.bits | status.permissions))
    add(UInt32(clamping: status.links))
    add(status.user)
    add(status.group)
    add(UInt32(truncatingIfNeeded: status.deviceNumber))
    add(status.blockSize)
    add(0 as UInt32)
    return out
  }
}

/// How a file was opened.
public struct OpenReply: Sendable {
  /// Comes back with every operation on the open file.
  public let handle: UInt64
  public let flags: Flags
  /// The kernel's number for the backing file; 0 without passthrough.
  public let backing: Int32

  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// What the kernel has cached of the content stays valid.
    public static let keepCache = Flags(rawValue: Kernel.openKeepCache)
    /// The kernel may keep a folder's listing.
    public static let cacheFolder = Flags(rawValue: Kernel.openCacheFolder)
    /// Reads and writes pass the kernel's pages by.
    public static let directIO = Flags(rawValue: Kernel.openDirectIO)
    public static let noFlush = Flags(rawValue: Kernel.openNoFlush)
    public static let passthrough = Flags(rawValue: Kernel.openPassthrough)
  }

  public init(handle: UInt64, flags: Flags, backing: Int32 = 0) {
    self.handle = handle
    self.flags = flags
    self.backing = backing
  }

  /// `struct fuse_open_out`.
  var bytes: [UInt8] {
    let words = words
    return unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
  }

  var words: (UInt64, UInt64) {
    (handle, UInt64(flags.rawValue) | UInt64(UInt32(bitPattern: backing)) << 32)
  }
}

extension FileStatus {
  /// As C has it.
  public var cStatus: stat {
    var status = stat()
    status.st_dev = UInt(device)
    status.st_ino = UInt(inode)
    status.st_mode = kind.bits | permissions
    status.st_nlink = UInt(links)
    status.st_uid = user
    status.st_gid = group
    status.st_rdev = UInt(deviceNumber)
    status.st_size = Int(size)
    status.st_blksize = Int(blockSize)
    status.st_blocks = Int(blocks)
    status.st_atim = timespec(tv_sec: Int(accessSeconds), tv_nsec: Int(accessNanoseconds))
    status.st_mtim = timespec(tv_sec: Int(modifiedSeconds), tv_nsec: Int(modifiedNanoseconds))
    status.st_ctim = timespec(tv_sec: Int(changedSeconds), tv_nsec: Int(changedNanoseconds))
    return status
  }
}

/// The lines of a folder being listed, as many as the kernel has room for.
@safe public struct Listing: ~Copyable {
  private let room: UnsafeMutableRawBufferPointer
  private var used = 0

  /// - Parameter size: bytes that the kernel asked for.
  public init(size: Int) { unsafe room = .allocate(byteCount: size, alignment: 8) }

  deinit { unsafe room.deallocate() }

  public var isEmpty: Bool { used == 0 }

  mutating func append(_ body: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> Bool {
    let start = unsafe room.baseAddress?.advanced(by: used).assumingMemoryBound(to: CChar.self)
    let left = unsafe room.count - used
    let needed = unsafe body(start, left)
    guard needed <= left else { return false }
    used += needed
    return true
  }

  func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe body(UnsafeRawBufferPointer(rebasing: room[..<used]))
  }
}
