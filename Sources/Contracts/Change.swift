public import Posix

/// A document where it stands now: who it is and by which of its names.
public struct Document: Hashable, Sendable {
  public let file: FileID
  public let path: SharePath

  public init(file: FileID, path: SharePath) {
    self.file = file
    self.path = path
  }
}

/// What happened to the share's files, told in the order in which the kernel asked for it.
public enum Change: Sendable {
  /// The first writer of a document came: it is being written from now on.
  case started(Document)
  /// The last writer has gone and the content is not what it was, or a finished document got its first real name.
  case settled(Document, ContentStamp)
  /// The last writer has gone and the content is what it was.
  case unchanged(Document)
  /// A file or folder got another name. `replaced` is who lost the name `to` by it.
  case renamed(FileID, FileKind, from: SharePath, to: SharePath, replaced: FileID?)
  /// Two names were exchanged in one step; each file is given with the name that it has now.
  case exchanged(Document, FileKind, Document, FileKind)
  /// A document got one more name.
  case linked(Document)
  /// A name went; the file too when it `wasLast`.
  case removed(Document, FileKind, wasLast: Bool)
  /// Metadata changed and with it the change time, the content did not.
  case touched(FileID, ContentStamp)
  /// A document was found that may not be known yet (by a scan, or by somebody who asked for its picture).
  case seen(Document, ContentStamp)
}

/// Takes what happened, from the thread that made it happen: in constant time, never blocking.
public protocol Settled: AnyObject, Sendable {
  func take(_ change: Change)
}
