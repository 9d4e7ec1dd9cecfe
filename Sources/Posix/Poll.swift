import CLinux
import Glibc

/// What is waited for on one descriptor, and what came of it.
public struct Awaited: Sendable {
  public let raw: CInt
  public var wantsRead: Bool
  public var wantsWrite: Bool
  /// Readable, ended or broken: a read tells which.
  public internal(set) var canRead = false
  public internal(set) var canWrite = false
  /// The other end has gone for good; told also when nothing was asked for.
  public internal(set) var hasHungUp = false

  public init(_ raw: CInt, read: Bool = true, write: Bool = false) {
    self.raw = raw
    wantsRead = read
    wantsWrite = write
  }

  /// Waits until something came or the monotonic time `deadline` has come; for ever without one.
  /// - Returns: whether something came.
  @discardableResult
  public static func wait(_ all: inout [Awaited], until deadline: Clock.Instant? = nil) throws(Errno) -> Bool {
    var polls = all.map { one in
      pollfd(
        fd: one.raw, events: Int16((one.wantsRead ? POLLIN : 0) | (one.wantsWrite ? POLLOUT : 0)), revents: 0)
    }
    while true {
      let left = deadline.map { CInt(clamping: (max(0, $0 - Clock.now()) + 999_999) / 1_000_000) } ?? -1
      let ready = unsafe Glibc.poll(&polls, nfds_t(polls.count), left)
      if ready < 0 {
        if Errno.last == .interrupted { continue }
        throw Errno.last
      }
      for index in all.indices {
        let events = CInt(polls[index].revents)
        all[index].canRead = events & (POLLIN | POLLHUP | POLLERR) != 0
        all[index].hasHungUp = events & (POLLHUP | POLLERR) != 0
        all[index].canWrite = events & (POLLOUT | POLLERR) != 0
      }
      return ready > 0
    }
  }
}

/// Ends another thread's wait.
public struct Wakeup: ~Copyable, Sendable {
  private let descriptor: Descriptor
  /// For `Awaited`.
  public var raw: CInt { descriptor.raw }

  public init() throws(Errno) {
    descriptor = Descriptor(owning: try check { eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)) })
  }

  public func wake() {
    var one: UInt64 = 1
    // It fails only when 2^64-1 wakes stand unanswered, which is woken too.
    _ = unsafe write(descriptor.raw, &one, 8)
  }

  /// Takes all wakes so far.
  public func clear() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor.raw, &count, 8)
  }
}
