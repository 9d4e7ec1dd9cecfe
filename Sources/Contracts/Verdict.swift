/// What became of a document's content.
public enum Verdict: UInt8, Sendable, CaseIterable {
  /// Whole, and understood; with a reason beside it: as far as its format tells.
  case ready = 1
  /// Cut off: a copy that was broken off, a download that stopped.
  case incomplete = 2
  /// Not what it claims to be, or damaged.
  case invalid = 3
  /// Whole, but there is no decoder for it (a document that is no medium, or an unknown codec).
  case unsupported = 4

  /// What it is called wherever it is told.
  public var word: String {
    switch self {
    case .ready: "ready"
    case .incomplete: "incomplete"
    case .invalid: "invalid"
    case .unsupported: "unsupported"
    }
  }
}

/// What kind of thing a document is.
public enum MediaKind: UInt8, Sendable, CaseIterable {
  case video = 1
  case image = 2
  case audio = 3
  case document = 4

  /// What it is called wherever it is told.
  public var word: String {
    switch self {
    case .video: "video"
    case .image: "image"
    case .audio: "audio"
    case .document: "document"
    }
  }
}

/// The drawings that stand in where there is no picture of the content.
public enum PlaceholderKind: UInt8, Sendable, CaseIterable {
  case video = 1
  case photo = 2
  case audio = 3
  case document = 4
  case damaged = 5

  public init(_ kind: MediaKind) {
    switch kind {
    case .video: self = .video
    case .image: self = .photo
    case .audio: self = .audio
    case .document: self = .document
    }
  }
}

/// What a document is, as uniform type identifier and as MIME type.
public struct MediaType: Hashable, Sendable {
  public let kind: MediaKind
  /// Such as `public.mpeg-4`.
  public let identifier: String
  /// Such as `video/mp4`.
  public let mime: String

  public init(kind: MediaKind, identifier: String, mime: String) {
    self.kind = kind
    self.identifier = identifier
    self.mime = mime
  }
}
