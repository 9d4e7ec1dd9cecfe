public import Posix

/// What the daemon implements for its control socket. Called by one thread of the server's own, one call at a time; a call
/// that waits makes other clients wait, and nobody else.
public protocol Handler: AnyObject, Sendable {
  func status() -> ShareStatus

  /// - Returns: nil when there is no such document.
  func document(_ path: SharePath) -> DocumentStatus?

  /// Begins to compare the folder with the catalog, and returns at once.
  func rescan(repairs: Bool)

  /// - Parameter user: who asks.
  func bookmark(_ request: BookmarkRequest, user: UInt32) throws(Refusal) -> BookmarkAnswer

  /// Begins to end the daemon, and returns at once: the answer must still go out.
  func stop()

  /// Answers with `Subscriber.begin`, then hands every event after number `since` to the subscriber, from a thread of its own, until
  /// `Subscriber.isGone`.
  func watch(_ subscriber: Subscriber, since: UInt64?)
}
