import CLinux
import Glibc

/// Signals taken as messages by one thread, and kept from all others.
public struct Signals: ~Copyable, Sendable {
  private let descriptor: Descriptor

  /// Blocks the signals in this thread and all that it starts from now on: before any other thread is there.
  public init(_ signals: [CInt]) throws(Errno) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    descriptor = Descriptor(owning: try check { unsafe signalfd(-1, &set, CInt(SFD_CLOEXEC)) })
  }

  /// Waits for the next one.
  public func next() throws(Errno) -> CInt {
    var info = signalfd_siginfo()
    let raw = descriptor.raw
    _ = try check { unsafe read(raw, &info, MemoryLayout<signalfd_siginfo>.size) }
    return CInt(info.ssi_signo)
  }

  /// Lets a signal end a blocking call, and do nothing else.
  public static func interrupt(_ signal: CInt) { _ = clinux_interrupting(signal) }

  public static func ignore(_ signal: CInt) { _ = clinux_ignore(signal) }
}
