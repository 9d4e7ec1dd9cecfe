/// When to look again at what nobody tells the end of: after as long as has gone by already. What lasts is seen to have ended after twice its time at
/// the latest, and costs one look for each doubling of it.
///
/// Needed wherever a close is told by inotify: IN_CLOSE_WRITE is queued before the kernel lets go of the file (`__fput`: `fsnotify_close`, then
/// `put_file_access`), so that whoever looks at once may still find a writer, and nothing more is told. A descriptor that fanotify gave out is a
/// writer of whose close nothing is told at all.
public struct Backoff: Sendable {
  private static let first = Clock.seconds(0.002)

  private let began: Clock.Instant
  /// The time of the next look.
  public let due: Clock.Instant

  /// It is looked at for the first time.
  public init() { self.init(began: Clock.now(), now: Clock.now()) }

  private init(began: Clock.Instant, now: Clock.Instant) {
    self.began = began
    due = now + max(Self.first, now - began)
  }

  /// It was looked at again and has not ended.
  public func again() -> Backoff { Backoff(began: began, now: Clock.now()) }
}
