import CLinux
import Glibc
import Posix
import Synchronization

/// Under passthrough a writable mapping holds the backing file and may be stored into after RELEASE: whether one lives is asked of
/// the kernel by a read lease, which is only given when nobody has the file open for writing; its end is told by inotify.
final class MappingWatch: Sendable {
  private let notifications: Descriptor
  private let wakeUp: Descriptor
  private let state = Monitor(State())
  /// How many wait or are being finished: a look costs nothing while nobody is.
  private let count = Atomic<Int>(0)
  private let thread = Guarded<Thread?>(nil)
  private let isStopping = Atomic<Bool>(false)

  private struct State {
    var waiting: [CInt: Wait] = [:]
    /// Taken out of `waiting` and not announced yet.
    var finishing = 0
  }

  private struct Wait {
    let node: Node
    let body: @Sendable () -> Void
  }

  init() throws(Errno) {
    notifications = Descriptor(owning: try check { inotify_init1(CInt(IN_CLOEXEC)) })
    wakeUp = Descriptor(owning: try check { eventfd(0, CInt(EFD_CLOEXEC)) })
    // A lease that is broken the moment after it was given sends SIGIO.
    Signals.ignore(SIGIO)
    thread.withLock { thread in thread = Thread("sharefs-mapping") { [self] in run() } }
  }

  /// Whether somebody still has the file open for writing, which after the last RELEASE can only be a mapping.
  /// Where the file system gives no leases, nobody can tell; then a mapping counts as gone.
  func isMappedWritable(_ node: Node) -> Bool {
    guard let held = try? node.open(), let file = try? Descriptor.reopen(held.raw, O_RDONLY | O_NONBLOCK)
    else { return false }
    return file.isOpenForWriting
  }

  /// Whether a writable mapping lives on after the last RELEASE. The kernel queues that a moment before it lets go of the backing file: most answers
  /// are no at the second look.
  func outlives(_ node: Node) -> Bool {
    for _ in 0..<3 {
      if !isMappedWritable(node) { return false }
      sched_yield()
    }
    return isMappedWritable(node)
  }

  /// Calls `body` from the watching thread when no writable mapping lives any more.
  func wait(for node: Node, _ body: @escaping @Sendable () -> Void) {
    let held = try? node.open()
    let watch: CInt =
      held.map { held in
        unsafe FileName.ofDescriptor(held.raw).withCString { path in
          unsafe inotify_add_watch(notifications.raw, path, UInt32(IN_CLOSE_WRITE))
        }
      } ?? -1
    guard watch >= 0 else {
      // No watch to be had (the user's limit): the document counts as finished now rather than never.
      body()
      return
    }
    count.add(1, ordering: .acquiringAndReleasing)
    state.withLock { $0.waiting[watch] = Wait(node: node, body: body) }
    // It may have ended between the question and the watch.
    if !isMappedWritable(node) { ended(watch) }
  }

  /// Asks about each document that is waited for, now; when it returns, those whose mapping has ended are announced, also those that the watching
  /// thread was just about: that takes it a look at the file and no more.
  func lookAgain() {
    guard count.load(ordering: .acquiring) > 0 else { return }
    for (watch, wait) in state.withLock({ $0.waiting }) where !isMappedWritable(wait.node) { ended(watch) }
    state.wait { $0.finishing == 0 ? true : nil }
  }

  func stop() {
    isStopping.store(true, ordering: .releasing)
    try? wakeUp.write([1, 0, 0, 0, 0, 0, 0, 0])
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    thread?.join()
  }

  private func ended(_ watch: CInt) {
    // First: the same inode watched anew must get another number. Failing, it was the other thread's.
    _ = inotify_rm_watch(notifications.raw, watch)
    let wait: Wait? = state.withLock { state in
      guard let wait = state.waiting.removeValue(forKey: watch) else { return nil }
      state.finishing += 1
      return wait
    }
    guard let wait else { return }
    wait.body()
    state.change { $0.finishing -= 1 }
    count.subtract(1, ordering: .acquiringAndReleasing)
  }

  private func run() {
    while true {
      var polled = [
        pollfd(fd: notifications.raw, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeUp.raw, events: Int16(POLLIN), revents: 0),
      ]
      unsafe poll(&polled, 2, -1)
      if isStopping.load(ordering: .acquiring) { return }
      guard polled[0].revents != 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let raw = notifications.raw
      let count = unsafe read(raw, &buffer, buffer.count)
      var position = 0
      // struct inotify_event: wd s32, mask u32, cookie u32, len u32, name.
      while position + 16 <= count {
        let start = position
        let (watch, length) = unsafe buffer.withUnsafeBytes { bytes in
          unsafe (
            bytes.loadUnaligned(fromByteOffset: start, as: Int32.self),
            Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
          )
        }
        position += 16 + length
        let node = state.withLock { $0.waiting[watch]?.node }
        if let node, !isMappedWritable(node) { ended(watch) }
      }
    }
  }
}
