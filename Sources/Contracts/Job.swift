/// A frame that a picture must fit into, in pixels.
public struct Box: Hashable, Sendable {
  public let width: Int
  public let height: Int

  /// What `.thumbs` shows unless told otherwise.
  public static let standard = Box(width: 300, height: 169)

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// What the daemon asks of a worker. A document comes as a read-only descriptor beside the message, the pictures go into a
/// memory file that comes beside it too.
public struct Job: Hashable, Sendable {
  public enum Task: Hashable, Sendable {
    /// Descriptors: the document, the memory file. The name's bytes are a hint of the type, never opened.
    case document(name: [UInt8])
    /// Descriptors: the memory file.
    case placeholder(PlaceholderKind)
  }

  /// Comes back in the outcome.
  public let number: UInt64
  public let task: Task
  /// 1 to 4 sizes, all from one decode.
  public let boxes: [Box]

  public init(number: UInt64, task: Task, boxes: [Box]) {
    self.number = number
    self.task = task
    self.boxes = boxes
  }
}

/// What a worker answers. The daemon trusts none of it: see `Frame`.
public struct Outcome: Hashable, Sendable {
  public let number: UInt64
  public let verdict: Verdict
  /// One plain sentence. Of what is ready only where it cannot be told whether it is whole, else empty.
  public let reason: String
  public let facts: Facts
  /// One for each box asked for, in that order; empty when a placeholder must stand in.
  public let pictures: [Drawn]
  /// Set exactly when `pictures` is empty.
  public let placeholder: PlaceholderKind?

  public init(
    number: UInt64, verdict: Verdict, reason: String, facts: Facts, pictures: [Drawn], placeholder: PlaceholderKind?
  ) {
    self.number = number
    self.verdict = verdict
    self.reason = reason
    self.facts = facts
    self.pictures = pictures
    self.placeholder = placeholder
  }

  /// A PNG in the memory file.
  public struct Drawn: Hashable, Sendable {
    public let width: Int
    public let height: Int
    /// Bytes from the memory file's start.
    public let offset: Int
    /// Bytes.
    public let length: Int

    public init(width: Int, height: Int, offset: Int, length: Int) {
      self.width = width
      self.height = height
      self.offset = offset
      self.length = length
    }
  }
}

/// What was read from a document; nil is "not said".
public struct Facts: Hashable, Sendable {
  public var type: MediaType?
  /// The container's true name, such as `matroska`.
  public var container: String?
  /// Seconds.
  public var duration: Double?
  /// Pixels as shown: turned upright, with square pixels.
  public var width: Int?
  public var height: Int?
  public var videoCodec: String?
  public var audioCodec: String?
  /// Frames a second.
  public var frameRate: Double?
  /// Degrees clockwise that the stored picture was turned by: 0, 90, 180 or 270.
  public var rotation: Int?
  public var hasAudio: Bool?
  /// As the file says it, ISO 8601.
  public var taken: String?
  public var cameraMake: String?
  public var cameraModel: String?

  public init() {}
}
