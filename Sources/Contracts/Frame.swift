/// Why a message between daemon and worker was refused.
public struct FrameError: Error, Hashable, Sendable {
  public let what: String
  init(_ what: String) { self.what = what }
}

/// How jobs and outcomes travel: one message each, little-endian, a tag byte before every optional. A worker that has met a
/// hostile file may send anything, so reading one checks every count, size and text.
public enum Frame {
  /// Bytes; the largest message there is.
  public static let limit = 16384
  /// Pixels; the largest edge of a picture that may be asked for or sent.
  public static let largestEdge = 4096

  private static let version: UInt8 = 1

  public static func encode(_ job: Job) -> [UInt8] {
    var out = Writer()
    out.byte(version)
    out.number(job.number)
    switch job.task {
    case .document(let name):
      out.byte(1)
      out.bytes(name)
    case .placeholder(let kind):
      out.byte(2)
      out.byte(kind.rawValue)
    }
    out.byte(UInt8(clamping: job.boxes.count))
    for box in job.boxes {
      out.number(UInt32(clamping: box.width))
      out.number(UInt32(clamping: box.height))
    }
    return out.done
  }

  public static func job(_ message: [UInt8]) throws(FrameError) -> Job {
    var from = Reader(message)
    try from.version(version)
    let number: UInt64 = try from.number()
    let task: Job.Task
    switch try from.byte() {
    case 1: task = .document(name: try from.bytes(most: 255))
    case 2: task = .placeholder(try from.one(of: PlaceholderKind.init(rawValue:)))
    default: throw FrameError("an unknown task")
    }
    let count = try from.byte()
    guard (1...4).contains(count) else { throw FrameError("\(count) sizes") }
    var boxes: [Box] = []
    for _ in 0..<count { boxes.append(Box(width: try from.edge(), height: try from.edge())) }
    try from.end()
    return Job(number: number, task: task, boxes: boxes)
  }

  public static func encode(_ outcome: Outcome) -> [UInt8] {
    var out = Writer()
    out.byte(version)
    out.number(outcome.number)
    out.byte(outcome.verdict.rawValue)
    out.text(outcome.reason)
    let facts = outcome.facts
    out.optional(facts.type) { out, type in
      out.byte(type.kind.rawValue)
      out.text(type.identifier)
      out.text(type.mime)
    }
    out.optional(facts.container) { $0.text($1) }
    out.optional(facts.duration) { $0.number($1.bitPattern) }
    out.optional(facts.width) { $0.number(UInt32(clamping: $1)) }
    out.optional(facts.height) { $0.number(UInt32(clamping: $1)) }
    out.optional(facts.videoCodec) { $0.text($1) }
    out.optional(facts.audioCodec) { $0.text($1) }
    out.optional(facts.frameRate) { $0.number($1.bitPattern) }
    out.optional(facts.rotation) { $0.number(UInt32(clamping: $1)) }
    out.optional(facts.hasAudio) { $0.byte($1 ? 1 : 0) }
    out.optional(facts.taken) { $0.text($1) }
    out.optional(facts.cameraMake) { $0.text($1) }
    out.optional(facts.cameraModel) { $0.text($1) }
    out.byte(UInt8(clamping: outcome.pictures.count))
    for picture in outcome.pictures {
      out.number(UInt32(clamping: picture.width))
      out.number(UInt32(clamping: picture.height))
      out.number(UInt32(clamping: picture.offset))
      out.number(UInt32(clamping: picture.length))
    }
    out.byte(outcome.placeholder?.rawValue ?? 0)
    return out.done
  }

