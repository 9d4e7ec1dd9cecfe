import Catalog
import Contracts
import Control
import Pipeline
import Posix

/// Hands a share's events to one client: those that it missed from the catalog, then what happens. A client that does not keep up is told so
/// and goes on from the catalog; nobody else notices.
extension DaemonHandler {
  /// Events read from the catalog at once.
  private static let page = 500

  func watch(_ subscriber: Subscriber, since: UInt64?) {
    let first = pipeline.events.subscribe()
    do {
      try subscriber.begin(Watching(next: first.first))
    } catch {
      first.cancel()
      return log.report(.error, "An answer could not be written as JSON: \(error).")
    }
    _ = Posix.Thread("sharefs-events") { [self] in
      Posix.Thread.beQuick(.now)
      var position = since ?? first.first - 1
      var live = first
      while !subscriber.isGone {
        guard catchUp(subscriber, from: &position, to: live.first), let lost = follow(subscriber, live) else { break }
        live.cancel()
        position = lost - 1
        subscriber.send(OverflowRecord(resumeFrom: lost, lost: 0).line)
        live = pipeline.events.subscribe()
      }
      live.cancel()
    }
  }

  /// Sends what the catalog has between `position` and `end`.
  /// - Returns: whether to go on.
  private func catchUp(_ subscriber: Subscriber, from position: inout UInt64, to end: UInt64) -> Bool {
    if position == end - 1 { return true }
    do throws(CatalogError) {
      guard let reader = try CatalogReader(folder: daemon.plan.location.data) else { return true }
      let oldest = try reader.oldestEvent() ?? end
      if position >= end {
        // It knows numbers of a catalog that is lost: all that there is, is new to it.
        position = 0
        subscriber.send(OverflowRecord(resumeFrom: min(oldest, end), lost: 0).line)
      } else if position + 1 < oldest {
        subscriber.send(OverflowRecord(resumeFrom: oldest, lost: oldest - position - 1).line)
      }
      while true {
        let events = try reader.events(after: position, before: end, limit: Self.page)
        if events.isEmpty { return true }
        for event in events {
          guard waitForRoom(subscriber) else { return false }
          subscriber.send(EventRecord(event).line)
          position = event.number
        }
      }
    } catch {
      log.report(.warning, "Events cannot be read again for a watcher, which is let go. \(error)")
      return false
    }
  }

  /// Sends what happens.
  /// - Returns: the number of the first event that was lost; nil when it is over.
  private func follow(_ subscriber: Subscriber, _ live: Subscription) -> UInt64? {
    while waitForRoom(subscriber) {
      switch live.next(until: Clock.now() + Clock.seconds(1)) {
      case .event(let event): subscriber.send(EventRecord(event).line)
      case .overflow(let number): return number
      case .timedOut: continue
      case .ended: return nil
      }
    }
    return nil
  }

  /// - Returns: false when the client has gone.
  private func waitForRoom(_ subscriber: Subscriber) -> Bool {
    while !subscriber.isGone {
      if subscriber.waitForRoom(until: Clock.now() + Clock.seconds(1)) { return true }
    }
    return false
  }
}

extension EventRecord {
  init(_ event: Event) {
    self.init(
      number: event.number, time: Double(event.time.nanoseconds / 1000) / 1e6, event: event.kind.rawValue,
      asset: event.asset == 0 ? nil : event.asset, path: FileName(event.path.bytes),
      from: event.from.map { FileName($0.bytes) }, size: event.size, version: event.version,
      verdict: event.verdict?.word, reason: event.reason.isEmpty ? nil : event.reason,
      kind: event.type?.kind.word, type: event.type?.identifier, mime: event.type?.mime)
  }
}
