/// A TIFF file's first directory: where its strips are and how it is turned.
struct TIFFFile {
  /// Bytes; beyond the file's end when a strip is missing.
  private(set) var end: UInt64 = 0
  private(set) var orientation: Int?

  static func check(_ source: Source) -> Completeness {
    guard let file = TIFFFile(source) else { return .endMissing }
    return file.end > UInt64(source.size) ? .endMissing : .whole
  }

  /// - Returns: nil when the directory itself is not there.
  init?(_ source: Source) {
    let head = source.bytes(at: 0, 8)
    let isBig = head.has("MM")
    func number(_ bytes: Bytes, _ place: Int, _ length: Int) -> UInt64? {
      isBig ? bytes.big(place, length) : bytes.little(place, length)
    }
    guard let start = number(head, 4, 4), let count = number(source.bytes(at: Int64(start), 2), 0, 2), count > 0 else {
      return nil
    }
    let entries = source.bytes(at: Int64(start) + 2, Int(count) * 12)
    guard entries.count == Int(count) * 12 else { return nil }

    func values(_ entry: Int) -> [UInt64] {
      guard let type = number(entries, entry + 2, 2), let count = number(entries, entry + 4, 4), count < 1 << 20 else {
        return []
      }
      let length = type == 3 ? 2 : 4
      guard type == 3 || type == 4 else { return [] }
      var bytes = entries
      var place = entry + 8
      if Int(count) * length > 4 {
        guard let offset = number(entries, entry + 8, 4) else { return [] }
        bytes = source.bytes(at: Int64(offset), Int(count) * length)
        place = 0
      }
      return (0..<Int(count)).compactMap { number(bytes, place + $0 * length, length) }
    }

    var offsets: [UInt64] = []
    var lengths: [UInt64] = []
    for entry in stride(from: 0, to: entries.count, by: 12) {
      switch number(entries, entry, 2) {
      case 273, 324: offsets = values(entry)
      case 279, 325: lengths = values(entry)
      case 274: orientation = values(entry).first.flatMap { Int(exactly: $0) }
      default: break
      }
    }
    end = zip(offsets, lengths).map { $0 + $1 }.max() ?? 0
  }
}
