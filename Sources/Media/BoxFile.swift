/// The top level of MP4, QuickTime and AVIF: boxes that each say how long they are.
enum BoxFile {
  /// The size and kind of one top-level box.
  struct Box: Hashable {
    let kind: [UInt8]
    let start: Int64
    /// Beyond the file's end when that is missing.
    let end: Int64
  }

  /// Boxes; more are not walked. A fragmented file has two for every fragment.
  private static let most = 20000

  static func check(_ source: Source) -> Completeness {
    var place: Int64 = 0
    var hasDescription = false
    var hasData = false
    var last: Box?
    for _ in 0..<most {
      if place == source.size { break }
      guard let box = box(source, at: place) else {
        if source.bytes(at: place, 4096).isZeros { return .neverWritten }
        // Some programs leave a few bytes behind the last box.
        if hasDescription && hasData { return .unknown }
        return source.size - place < 8 ? .endMissing : .cut("The file's structure breaks off.")
      }
      let kind = String(decoding: box.kind, as: UTF8.self)
      hasDescription = hasDescription || kind == "moov" || kind == "meta"
      hasData = hasData || kind == "mdat"
      if box.end > source.size { return .endMissing }
      last = box
      place = box.end
    }
    if place < source.size { return .unknown }
    guard hasDescription else { return .cut("The description of the content (moov) is missing.") }
    if let last, last.kind == Array("mdat".utf8) { return Completeness.orUnwritten(source, .whole) }
    return .whole
  }

  private static func box(_ source: Source, at place: Int64) -> Box? {
    let head = source.bytes(at: place, 16)
    guard let short = head.big(0, 4), head.count >= 8 else { return nil }
    let kind = Array(head.all[4..<8])
    guard kind.allSatisfy({ $0 >= 0x20 && $0 < 0x7f || $0 == 0xa9 }) else { return nil }
    let length: Int64
    switch short {
    case 0: length = source.size - place
    case 1:
      guard let long = head.big(8, 8), long >= 16 else { return nil }
      length = Int64(clamping: long)
    case 2..<8: return nil
    default: length = Int64(short)
    }
    let (end, overflow) = place.addingReportingOverflow(length)
    return Box(kind: kind, start: place, end: overflow ? .max : end)
  }
}
