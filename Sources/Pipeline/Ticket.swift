import Contracts
import Posix

/// One document's turn with a worker.
struct Ticket: Sendable {
  let number: UInt64
  let asset: Int64
  let version: Int64
  let file: FileID
  /// Its names as the catalog knew them; any that still leads there will do.
  let places: [SharePath]
}

/// What came of it.
enum JobResult: Sendable {
  /// - Parameters:
  ///   - pictureSize: bytes of the stored picture; nil when a placeholder stands in.
  ///   - before, after: the document's stamps around the job.
  case done(Outcome, pictureSize: Int64?, before: ContentStamp, after: ContentStamp)
  /// No name leads there.
  case gone
  /// It may not or cannot be read.
  case unreadable(Errno)
  /// It killed the worker, or made it lie or hang.
  case crashed(String)
  /// The picture could not be stored.
  case unstored(Errno)
  /// We could not do it, for a reason that is not the document's.
  case failed(Errno)
  /// The pipeline was stopped first.
  case abandoned
}
