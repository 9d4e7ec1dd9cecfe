/// A TIFF file's first directory, as it also stands in camera raw files and in EXIF: where its strips are, how it is turned, who
/// took it when.
struct TIFFFile {
  /// Bytes; beyond the file's end when a strip is missing.
  private(set) var end: UInt64 = 0
  private(set) var orientation: Int?
  private(set) var make: String?
  private(set) var model: String?
  /// As EXIF writes it.
  private(set) var date: String?

  private let source: Source
  private let base: Int64
  private let isBig: Bool

  static func check(_ source: Source) -> Completeness {
    guard let file = TIFFFile(source) else { return .endMissing }
    return file.end > UInt64(source.size) ? .endMissing : .whole
  }

  /// Directories; more are not read.
  private static let most = 32

  /// - Parameter base: where the header stands, which all places count from.
  /// - Returns: nil when the directory itself is not there.
  init?(_ source: Source, at base: Int64 = 0) {
    (self.source, self.base) = (source, base)
    let head = source.bytes(at: base, 8)
    isBig = head.has("MM")
    guard isBig || head.has("II"), let start = number(head, 4, 4), var entries = entries(start) else { return nil }
    describe(entries)
    // The sensor's data stand in one of the others.
    var others: [UInt64] = []
    for _ in 0..<Self.most {
      others += measure(entries)
      if let next = entries.next, next > 0, let more = self.entries(next) {
        entries = more
      } else if let next = others.popLast(), let more = self.entries(next) {
        entries = more
      } else {
        break
      }
    }
  }

  private mutating func describe(_ entries: Entries) {
    for entry in entries.places {
      switch number(entries.bytes, entry, 2) {
      case 271: make = text(entries.bytes, entry)
      case 272: model = text(entries.bytes, entry)
      case 274: orientation = values(entries.bytes, entry).first.flatMap { Int(exactly: $0) }
      case 306: date = date ?? text(entries.bytes, entry)
      case 34665:
        guard let place = values(entries.bytes, entry).first, let more = self.entries(place) else { continue }
        // The day of taking says more than that of the last change.
        let taken = more.places.first { number(more.bytes, $0, 2) == 36867 }
        date = taken.flatMap { text(more.bytes, $0) } ?? date
      default: break
      }
    }
  }

  /// Looks how far a directory's data reach.
  /// - Returns: where the directories below it are.
  private mutating func measure(_ entries: Entries) -> [UInt64] {
    var (offsets, lengths, below): ([UInt64], [UInt64], [UInt64]) = ([], [], [])
    for entry in entries.places {
      switch number(entries.bytes, entry, 2) {
      case 273, 324: offsets = values(entries.bytes, entry)
      case 279, 325: lengths = values(entries.bytes, entry)
      case 330: below = values(entries.bytes, entry)
      default: break
      }
    }
    end = zip(offsets, lengths).map { $0 + $1 }.reduce(end, max)
    return below
  }

  private func number(_ bytes: Bytes, _ place: Int, _ length: Int) -> UInt64? {
    isBig ? bytes.big(place, length) : bytes.little(place, length)
  }

  private struct Entries {
    let bytes: Bytes
    /// The directory behind this one; 0 behind the last.
    let next: UInt64?

    var places: StrideTo<Int> { stride(from: 0, to: bytes.count, by: 12) }
  }

  private func entries(_ start: UInt64) -> Entries? {
    let start = base + Int64(clamping: start & 0xffff_ffff)
    guard let count = number(source.bytes(at: start, 2), 0, 2), count > 0 else { return nil }
    let bytes = source.bytes(at: start + 2, Int(count) * 12)
    guard bytes.count == Int(count) * 12 else { return nil }
    return Entries(bytes: bytes, next: number(source.bytes(at: start + 2 + Int64(bytes.count), 4), 0, 4))
  }

  /// What an entry holds: in itself, or where it points to.
  private func content(_ entries: Bytes, _ entry: Int, size: Int) -> (bytes: Bytes, place: Int, count: Int)? {
    guard let count = number(entries, entry + 4, 4), count < 1 << 20 else { return nil }
    if Int(count) * size <= 4 { return (entries, entry + 8, Int(count)) }
    guard let offset = number(entries, entry + 8, 4) else { return nil }
    return (source.bytes(at: base + Int64(offset), Int(count) * size), 0, Int(count))
  }

  private func values(_ entries: Bytes, _ entry: Int) -> [UInt64] {
    guard let type = number(entries, entry + 2, 2), type == 3 || type == 4 else { return [] }
    let size = type == 3 ? 2 : 4
    guard let (bytes, place, count) = content(entries, entry, size: size) else { return [] }
    return (0..<count).compactMap { number(bytes, place + $0 * size, size) }
  }

  private func text(_ entries: Bytes, _ entry: Int) -> String? {
    guard number(entries, entry + 2, 2) == 2, let (bytes, place, count) = content(entries, entry, size: 1), count < 256
    else { return nil }
    let letters = (0..<count).compactMap { bytes[place + $0] }.prefix { $0 != 0 }
    let text = String(decoding: letters, as: UTF8.self)
    // Makers fill up with blanks.
    guard let last = text.lastIndex(where: { $0 != " " }) else { return nil }
    // What holds anything but letters is no name.
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) { return nil }
    return String(text[...last])
  }
}
