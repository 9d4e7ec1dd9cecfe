import Contracts
import Posix

/// Documents that somebody else still has open for writing, in the source folder. Their end is told by the watch, unless it was told a moment too
/// early or by nobody; so they are looked at again, less and less often (see `Backoff`).
struct Unfinished {
  private var waiting: [SharePath: Backoff] = [:]
  /// Handed out to be looked at.
  private var asked: [SharePath: Backoff] = [:]

  /// When the next look is due.
  var next: Clock.Instant? { waiting.values.lazy.map(\.due).min() }

  /// The document was looked at, now, and is still being written. When that was not because its time had come, something has just happened to it.
  mutating func enter(_ path: SharePath) {
    waiting[path] = asked.removeValue(forKey: path)?.again() ?? Backoff()
  }

  /// Those whose time has come. Whichever is not entered again by the next call has been dealt with.
  mutating func take(now: Clock.Instant) -> [SharePath] {
    asked = waiting.filter { $0.value.due <= now }
    for path in asked.keys { waiting[path] = nil }
    return Array(asked.keys)
  }
}
