import CLinux
import Glibc
import Posix
import Synchronization

/// Under passthrough a writable mapping holds the backing file and may be stored into after RELEASE: whether one lives is asked of
/// the kernel by a read lease, which is only given when nobody has the file open for writing; its end is told by inotify, and asked for
/// where that came too early (see `Backoff`).
final class MappingWatch: Sendable {
  private let notifications: Notifications
  private let wakeup: Wakeup
  private let state = Monitor(State())
  /// How many wait or are being finished: a look costs nothing while nobody is.
  private let count = Atomic<Int>(0)
  private let thread = OwnThread()
  private let isStopping = Atomic<Bool>(false)

  private struct State {
    var waiting: [CInt: Wait] = [:]
    /// Taken out of `waiting` and not announced yet.
    var finishing = 0
  }

  private struct Wait {
    let node: Node
    let body: @Sendable () -> Void
    var backoff = Backoff()
  }

  init() throws(Errno) {
    notifications = try Notifications()
    wakeup = try Wakeup()
    // A lease that is broken the moment after it was given sends SIGIO.
    Signals.ignore(SIGIO)
    thread.begin("sharefs-mapping") { [self] in run() }
  }

  /// Whether somebody still has the file open for writing, which after the last RELEASE can only be a mapping.
  /// Where the file system gives no leases, nobody can tell; then a mapping counts as gone.
  func isMappedWritable(_ node: Node) -> Bool {
    outlives(node, looks: 1)
  }

  /// Whether a writable mapping lives on after the last RELEASE. The kernel queues that a moment before it lets go of the backing file: most answers
  /// are no at the second look.
  func outlives(_ node: Node) -> Bool { outlives(node, looks: 4) }

  private func outlives(_ node: Node, looks: Int) -> Bool {
    guard let held = try? node.open(), let file = try? Descriptor.reopen(held.raw, O_RDONLY | O_NONBLOCK)
    else { return false }
    for look in 1...looks {
      if !file.isOpenForWriting { return false }
      if look < looks { sched_yield() }
    }
    return true
  }

  /// Calls `body` from the watching thread when no writable mapping lives any more.
  func wait(for node: Node, _ body: @escaping @Sendable () -> Void) {
    guard let held = try? node.open(), let watch = try? notifications.watch(held.raw, IN_CLOSE_WRITE) else {
      // No watch to be had (the user's limit): the document counts as finished now rather than never.
      body()
      return
    }
    count.add(1, ordering: .acquiringAndReleasing)
    state.withLock { $0.waiting[watch] = Wait(node: node, body: body) }
    // It may have ended between the question and the watch.
    if isMappedWritable(node) { wakeup.wake() } else { ended(watch) }
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
    wakeup.wake()
    thread.join()
  }

  private func ended(_ watch: CInt) {
    // First: the same inode watched anew must get another number. Failing, it was the other thread's.
    notifications.forget(watch)
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
      var awaited = [Awaited(notifications.raw), Awaited(wakeup.raw)]
      do throws(Errno) {
        try Awaited.wait(&awaited, until: state.withLock { $0.waiting.values.lazy.map(\.backoff.due).min() })
        if isStopping.load(ordering: .acquiring) { return }
        if awaited[1].canRead { wakeup.clear() }
        if awaited[0].canRead {
          for event in try notifications.read() { look(event.watch, next: Backoff()) }
        }
        let now = Clock.now()
        let due = state.withLock { state in state.waiting.filter { $0.value.backoff.due <= now } }
        for (watch, wait) in due { look(watch, next: wait.backoff.again()) }
      } catch {
        // Only a lack of memory: whoever asks next looks again by itself.
        Clock.pause(0.1)
      }
    }
  }

  /// - Parameter next: the look after this one, where the mapping lives on.
  private func look(_ watch: CInt, next: Backoff) {
    guard let node = state.withLock({ $0.waiting[watch]?.node }) else { return }
    if isMappedWritable(node) { state.withLock { $0.waiting[watch]?.backoff = next } } else { ended(watch) }
  }
}
