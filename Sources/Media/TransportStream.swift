/// The packets of a transport stream, all of one length, each of one of its streams.
///
/// Nothing in it says where it ends. But a stream's parts (PES packets) begin and end with packets: what does not fill its last packet
/// is stuffed. So a file that begins with the beginnings of its parts, as whoever puts one together has it, and ends within a part, was
/// cut. A recording of what was broadcast begins and ends anywhere.
enum TransportStream {
  /// One packet, as far as its head tells.
  private struct Packet {
    let stream: Int
    let isStart: Bool
    /// Empty where it carries a clock alone.
    let content: Range<Int>
    /// Whether nothing in it is stuffed.
    let isFull: Bool

    /// - Parameter place: of the mark.
    init?(_ bytes: Bytes, at place: Int) {
      guard bytes[place] == 0x47, let head = bytes.big(place + 1, 3), place + 188 <= bytes.count else { return nil }
      stream = Int(head >> 8 & 0x1fff)
      isStart = head >> 22 & 1 == 1
      let field = head & 0x20 == 0 ? 0 : Int(bytes[place + 4] ?? 0) + 1
      let start = min(place + 4 + field, place + 188)
      content = head & 0x10 == 0 ? start..<start : start..<place + 188
      isFull = field == 0 || field == Self.said(bytes, place + 4)
    }

    /// Bytes of an adaptation field that say something.
    private static func said(_ bytes: Bytes, _ place: Int) -> Int {
      guard let length = bytes[place], length > 0, let flags = bytes[place + 1] else { return 0 }
      var end = 2
      // Two clocks, a countdown; then what says itself how long it is.
      if flags & 0x10 != 0 { end += 6 }
      if flags & 0x08 != 0 { end += 6 }
      if flags & 0x04 != 0 { end += 1 }
      for mark: UInt8 in [0x02, 0x01] where flags & mark != 0 { end += 1 + Int(bytes[place + end] ?? 0) }
      return end
    }

    /// What only fills the time.
    var isEmpty: Bool { stream == 0x1fff || content.isEmpty }
  }

  /// How far a part has come.
  private struct Part {
    /// Bytes that are still to come; nil where it does not say how long it is, as a picture does not.
    var rest: Int?
    /// Whether the last packet was full to its end.
    var isFull: Bool
  }

  private static let most = 1 << 19

  static func check(_ source: Source) -> Completeness {
    guard let (length, mark) = TypeDetection.packets(source.bytes(at: 0, 8192)) else { return .unknown }
    // Blu-ray puts four bytes of time before each mark.
    let start = Int64(length == 192 ? mark - 4 : mark)
    let size = source.size - start
    if size % Int64(length) != 0 { return .cut("The last packet of the stream is cut off.") }
    // A camera goes on in another file at such an edge, in the midst of whatever there is.
    if length == 192, size % (32 * 192) == 0 { return .unknown }
    let offset = length == 192 ? 4 : 0
    let count = most / length
    guard beginsWithParts(source.bytes(at: start, count * length), length, offset) else { return .unknown }
    let first = max(0, size / Int64(length) - Int64(count))
    let ends = parts(source.bytes(at: start + first * Int64(length), count * length), length, offset)
    if ends.contains(where: { $0.rest.map { $0 > 0 } ?? false }) {
      return .cut("The last part of the stream is cut off.")
    }
    return ends.contains { $0.rest == nil && $0.isFull } ? .unfinished : .unknown
  }

  private static func beginsWithParts(_ bytes: Bytes, _ length: Int, _ offset: Int) -> Bool {
    var seen: Set<Int> = []
    for place in stride(from: offset, to: bytes.count, by: length) {
      guard let packet = Packet(bytes, at: place) else { return false }
      if packet.isEmpty || !seen.insert(packet.stream).inserted { continue }
      if !packet.isStart { return false }
    }
    return true
  }

  /// - Returns: the last part of each stream of sound or pictures, where its beginning is among these bytes.
  private static func parts(_ bytes: Bytes, _ length: Int, _ offset: Int) -> [Part] {
    var parts: [Int: Part] = [:]
    for place in stride(from: offset, to: bytes.count, by: length) {
      guard let packet = Packet(bytes, at: place) else { return [] }
      if packet.isEmpty { continue }
      if packet.isStart {
        // Tables begin otherwise.
        guard bytes.has([0, 0, 1], at: packet.content.lowerBound),
          let said = bytes.big(packet.content.lowerBound + 4, 2)
        else { continue }
        parts[packet.stream] = Part(rest: said == 0 ? nil : Int(said) + 6 - packet.content.count, isFull: packet.isFull)
      } else if let part = parts[packet.stream] {
        parts[packet.stream] = Part(rest: part.rest.map { $0 - packet.content.count }, isFull: packet.isFull)
      }
    }
    return Array(parts.values)
  }
}
