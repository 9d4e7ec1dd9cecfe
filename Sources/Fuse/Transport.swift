import CFuse
import CLinux
import Posix
import Synchronization

/// Reads requests from the kernel's device and writes answers to it in libfuse's place, so that we can ask the kernel for what libfuse
/// 3.14 does not know: the answer to INIT is completed on its way out.
final class Transport: Sendable {
  /// Whether passthrough shall be asked for.
  private let wantsPassthrough: Bool
  /// The INIT request's number, from its reading to its answer; 0 otherwise.
  private let initNumber = Atomic<UInt64>(0)
  private let offered = Atomic<UInt64>(0)
  private let granted = Atomic<Bool>(false)

  init(wantsPassthrough: Bool) { self.wantsPassthrough = wantsPassthrough }

  /// Whether the kernel offered passthrough and we took it; true at the earliest when the mount answers.
  var hasPassthrough: Bool { granted.load(ordering: .acquiring) }
  /// Whether the kernel knows passthrough at all.
  var isPassthroughOffered: Bool {
    UInt32(truncatingIfNeeded: offered.load(ordering: .acquiring) >> 32) & Kernel.passthrough2 != 0
  }

  func received(_ request: UnsafeRawBufferPointer) {
    guard request.count >= Kernel.InHeader.size + Kernel.InitIn.flags2 + 4,
      unsafe request.load(fromByteOffset: Kernel.InHeader.opcode, as: UInt32.self) == Kernel.Opcode.initialize
    else { return }
    let low = unsafe request.load(fromByteOffset: Kernel.InHeader.size + Kernel.InitIn.flags, as: UInt32.self)
    var high: UInt32 = 0
    if low & Kernel.initExtended != 0 {
      high = unsafe request.load(fromByteOffset: Kernel.InHeader.size + Kernel.InitIn.flags2, as: UInt32.self)
    }
    offered.store(UInt64(high) << 32 | UInt64(low), ordering: .releasing)
    let number = unsafe request.load(fromByteOffset: Kernel.InHeader.unique, as: UInt64.self)
    initNumber.store(number, ordering: .releasing)
  }

  func send(_ descriptor: CInt, _ parts: UnsafeMutablePointer<iovec>, _ count: CInt) -> Int {
    let number = initNumber.load(ordering: .acquiring)
    if number != 0, count >= 2, unsafe parts[0].iov_len == Kernel.OutHeader.size,
      unsafe parts[0].iov_base.load(fromByteOffset: Kernel.OutHeader.unique, as: UInt64.self) == number
    {
      if unsafe parts[0].iov_base.load(fromByteOffset: Kernel.OutHeader.error, as: Int32.self) == 0 {
        unsafe complete(parts[1])
      }
      initNumber.store(0, ordering: .releasing)
    }
    return unsafe writev(descriptor, parts, count)
  }

  private func complete(_ part: iovec) {
    guard unsafe part.iov_len >= Kernel.InitOut.size else { return }
    let answer = unsafe part.iov_base!
    let offered = offered.load(ordering: .acquiring)
    let low = UInt32(truncatingIfNeeded: offered)
    var flags = unsafe answer.load(fromByteOffset: Kernel.InitOut.flags, as: UInt32.self)
    flags |= low & Kernel.handleKillPrivV2
    let offered2 = UInt32(truncatingIfNeeded: offered >> 32)
    var more = offered2 & (Kernel.noExportSupport2 | Kernel.directIOMapped2)
    if wantsPassthrough && isPassthroughOffered {
      more |= Kernel.passthrough2
      // One more layer above the backing file system; what is itself such a layer cannot be passed through.
      unsafe answer.storeBytes(of: 1, toByteOffset: Kernel.InitOut.stackDepth, as: UInt32.self)
      granted.store(true, ordering: .releasing)
    }
    if more != 0 {
      flags |= Kernel.initExtended
      let flags2 = unsafe answer.load(fromByteOffset: Kernel.InitOut.flags2, as: UInt32.self)
      unsafe answer.storeBytes(of: flags2 | more, toByteOffset: Kernel.InitOut.flags2, as: UInt32.self)
    }
    unsafe answer.storeBytes(of: flags, toByteOffset: Kernel.InitOut.flags, as: UInt32.self)
  }
}

@c func transportRead(
  _ descriptor: CInt, _ room: UnsafeMutableRawPointer?, _ size: Int, _ session: UnsafeMutableRawPointer?
)
  -> Int
{
  let count = unsafe read(descriptor, room, size)
  if count > 0 {
    let transport = unsafe Unmanaged<Session>.fromOpaque(session!).takeUnretainedValue().transport
    unsafe transport.received(UnsafeRawBufferPointer(start: room, count: count))
  }
  return count
}

@c func transportWrite(
  _ descriptor: CInt, _ parts: UnsafeMutablePointer<iovec>?, _ count: CInt, _ session: UnsafeMutableRawPointer?
) -> Int {
  let transport = unsafe Unmanaged<Session>.fromOpaque(session!).takeUnretainedValue().transport
  return unsafe transport.send(descriptor, parts!, count)
}
