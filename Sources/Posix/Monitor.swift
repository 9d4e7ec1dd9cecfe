public import CLinux
public import Glibc

/// State that threads wait on: a mutex and a condition in one. Where nobody waits, `Guarded` does.
@safe public final class Monitor<State>: @unchecked Sendable {
  // Sound since `state` is touched only between lock and unlock of `mutex`, both allocated once and never moved.
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  @usableFromInline var state: State

  public init(_ state: sending State) {
    self.state = state
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Changes the state and wakes every waiter. No system call and no call out belongs into `body`.
  @inlinable public func change<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    // Unlocked first: whoever is woken would have to wait for the lock, and be woken a second time.
    defer {
      unsafe pthread_mutex_unlock(mutex)
      unsafe pthread_cond_broadcast(condition)
    }
    return try body(&state)
  }

  /// As `change`, for a change that one waiter is enough for, where all of them wait for the same.
  @inlinable public func changeForOne<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_mutex_unlock(mutex)
      unsafe pthread_cond_signal(condition)
    }
    return try body(&state)
  }

  /// Looks at or changes the state without waking anybody.
  @inlinable public func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result)
    throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Waits until `body` gives a value, looking again after every `change`.
  @discardableResult
  @inlinable public func wait<Result>(_ body: (inout State) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// As `wait`, until the monotonic time `deadline`.
  /// - Returns: nil when the time came first.
  @inlinable public func wait<Result>(until deadline: Clock.Instant, _ body: (inout State) -> Result?) -> Result? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
    while true {
      if let result = body(&state) { return result }
      if unsafe pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&state) }
    }
  }
}
