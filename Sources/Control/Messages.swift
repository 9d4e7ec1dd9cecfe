public import Posix

/// What can be asked of a daemon: one JSON object on one line, `{"op":"status"}`.
public enum Request: Hashable, Sendable {
  /// Answered by one `ShareStatus`.
  case status
  /// Unmount and end. Answered by `Done` at once; the end of the process tells that it is done.
  case stop
  /// What is known of one document now. Answered by one `DocumentStatus`.
  case document(SharePath)
  /// Compare the folder with the catalog again. Answered by `Done` at once.
  /// - repairs: whether the stored thumbnails are compared too.
  case rescan(repairs: Bool)
  /// Answered by one `Watching`, then every event a line, until the client goes.
  /// - since: the number after which to begin; nil for what happens from now on.
  case watch(since: UInt64?)
  /// Answered by one `BookmarkAnswer`.
  case bookmark(BookmarkRequest)
}

/// A request that was taken.
public struct Done: Hashable, Sendable, Codable {
  public let done: Bool
  public init() { done = true }
}

/// A request that was refused, in the answer's place.
public struct Refusal: Error, Hashable, Sendable, Codable {
  public enum Code: String, Sendable, Codable {
    case badRequest = "bad_request"
    case tooLong = "too_long"
    case notAllowed = "not_allowed"
    case noSuchDocument = "no_such_document"
    case unknownBookmark = "unknown_bookmark"
    case notYours = "not_yours"
    case deleted
    case replaced
    case unreadable
    case noAccess = "no_access"
    /// It may work a little later.
    case busy
  }
  public let code: Code
  /// One sentence.
  public let error: String

  public init(_ code: Code, _ error: String) {
    self.code = code
    self.error = error
  }
}

/// What a daemon tells of its share.
public struct ShareStatus: Hashable, Sendable {
  public struct Counts: Hashable, Sendable, Codable {
    public var ready: Int
    public var incomplete: Int
    public var invalid: Int
    public var unsupported: Int

    public init(ready: Int = 0, incomplete: Int = 0, invalid: Int = 0, unsupported: Int = 0) {
      self.ready = ready
      self.incomplete = incomplete
      self.invalid = invalid
      self.unsupported = unsupported
    }
  }

  /// Whether documents can be picked from the share.
  public struct Library: Hashable, Sendable, Codable {
    public enum Permission: String, Sendable, Codable {
      case readWrite = "read_write"
      case readOnly = "read_only"
      case none
    }

    public var available: Bool
    public var permission: Permission
    /// Whether pictures can be made.
    public var thumbnails: Bool

    public init(available: Bool, permission: Permission, thumbnails: Bool) {
      self.available = available
      self.permission = permission
      self.thumbnails = thumbnails
    }
  }

  /// What there is of one kind of document.
  public struct Pickable: Hashable, Sendable, Codable {
    /// Whether there is a whole one.
    public var available: Bool
    public var count: Int

    public init(count: Int) {
      available = count > 0
      self.count = count
    }
  }

  /// Of the socket: raised when something is changed, not when something is added.
  public static let protocolNumber = 1

  public enum Scan: String, Sendable, Codable {
    /// Comparing the folder with the catalog.
    case running
    case done
    /// It could not; `last_errors` says why.
    case failed
  }

  public struct Complaint: Hashable, Sendable, Codable {
    /// Local time, `2026-01-31 12:00:00`.
    public let time: String
    public let text: String

    public init(time: String, text: String) {
      self.time = time
      self.text = text
    }
  }

  public var pid: Int32
  public var mountpoint: FileName
  /// The folder that is shown; the same path as `mountpoint` for a share mounted in place.
  public var source: FileName
  /// The folder of the catalog.
  public var state: FileName
  /// Whether the kernel reads and writes the files without us.
  public var passthrough: Bool
  /// Why not; nil when it does.
  public var passthroughReason: String?
  /// Documents that wait for their picture, those in the making included.
  public var pending: Int
  /// Documents whose picture is being made now.
  public var running: Int
  public var counts: Counts
  public var scan: Scan
  /// Worker processes that are there.
  public var workers: Int
  /// The newest last, at most 20.
  public var lastErrors: [Complaint]
  public var version: String
  public var protocolNumber = ShareStatus.protocolNumber
  public var library = Library(available: true, permission: .readWrite, thumbnails: true)
  /// By video, image, audio, document.
  public var kinds: [String: Pickable] = [:]

  public init(
    pid: Int32, mountpoint: FileName, source: FileName, state: FileName, passthrough: Bool, passthroughReason: String?,
    pending: Int, running: Int, counts: Counts, scan: Scan, workers: Int, lastErrors: [Complaint], version: String
  ) {
    self.pid = pid
    self.mountpoint = mountpoint
    self.source = source
    self.state = state
    self.passthrough = passthrough
    self.passthroughReason = passthroughReason
    self.pending = pending
    self.running = running
    self.counts = counts
    self.scan = scan
    self.workers = workers
    self.lastErrors = lastErrors
    self.version = version
  }
}

/// What a daemon knows of one document at this moment, before the catalog has been asked.
public struct DocumentStatus: Hashable, Sendable {
  public enum State: String, Sendable, Codable {
    /// Somebody has it open for writing.
    case writing
    /// Its last writer has gone; its picture is being made or waits for its turn.
    case pending
    /// The catalog's verdict holds.
    case settled
    /// Nobody's document: a temporary name, a folder, a link.
    case ignored
  }

  public var path: FileName
  public var state: State
  public var writers: Int
  /// The catalog's id of it; nil when it has none yet.
  public var asset: Int64?
  /// Of the settled content, as `list` has it; nil until there is one.
  public var verdict: String?
  public var reason: String?
  public var version: Int64?

  public init(path: FileName, state: State, writers: Int, asset: Int64?) {
    self.path = path
    self.state = state
    self.writers = writers
    self.asset = asset
  }
}
