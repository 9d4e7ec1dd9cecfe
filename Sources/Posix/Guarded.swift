public import CLinux
public import Glibc

/// A value and the one lock that guards it.
///
/// As `Synchronization.Mutex`, but made of a pthread mutex: the slow path of that one lies in the Swift runtime, where the thread sanitizer
/// does not see that a lock was taken, and reports races that are none as soon as two threads meet.
@safe public struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sound since the value is touched only between lock and unlock, and neither ever moves.
  @usableFromInline @safe struct Storage: ~Copyable {
    @usableFromInline var mutex = unsafe pthread_mutex_t()
    @usableFromInline var value: Value

    init(_ value: consuming Value) { self.value = value }
  }

  @usableFromInline let storage: UnsafeMutablePointer<Storage>

  public init(_ value: consuming sending Value) {
    unsafe storage = .allocate(capacity: 1)
    unsafe storage.initialize(to: Storage(value))
    unsafe pthread_mutex_init(&storage.pointee.mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(&storage.pointee.mutex)
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
  }

  /// No system call and no call out belongs into `body`.
  @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    unsafe pthread_mutex_lock(&storage.pointee.mutex)
    defer { unsafe pthread_mutex_unlock(&storage.pointee.mutex) }
    return try unsafe body(&storage.pointee.value)
  }
}
