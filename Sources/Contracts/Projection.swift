public import Posix

/// What stands in `.thumbs` for one content version of a document.
public struct Picture: Hashable, Sendable {
  /// The asset's id in the catalog; 0 for a placeholder of a document that has none yet.
  public let asset: Int64
  /// The content version that it shows.
  public let version: Int64
  /// Which placeholder it is; nil for a picture of the content.
  public let placeholder: PlaceholderKind?
  /// Bytes of the PNG.
  public let size: Int64

  public init(asset: Int64, version: Int64, placeholder: PlaceholderKind?, size: Int64) {
    self.asset = asset
    self.version = version
    self.placeholder = placeholder
    self.size = size
  }
}

public enum PictureState: Hashable, Sendable {
  /// No such document is known: it is new to us, or has a temporary name.
  case unknown
  /// Being made, or waiting for its turn; `previous` still shows the version before.
  case making(previous: Picture?)
  case ready(Picture)
}

/// Whether a document's newest content is all there.
public enum Wholeness: Hashable, Sendable {
  case whole
  /// Cut off or damaged.
  case broken
  /// Nobody has looked yet.
  case making
  /// No such document is known.
  case unknown
}

/// Answers what stands in a view, from memory: no call of it waits for the catalog or a decoder.
public protocol Projection: AnyObject, Sendable {
  /// By the two numbers that a folder listing gives; see `FileID`.
  func picture(volume: UInt64, inode: UInt64) -> PictureState

  func wholeness(volume: UInt64, inode: UInt64) -> Wholeness

  /// Another one whenever an answer of `picture` has become another.
  var revision: UInt64 { get }

  /// Calls `then` exactly once, from some thread of the projection's own, when none of the documents is in the making any more or when the
  /// monotonic time `deadline` has come. Documents waited for are made before all others.
  /// - Returns: a token for `cancel`.
  func wait(for files: [FileID], until deadline: Clock.Instant, then: @escaping @Sendable () -> Void) -> UInt64

  /// Ends a wait. `then` is not called after this returns true; false means that it was or is being called.
  func cancel(_ token: UInt64) -> Bool

  /// The placeholder that stands in for a document whose picture is late, chosen by its name.
  func placeholder(for name: FileName) -> Picture

  /// Opens the stored PNG for reading. ENOENT when it was lost; then it is being made again.
  func open(_ picture: Picture) throws(Errno) -> Descriptor
}

/// Told when what stands in a view for a document has changed, from some thread of the projection's own.
public protocol ProjectionObserver: AnyObject, Sendable {
  /// - Parameters:
  ///   - old: nil when there was none: it appears.
  ///   - new: nil when there is none now: it disappears.
  func pictureChanged(of document: Document, old: Picture?, new: Picture?)

  /// A document under a name has become whole, or is not whole any more under it.
  func wholenessChanged(of document: Document, isWhole: Bool)
}
