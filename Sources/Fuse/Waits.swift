import CFuse
import CLinux
import Posix

/// Which requests may have to wait for a disk, so that the thread that answers one must have given the turn away.
///
/// To give it away takes about as long as a small write into the disk's cache, so that one keeps the turn, until one was seen to wait.
struct Waits {
  enum Expectation {
    case none
    /// None as a rule; `wrote` shall be told when it began.
    case unlikely
    case likely
  }

  /// In bytes; more takes longer to copy than a change of threads.
  private static let smallWrite = 16 << 10
  /// A disk that is behind lets writers wait for milliseconds, and then mostly the next ones as well.
  private static let long = Clock.seconds(0.002)
  private static let memory = Clock.seconds(5)

  private var seenAt: Clock.Instant?

  /// A small write was answered.
  mutating func wrote(since start: Clock.Instant) {
    let now = Clock.now()
    if now - start > Waits.long { seenAt = now }
  }

  /// - Parameter request: as the kernel sent it.
  func expected(of request: UnsafeRawBufferPointer) -> Expectation {
    guard request.count >= Kernel.InHeader.size else { return .none }
    switch unsafe request.load(fromByteOffset: Kernel.InHeader.opcode, as: UInt32.self) {
    case Kernel.Opcode.read, Kernel.Opcode.fsync, Kernel.Opcode.fsyncdir, Kernel.Opcode.fallocate,
      Kernel.Opcode.copyFileRange, Kernel.Opcode.lseek, Kernel.Opcode.readdir, Kernel.Opcode.readdirplus:
      return .likely
    case Kernel.Opcode.write: return unsafe expected(ofWrite: request)
    case Kernel.Opcode.setattr:
      let isCutting =
        unsafe request.count >= Kernel.InHeader.size + 4
        && request.load(fromByteOffset: Kernel.InHeader.size, as: UInt32.self) & Kernel.setSize != 0
      return isCutting ? .likely : .none
    case Kernel.Opcode.opendir:
      // Views made by reading a folder.
      let node = unsafe request.load(fromByteOffset: Kernel.InHeader.node, as: UInt64.self)
      return node & NodeID.viewBit != 0 ? .likely : .none
    default:
      return .none
    }
  }

  private func expected(ofWrite request: UnsafeRawBufferPointer) -> Expectation {
    let body = Kernel.InHeader.size
    guard request.count >= body + Kernel.WriteIn.size, request.count <= body + Kernel.WriteIn.size + Waits.smallWrite
    else { return .likely }
    let flags = unsafe CInt(bitPattern: request.load(fromByteOffset: body + Kernel.WriteIn.flags, as: UInt32.self))
    if flags & (O_SYNC | O_DSYNC | CInt(O_DIRECT)) != 0 { return .likely }
    if let seenAt, Clock.now() - seenAt < Waits.memory { return .likely }
    return .unlikely
  }
}
