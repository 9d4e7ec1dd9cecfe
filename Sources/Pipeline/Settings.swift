public import Contracts
public import Posix

/// Where a pipeline works, and with what.
public struct Settings: Sendable {
  /// For the catalog; made when missing.
  public var catalogFolder: FileName
  /// For thumbnails; made when missing, also when it is lost on the way.
  public var cacheFolder: FileName
  /// The program `sharefs-worker`.
  public var worker: FileName
  /// How many of it run; one per core.
  public var workers: Int
  /// What URLs call the share, from its first start on.
  public var name: String
  /// What pictures must fit into.
  public var box: Box
  /// An O_PATH (or any) descriptor of the share's source folder; the pipeline takes a second one of its own.
  public var source: CInt
  /// How long a worker may take for one document, in nanoseconds.
  public var patience: Clock.Instant
  /// Where the desktop's own thumbnails go; nil for nowhere.
  public var desktop: Desktop?
  /// Whether somebody is writing the file now: asked before a document found by a scan is taken for finished. Never blocks.
  public var isBeingWritten: @Sendable (FileID) -> Bool

  /// How often the share was asked for a name, so far: while that is often, somebody is at work in it. Never blocks.
  public var requests: @Sendable () -> UInt64 = { 0 }

  /// Whether others may change the source folder without us, so that it has to be watched.
  public var watchesSource = false

  /// The cache in which the user's file managers look.
  public struct Desktop: Hashable, Sendable {
    /// `$XDG_CACHE_HOME`
    public var cacheFolder: FileName
    /// Names in the cache are made from whole paths, as the user's programs see them.
    public var mountpoint: FileName

    public init(cacheFolder: FileName, mountpoint: FileName) {
      self.cacheFolder = cacheFolder
      self.mountpoint = mountpoint
    }
  }

  /// What a document is drawn in, from one decode: for the view first, then for the desktop.
  var boxes: [Box] {
    [box] + (desktop == nil ? [] : DesktopPicture.sizes.map { Box(width: $0.edge, height: $0.edge) })
  }

  public init(
    catalogFolder: FileName, cacheFolder: FileName, worker: FileName, workers: Int, name: String = "share",
    box: Box = .standard,
    source: CInt,
    patience: Clock.Instant = Clock.seconds(10), isBeingWritten: @escaping @Sendable (FileID) -> Bool
  ) {
    self.catalogFolder = catalogFolder
    self.cacheFolder = cacheFolder
    self.worker = worker
    self.workers = max(1, workers)
    self.name = name
    self.box = box
    self.source = source
    self.patience = patience
    self.isBeingWritten = isBeingWritten
  }
}

/// Why a pipeline cannot be.
public struct PipelineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence.
  public let what: String
  public var description: String { what }

  init(_ what: String) { self.what = what }
}
