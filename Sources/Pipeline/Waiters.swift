import Posix

/// Who waits for pictures. Lives in the index's state, since "is it still being made" and "tell me when not" must be one step.
struct Waiters {
  private struct Waiter {
    var open: Set<ThumbnailIndex.Key>
    let deadline: Clock.Instant
    let then: @Sendable () -> Void
  }

  private var waiters: [UInt64: Waiter] = [:]
  private var tokens: [ThumbnailIndex.Key: Set<UInt64>] = [:]
  private var last: UInt64 = 0
  /// To be called by the answering thread.
  private var due: [@Sendable () -> Void] = []

  var isEmpty: Bool { waiters.isEmpty }
  var hasDue: Bool { !due.isEmpty }
  var earliest: Clock.Instant? { waiters.values.map(\.deadline).min() }

  mutating func add(
    _ open: Set<ThumbnailIndex.Key>, until deadline: Clock.Instant, then: @escaping @Sendable () -> Void
  ) -> UInt64 {
    last += 1
    if open.isEmpty {
      due.append(then)
    } else {
      waiters[last] = Waiter(open: open, deadline: deadline, then: then)
      for key in open { tokens[key, default: []].insert(last) }
    }
    return last
  }

  mutating func cancel(_ token: UInt64) -> Bool { take(token) != nil }

  mutating func finished(_ key: ThumbnailIndex.Key) {
    for token in tokens.removeValue(forKey: key) ?? [] {
      waiters[token]?.open.remove(key)
      if waiters[token]?.open.isEmpty == true, let waiter = take(token) { due.append(waiter.then) }
    }
  }

  mutating func expire(at now: Clock.Instant) {
    for (token, waiter) in waiters where waiter.deadline <= now {
      _ = take(token)
      due.append(waiter.then)
    }
  }

  mutating func takeDue() -> [@Sendable () -> Void] {
    defer { due = [] }
    return due
  }

  private mutating func take(_ token: UInt64) -> Waiter? {
    guard let waiter = waiters.removeValue(forKey: token) else { return nil }
    for key in waiter.open {
      tokens[key]?.remove(token)
      if tokens[key]?.isEmpty == true { tokens[key] = nil }
    }
    return waiter
  }
}

extension ThumbnailIndex {
  /// - Returns: the token, and those of the files that are in the making.
  func wait(
    for files: [FileID], until deadline: Clock.Instant, then: @escaping @Sendable () -> Void
  ) -> (token: UInt64, open: [FileID]) {
    let (token, open, isLate) = state.change { state in
      let open = files.filter { state[$0.key]?.isMaking == true }
      let isLate = state.isStopping
      let token = state.waiters.add(Set(isLate ? [] : open.map(\.key)), until: deadline, then: then)
      return (token, open, isLate)
    }
    // The answering thread has ended or is about to.
    if isLate { Thread("sharefs-answer") { self.answerDue() }.detach() }
    return (token, open)
  }

  func cancel(_ token: UInt64) -> Bool { state.withLock { $0.waiters.cancel(token) } }

  /// Wakes the answering thread when there is something to tell; after changes that were made without waking it.
  func flush() {
    if state.withLock({ $0.waiters.hasDue }) { state.change { _ in } }
  }

  private func answerDue() {
    for then in state.withLock({ $0.waiters.takeDue() }) { then() }
  }

  private enum Step {
    case answer([@Sendable () -> Void])
    case lookAgain
    case stop
  }

  /// The answering thread: sleeps without a time-out while nobody waits.
  func answer() {
    while true {
      let deadline = state.withLock { $0.waiters.earliest }
      let look: (inout State) -> Step? = { state in
        state.waiters.expire(at: state.isStopping ? .max : Clock.now())
        if state.waiters.hasDue { return .answer(state.waiters.takeDue()) }
        if state.isStopping { return .stop }
        return state.waiters.earliest == deadline ? nil : .lookAgain
      }
      let step = if let deadline { state.wait(until: deadline, look) ?? .lookAgain } else { state.wait(look) }
      switch step {
      case .answer(let due): for then in due { then() }
      case .lookAgain: continue
      case .stop: return
      }
    }
  }

  /// Everybody who still waits is answered, and the answering thread ends.
  func stop() { state.change { $0.isStopping = true } }
}
