public import Catalog
public import Posix

/// Hands what happens to every subscriber. A slow one loses events and is told so; it never holds up the others.
public final class EventFeed: Sendable {
  private struct State {
    var last: UInt64 = 0
    var subscriptions: [UInt64: Subscription] = [:]
    var nextToken: UInt64 = 0
  }

  private let state = Monitor(State())

  /// - Parameter last: the number of the last event in the catalog.
  init(last: UInt64) { state.withLock { $0.last = last } }

  /// - Parameter limit: how many events may wait for the subscriber.
  public func subscribe(limit: Int = 10_000) -> Subscription {
    state.withLock { state in
      state.nextToken += 1
      let subscription = Subscription(feed: self, token: state.nextToken, limit: limit, from: state.last + 1)
      state.subscriptions[state.nextToken] = subscription
      return subscription
    }
  }

  func unsubscribe(_ token: UInt64) { _ = state.withLock { $0.subscriptions.removeValue(forKey: token) } }

  /// The number of the last event.
  public var last: UInt64 { state.withLock { $0.last } }

  /// Hands an event on that is in the catalog by now; called in the order of the numbers.
  func publish(_ event: Event) {
    // Under the lock, so that every subscriber gets them in that order. Lock order: feed, then subscription.
    state.withLock { state in
      state.last = event.number
      for subscription in state.subscriptions.values { subscription.add(event) }
    }
  }

  func close() {
    let all = state.withLock { state in
      defer { state.subscriptions = [:] }
      return Array(state.subscriptions.values)
    }
    for one in all { one.end() }
  }
}

/// One subscriber's events.
public final class Subscription: Sendable {
  public enum Next: Hashable, Sendable {
    case event(Event)
    /// Events from this number on were lost; those that come next are younger.
    case overflow(resumeFrom: UInt64)
    case timedOut
    case ended
  }

  private struct State {
    var events: [Event] = []
    var head = 0
    var lostFrom: UInt64?
    var hasEnded = false
  }

  private let feed: EventFeed
  private let token: UInt64
  private let limit: Int
  /// The number that its first event has or would have.
  public let first: UInt64
  private let state = Monitor(State())

  init(feed: EventFeed, token: UInt64, limit: Int, from first: UInt64) {
    self.feed = feed
    self.token = token
    self.limit = max(1, limit)
    self.first = first
  }

  func add(_ event: Event) {
    state.change { state in
      // Once full, everything is lost until the subscriber has taken the mark: it reads on elsewhere from there.
      if state.lostFrom != nil { return }
      if state.events.count - state.head >= limit { state.lostFrom = event.number } else { state.events.append(event) }
    }
  }

  func end() { state.change { $0.hasEnded = true } }

  public func next(until deadline: Clock.Instant) -> Next {
    state.wait(until: deadline) { state -> Next? in
      if state.head < state.events.count {
        defer {
          state.head += 1
          if state.head == state.events.count {
            state.events.removeAll(keepingCapacity: state.head < 64)
            state.head = 0
          }
        }
        return .event(state.events[state.head])
      }
      if let lost = state.lostFrom {
        state.lostFrom = nil
        return .overflow(resumeFrom: lost)
      }
      return state.hasEnded ? .ended : nil
    } ?? .timedOut
  }

  /// Takes no more.
  public func cancel() {
    feed.unsubscribe(token)
    end()
  }
}