  /// Reads what a worker sent for `job`.
  /// - Parameter memory: the size in bytes of the memory file that the pictures are in.
  public static func outcome(_ message: [UInt8], for job: Job, memory: Int) throws(FrameError) -> Outcome {
    var from = Reader(message)
    try from.version(version)
    let number: UInt64 = try from.number()
    guard number == job.number else { throw FrameError("the answer to another job") }
    let verdict = try from.one(of: Verdict.init(rawValue:))
    let reason = try from.text()
    var facts = Facts()
    facts.type = try from.optional { from throws(FrameError) in
      MediaType(
        kind: try from.one(of: MediaKind.init(rawValue:)), identifier: try from.text(), mime: try from.text())
    }
    facts.container = try from.optional { from throws(FrameError) in try from.text() }
    facts.duration = try from.optional { from throws(FrameError) in try from.measure() }
    facts.width = try from.optional { from throws(FrameError) in try from.count() }
    facts.height = try from.optional { from throws(FrameError) in try from.count() }
    facts.videoCodec = try from.optional { from throws(FrameError) in try from.text() }
    facts.audioCodec = try from.optional { from throws(FrameError) in try from.text() }
    facts.frameRate = try from.optional { from throws(FrameError) in try from.measure() }
    facts.rotation = try from.optional { from throws(FrameError) in try from.count() }
    facts.hasAudio = try from.optional { from throws(FrameError) in try from.byte() != 0 }
    facts.taken = try from.optional { from throws(FrameError) in try from.text() }
    facts.cameraMake = try from.optional { from throws(FrameError) in try from.text() }
    facts.cameraModel = try from.optional { from throws(FrameError) in try from.text() }
    let count = Int(try from.byte())
    guard count == 0 || count == job.boxes.count else { throw FrameError("\(count) pictures") }
    var pictures: [Outcome.Drawn] = []
    for box in job.boxes.prefix(count) {
      let width = try from.edge()
      let height = try from.edge()
      let offset = try from.count()
      let length = try from.count()
      guard width <= box.width, height <= box.height else { throw FrameError("a picture larger than asked for") }
      guard length > 0, offset <= memory, length <= memory - offset else {
        throw FrameError("a picture outside of its memory")
      }
      pictures.append(Outcome.Drawn(width: width, height: height, offset: offset, length: length))
    }
    let kind = try from.byte()
    let placeholder = PlaceholderKind(rawValue: kind)
    guard kind == 0 || placeholder != nil, (placeholder == nil) == (count > 0) else {
      throw FrameError("neither a picture nor a placeholder")
    }
    try from.end()
    return Outcome(
      number: number, verdict: verdict, reason: reason, facts: facts, pictures: pictures, placeholder: placeholder)
  }
}

private struct Writer {
  var done: [UInt8] = []

  mutating func byte(_ value: UInt8) { done.append(value) }

  mutating func number(_ value: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) { done.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func bytes(_ value: [UInt8]) {
    let kept = value.prefix(1024)
    number(UInt16(kept.count))
    done.append(contentsOf: kept)
  }

  mutating func text(_ value: String) { bytes(Array(value.utf8)) }

  mutating func optional<Value>(_ value: Value?, _ write: (inout Writer, Value) -> Void) {
    byte(value == nil ? 0 : 1)
    if let value { write(&self, value) }
  }
}

private struct Reader {
  private let message: [UInt8]
  private var position = 0

  init(_ message: [UInt8]) { self.message = message }

  mutating func byte() throws(FrameError) -> UInt8 {
    guard position < message.count else { throw FrameError("it ends early") }
    position += 1
    return message[position - 1]
  }

  mutating func number<Value: FixedWidthInteger & UnsignedInteger>() throws(FrameError) -> Value {
    var value: Value = 0
    for shift in stride(from: 0, to: Value.bitWidth, by: 8) { value |= Value(try byte()) << shift }
    return value
  }

  mutating func count() throws(FrameError) -> Int {
    let value: UInt32 = try number()
    return Int(value)
  }

  mutating func edge() throws(FrameError) -> Int {
    let value = try count()
    guard (1...Frame.largestEdge).contains(value) else { throw FrameError("an edge of \(value) pixels") }
    return value
  }

  mutating func measure() throws(FrameError) -> Double {
    let value = Double(bitPattern: try number())
    guard value.isFinite, value >= 0, value < 1e12 else { throw FrameError("a measure that is none") }
    return value
  }

  mutating func bytes(most: Int) throws(FrameError) -> [UInt8] {
    let length: UInt16 = try number()
    guard length <= most, Int(length) <= message.count - position else { throw FrameError("\(length) bytes of text") }
    position += Int(length)
    return Array(message[position - Int(length)..<position])
  }

  /// Control characters and invalid bytes are made harmless: it goes to logs and terminals.
  mutating func text() throws(FrameError) -> String {
    let text = String(decoding: try bytes(most: 1024), as: UTF8.self)
    return String(
      String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }

  mutating func one<Value>(of make: (UInt8) -> Value?) throws(FrameError) -> Value {
    let raw = try byte()
    guard let value = make(raw) else { throw FrameError("the unknown value \(raw)") }
    return value
  }

  mutating func optional<Value>(_ read: (inout Reader) throws(FrameError) -> Value) throws(FrameError) -> Value? {
    try byte() == 0 ? nil : try read(&self)
  }

  mutating func version(_ expected: UInt8) throws(FrameError) {
    guard try byte() == expected else { throw FrameError("another version of the protocol") }
  }

  func end() throws(FrameError) {
    guard position == message.count else { throw FrameError("more than there should be") }
  }
}
