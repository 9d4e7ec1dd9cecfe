/// The packets of an MPEG program stream, which each say how long they are.
enum ProgramStream {
  /// Walks the last packets: a file that ends within one has lost the rest. One that ends behind a packet, and without the
  /// end code that not every writer sets, may be whole.
  static func check(_ source: Source) -> Completeness {
    let tail = source.tail(1 << 18)
    guard var place = firstPack(tail) else { return .unknown }
    while place < tail.count {
      guard let code = tail.big(place, 4) else { return Completeness.endMissing }
      let length: Int?
      switch code {
      case 0x1b9: return .whole
      case 0x1ba: length = packHeader(tail, place)
      case 0x1bb...0x1ff: length = tail.big(place + 4, 2).map { 6 + Int($0) }
      default: return .unknown
      }
      guard let length, place + length <= tail.count else { return Completeness.endMissing }
      place += length
    }
    return .unknown
  }

  private static func firstPack(_ tail: Bytes) -> Int? {
    (0..<max(0, tail.count - 3)).first { tail.has([0, 0, 1, 0xba], at: $0) }
  }

  private static func packHeader(_ tail: Bytes, _ place: Int) -> Int? {
    guard let mark = tail[place + 4] else { return nil }
    // MPEG-1's is shorter and has no stuffing.
    if mark >> 6 != 1 { return 12 }
    return tail[place + 13].map { 14 + Int($0 & 7) }
  }
}
