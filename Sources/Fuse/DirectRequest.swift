import CFuse
import CLinux
import Posix

/// A request of a kind that libfuse 3.14 does not know: taken from the buffer and answered on the device by ourselves.
struct DirectRequest: Sendable {
  /// The kernel's device.
  let device: CInt
  let unique: UInt64
  let caller: Caller

  /// - Parameter mask: the caller's umask, where the kind of request tells it.
  init(_ bytes: UnsafeRawBufferPointer, device: CInt, mask: mode_t = 0) {
    self.device = device
    unique = unsafe bytes.load(fromByteOffset: Kernel.InHeader.unique, as: UInt64.self)
    caller = unsafe Caller(
      user: bytes.load(fromByteOffset: Kernel.InHeader.user, as: UInt32.self),
      group: bytes.load(fromByteOffset: Kernel.InHeader.group, as: UInt32.self),
      thread: pid_t(bitPattern: bytes.load(fromByteOffset: Kernel.InHeader.process, as: UInt32.self)), mask: mask)
  }

  /// - Returns: false when the kernel did not take it: its caller has gone.
  @discardableResult
  func answer(_ error: CInt, _ body: [UInt8] = []) -> Bool {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Kernel.OutHeader.size + body.count)
    unsafe withUnsafeBytes(of: UInt32(Kernel.OutHeader.size + body.count)) { unsafe bytes.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: -error) { unsafe bytes.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: unique) { unsafe bytes.append(contentsOf: $0) }
    bytes += body
    return unsafe write(device, bytes, bytes.count) == bytes.count
  }
}

extension Session {
  /// Answers what libfuse cannot read.
  /// - Returns: false when it is for libfuse.
  func takesDirectly(_ request: UnsafeRawBufferPointer) -> Bool {
    guard request.count >= Kernel.InHeader.size else { return false }
    let node = unsafe NodeID(request.load(fromByteOffset: Kernel.InHeader.node, as: UInt64.self))
    let body = Kernel.InHeader.size
    switch unsafe request.load(fromByteOffset: Kernel.InHeader.opcode, as: UInt32.self) {
    case Kernel.Opcode.statx where request.count >= body + Kernel.StatxIn.size:
      let flags = unsafe request.load(fromByteOffset: body + Kernel.StatxIn.flags, as: UInt32.self)
      let handle = unsafe request.load(fromByteOffset: body + Kernel.StatxIn.handle, as: UInt64.self)
      unsafe operations.attributes(
        Request(DirectRequest(request, device: device)), of: node, handle: flags & 1 != 0 ? handle : nil)
    case Kernel.Opcode.tmpfile where request.count >= body + Kernel.CreateIn.size:
      let flags = unsafe request.load(fromByteOffset: body + Kernel.CreateIn.flags, as: UInt32.self)
      let mode = unsafe request.load(fromByteOffset: body + Kernel.CreateIn.mode, as: UInt32.self)
      let mask = unsafe request.load(fromByteOffset: body + Kernel.CreateIn.mask, as: UInt32.self)
      unsafe operations.createNameless(
        Request(DirectRequest(request, device: device, mask: mask)), in: node, mode: mode,
        flags: CInt(bitPattern: flags))
    default: return false
    }
    return true
  }
}

extension FileStatus {
  /// `struct fuse_statx_out`: attributes' lifetime u64 and u32, flags u32, spare 2 u64, then `struct fuse_statx`.
  /// - Parameter lifetime: seconds.
  func statxBytes(lifetime: Double) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(288)
    func add(_ value: some FixedWidthInteger) {
      unsafe withUnsafeBytes(of: value) { unsafe out.append(contentsOf: $0) }
    }
    func add(_ seconds: Int64, _ nanoseconds: UInt32) {
      add(seconds)
      add(nanoseconds)
      add(0 as Int32)
    }
    let whole = lifetime.rounded(.down)
    add(UInt64(whole))
    add(UInt32((lifetime - whole) * 1e9))
    add(0 as UInt32)
    for _ in 0..<2 { add(0 as UInt64) }
    let hasBirth = birth.nanoseconds != 0
    add(UInt32(STATX_BASIC_STATS) | (hasBirth ? UInt32(STATX_BTIME) : 0))
    add(UInt32(bitPattern: blockSize))
    let known = UInt64(STATX_ATTR_IMMUTABLE) | UInt64(STATX_ATTR_APPEND)
    add((isImmutable ? UInt64(STATX_ATTR_IMMUTABLE) : 0) | (isAppendOnly ? UInt64(STATX_ATTR_APPEND) : 0))
    add(UInt32(clamping: links))
    add(user)
    add(group)
    add(UInt16(truncatingIfNeeded: kind.bits | permissions))
    add(0 as UInt16)
    add(inode)
    add(UInt64(bitPattern: size))
    add(UInt64(bitPattern: blocks))
    add(known)
    add(accessSeconds, accessNanoseconds)
    add(birth.nanoseconds / 1_000_000_000, UInt32(birth.nanoseconds % 1_000_000_000))
    add(changedSeconds, changedNanoseconds)
    add(modifiedSeconds, modifiedNanoseconds)
    // The device numbers are the kernel's own; ours would be the backing disk's.
    add(UInt32(truncatingIfNeeded: (deviceNumber >> 32) & 0xffff_f000 | (deviceNumber >> 8) & 0xfff))
    add(UInt32(truncatingIfNeeded: (deviceNumber >> 12) & 0xffff_ff00 | deviceNumber & 0xff))
    for _ in 0..<15 { add(0 as UInt64) }
    return out
  }
}
