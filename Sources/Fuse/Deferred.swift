import Posix

/// A request whose answer comes later, from whichever of several ends is first: what it waits for, a time-out, or the caller giving up
/// (a signal), which answers EINTR.
public final class Deferred: Sendable {
  private struct State: ~Copyable {
    var request: Request?
    var isInterrupted = false
  }

  private let state = Guarded(State())
  private let onInterrupt: @Sendable () -> Void

  /// - Parameter onInterrupt: called when the caller gave up, after it was answered.
  public init(_ request: consuming Request, onInterrupt: @escaping @Sendable () -> Void) {
    self.onInterrupt = onInterrupt
    // Not under our lock: libfuse holds the request's own lock here and may call `interrupted` at once, from this thread.
    unsafe request.setInterrupt(deferredInterrupted, Unmanaged.passRetained(self).toOpaque())
    var waiting: Request? = consume request
    let isInterrupted = state.withLock { state in
      if !state.isInterrupted { state.request = waiting.take() }
      return state.isInterrupted
    }
    if isInterrupted, let request = waiting.take() { giveUp(request) }
  }

  /// Takes the request to answer it; nil when somebody else was first.
  public func take() -> Request? {
    guard let request = state.withLock({ $0.request.take() }) else { return nil }
    // Waits until a running `interrupted` is through; libfuse calls it under the request's own lock.
    unsafe request.setInterrupt(nil, nil)
    unsafe Unmanaged.passUnretained(self).release()
    return request
  }

  fileprivate func interrupted() {
    let request = state.withLock { state in
      state.isInterrupted = true
      return state.request.take()
    }
    if let request { giveUp(request) }
  }

  private func giveUp(_ request: consuming Request) {
    request.fail(.interrupted)
    onInterrupt()
    unsafe Unmanaged.passUnretained(self).release()
  }
}

@c func deferredInterrupted(_ request: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
  unsafe Unmanaged<Deferred>.fromOpaque(context!).takeUnretainedValue().interrupted()
}
