public import CLinux
import Glibc
import Synchronization

/// A thread of ours, with a name that `top -H` shows. Dropped without `join`, it goes on by itself and leaves nothing behind.
public final class Thread: Sendable {
  private let handle: pthread_t
  private let isJoined = Atomic(false)

  /// - Parameter name: at most 15 bytes; Linux cuts the rest.
  public init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let start = unsafe Unmanaged.passRetained(Start(name, body))
    var handle = pthread_t()
    let failed = unsafe pthread_create(&handle, nil, threadMain, start.toOpaque())
    precondition(failed == 0, "the system gives no further thread: \(Errno(failed))")
    self.handle = handle
  }

  /// Waits for its end; once only.
  public func join() {
    if !isJoined.exchange(true, ordering: .acquiringAndReleasing) { pthread_join(handle, nil) }
  }

  deinit { if !isJoined.load(ordering: .acquiring) { pthread_detach(handle) } }

  public static var currentID: pid_t { clinux_thread_id() }
}

/// The one thread of an object, which begins it and waits for its end.
public struct OwnThread: ~Copyable, Sendable {
  private let thread = Guarded<Thread?>(nil)

  public init() {}

  public func begin(_ name: String, _ body: @escaping @Sendable () -> Void) {
    thread.withLock { $0 = Thread(name, body) }
  }

  /// Waits for its end; at once where it was never begun, or has been waited for.
  public func join() {
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }
}

private final class Start: Sendable {
  let name: String
  let body: @Sendable () -> Void
  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

@c private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
  unsafe FileName(String(start.name.utf8.prefix(15)) ?? "sharefs").withCString { name in
    _ = unsafe clinux_set_name(name)
  }
  start.body()
  return nil
}
