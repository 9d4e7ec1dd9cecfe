public import Posix

/// What is asked about bookmarks and accesses.
public enum BookmarkRequest: Hashable, Sendable {
  case create(SharePath, isReadOnly: Bool)
  case resolve(String)
  case list
  case remove(String)
  /// - seconds: nil for as long as the share is mounted.
  case start(String, seconds: Double?)
  /// - an access's name, as `start` told it.
  case stop(String)
}

/// The answer to all of them; what a request has nothing to say of is left out.
public struct BookmarkAnswer: Hashable, Sendable {
  public var token: String?
  /// In the share; of an access, relative to the mount point.
  public var path: FileName?
  public var isStale: Bool?
  public var isReadOnly: Bool?
  public var isFolder: Bool?
  public var asset: Int64?
  public var access: String?
  public var bookmarks: [BookmarkAnswer]?
  /// Seconds since 1970.
  public var created: Double?
  /// Of one in a list.
  public var id: Int64?

  public init() {}
}

extension BookmarkRequest {
  enum Key: String, CodingKey {
    case op, path, token, seconds, access
    case pathBytes = "path_bytes"
    case isReadOnly = "read_only"
  }

  /// - Returns: nil when the op is none of these.
  init?(_ op: String, _ decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    switch op {
    case "bookmark_create":
      let name = try box.decodePath(.path, bytes: .pathBytes)
      guard let path = SharePath(Array(name.bytes)) else {
        throw Refusal(.badRequest, "The path must be relative to the share, without empty parts and dots.")
      }
      self = .create(path, isReadOnly: try box.decodeIfPresent(Bool.self, forKey: .isReadOnly) ?? false)
    case "bookmark_resolve": self = .resolve(try box.decode(String.self, forKey: .token))
    case "bookmark_list": self = .list
    case "bookmark_remove": self = .remove(try box.decode(String.self, forKey: .token))
    case "access_start":
      let seconds = try box.decodeIfPresent(Double.self, forKey: .seconds)
      if let seconds, !(0...1e9).contains(seconds) { throw Refusal(.badRequest, "That is no number of seconds.") }
      self = .start(try box.decode(String.self, forKey: .token), seconds: seconds)
    case "access_stop": self = .stop(try box.decode(String.self, forKey: .access))
    default: return nil
    }
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    switch self {
    case .create(let path, let isReadOnly):
      try box.encode("bookmark_create", forKey: .op)
      try box.encode(path: FileName(path.bytes), .path, bytes: .pathBytes)
      if isReadOnly { try box.encode(true, forKey: .isReadOnly) }
    case .resolve(let token):
      try box.encode("bookmark_resolve", forKey: .op)
      try box.encode(token, forKey: .token)
    case .list: try box.encode("bookmark_list", forKey: .op)
    case .remove(let token):
      try box.encode("bookmark_remove", forKey: .op)
      try box.encode(token, forKey: .token)
    case .start(let token, let seconds):
      try box.encode("access_start", forKey: .op)
      try box.encode(token, forKey: .token)
      try box.encodeIfPresent(seconds, forKey: .seconds)
    case .stop(let access):
      try box.encode("access_stop", forKey: .op)
      try box.encode(access, forKey: .access)
    }
  }
}

extension BookmarkAnswer: Codable {
  private enum Key: String, CodingKey {
    case token, path, asset, access, bookmarks, created, id
    case pathBytes = "path_bytes"
    case isStale = "stale"
    case isReadOnly = "read_only"
    case isFolder = "folder"
  }

  public init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    token = try box.decodeIfPresent(String.self, forKey: .token)
    path = box.contains(.path) ? try box.decodePath(.path, bytes: .pathBytes) : nil
    isStale = try box.decodeIfPresent(Bool.self, forKey: .isStale)
    isReadOnly = try box.decodeIfPresent(Bool.self, forKey: .isReadOnly)
    isFolder = try box.decodeIfPresent(Bool.self, forKey: .isFolder)
    asset = try box.decodeIfPresent(Int64.self, forKey: .asset)
    access = try box.decodeIfPresent(String.self, forKey: .access)
    bookmarks = try box.decodeIfPresent([BookmarkAnswer].self, forKey: .bookmarks)
    created = try box.decodeIfPresent(Double.self, forKey: .created)
    id = try box.decodeIfPresent(Int64.self, forKey: .id)
  }

  public func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encodeIfPresent(token, forKey: .token)
    if let path { try box.encode(path: path, .path, bytes: .pathBytes) }
    try box.encodeIfPresent(isStale, forKey: .isStale)
    try box.encodeIfPresent(isReadOnly, forKey: .isReadOnly)
    try box.encodeIfPresent(isFolder, forKey: .isFolder)
    try box.encodeIfPresent(asset, forKey: .asset)
    try box.encodeIfPresent(access, forKey: .access)
    try box.encodeIfPresent(bookmarks, forKey: .bookmarks)
    try box.encodeIfPresent(created, forKey: .created)
    try box.encodeIfPresent(id, forKey: .id)
  }
}
