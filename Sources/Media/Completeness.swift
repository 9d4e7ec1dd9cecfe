import Contracts

/// Whether a file is whole, by its own words about its length and by its last bytes. libavformat's errors say nothing about it: most
/// cut files are read without one.
enum Completeness: Hashable {
  case whole
  case unknown
  /// It seems to end in the midst of a picture: decoding that one tells.
  case unfinished
  /// With one plain sentence.
  case cut(String)

  static let endMissing = Completeness.cut("The end of the file is missing.")
  static let neverWritten = Completeness.cut("The end of the file was never written.")

  static func check(_ source: Source, _ format: Format) -> Completeness {
    switch format {
    case .boxes: BoxFile.check(source)
    case .matroska: orUnwritten(source, matroska(source))
    case .avi: orUnwritten(source, riff(source))
    case .wav, .webp: riff(source)
    case .aiff: source.bytes(at: 0, 8).big(4, 4).map { reaches(source, Int64($0) + 8) } ?? endMissing
    case .asf: orUnwritten(source, asf(source))
    case .flv: flv(source)
    case .ogg: ogg(source)
    case .transportStream: orUnwritten(source, TransportStream.check(source))
    case .programStream: orUnwritten(source, ProgramStream.check(source))
    case .mp3: orUnwritten(source, mp3(source))
    case .flac: orUnwritten(source, FLACFile.check(source))
    case .jpeg: lastBytes(source, [0xff, 0xd9])
    case .png: lastBytes(source, Array("IEND".utf8))
    case .gif: source.tail(65536).all.last { $0 != 0 } == 0x3b ? .whole : endMissing
    case .bmp: bmp(source)
    case .tiff: TIFFFile.check(source)
    case .heif: BoxFile.check(source)
    case .cameraRaw: cameraRaw(source)
    case .pdf: lastBytes(source, Array("%%EOF".utf8))
    case .zip: lastBytes(source, [0x50, 0x4b, 5, 6])
    case .jpegXL, .icon, .otherStill, .rarePicture, .otherAudio, .otherVideo: orUnwritten(source, .unknown)
    case .text, .otherDocument: .unknown
    }
  }

  /// A last 64 KB of zeros is what a preallocated copy leaves: no compressed stream has that.
  static func orUnwritten(_ source: Source, _ other: Completeness) -> Completeness {
    source.size > 65536 && source.tail(65536).isZeros ? neverWritten : other
  }

  static func reaches(_ source: Source, _ length: Int64) -> Completeness {
    length <= source.size ? .whole : endMissing
  }

  private static func lastBytes(_ source: Source, _ mark: [UInt8]) -> Completeness {
    let tail = source.tail(65536)
    var place = tail.count - mark.count
    while place >= 0 {
      if tail.has(mark, at: place) { return .whole }
      place -= 1
    }
    return endMissing
  }

  /// RIFF says how long it is; AVI may have several of them one after the other.
  private static func riff(_ source: Source) -> Completeness {
    var place: Int64 = 0
    for _ in 0..<4096 {
      let head = source.bytes(at: place, 8)
      guard head.has("RIFF"), let length = head.little(4, 4) else { return place > 0 ? .whole : .unknown }
      // What was written to a pipe does not know.
      if length == 0 || length == 0xffff_ffff { return .unknown }
      place += Int64(length) + 8
      if place > source.size { return endMissing }
      place += place % 2
    }
    return .unknown
  }

  /// An element's length in EBML: as many bytes as the first one has leading zeros, and one; all ones is "unknown".
  private static func ebmlLength(_ bytes: Bytes, _ place: Int) -> (length: Int64?, bytes: Int)? {
    guard let first = bytes[place], first != 0 else { return nil }
    let count = first.leadingZeroBitCount + 1
    guard let raw = bytes.big(place, count) else { return nil }
    let value = raw & ((1 << UInt64(7 * count)) - 1)
    return (value == (1 << UInt64(7 * count)) - 1 ? nil : Int64(clamping: value), count)
  }

  private static func matroska(_ source: Source) -> Completeness {
    guard let (header, count) = ebmlLength(source.bytes(at: 4, 8), 0), let header, header < 1 << 20 else {
      return .unknown
    }
    var place = 4 + Int64(count) + header
    // Void and CRC elements may stand before the segment.
    for _ in 0..<16 {
      let head = source.bytes(at: place, 16)
      if head.count == 0 { return endMissing }
      if head.has([0x18, 0x53, 0x80, 0x67]) {
        guard let (length, count) = ebmlLength(head, 4) else { return endMissing }
        guard let length else { return .unknown }
        let (end, overflow) = (place + 4 + Int64(count)).addingReportingOverflow(length)
        return overflow ? endMissing : reaches(source, end)
      }
      guard let id = head[0], id == 0xec || id == 0xbf, let (length, count) = ebmlLength(head, 1), let length,
        length < 1 << 24
      else { return .unknown }
      place += 1 + Int64(count) + length
    }
    return .unknown
  }

  /// The file properties object holds the file's size, and a flag for streams that do not know it.
  private static func asf(_ source: Source) -> Completeness {
    let head = source.bytes(at: 0, 65536)
    let properties: [UInt8] = [
      0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53, 0x65,
    ]
    var place = 30
    while place + 24 <= head.count {
      if head.has(properties, at: place) {
        guard let size = head.little(place + 40, 8), let flags = head.little(place + 88, 4) else { return .unknown }
        return flags & 1 != 0 || size == 0 ? .unknown : reaches(source, Int64(clamping: size))
      }
      guard let length = head.little(place + 16, 8), length >= 24, length < 1 << 20 else { return .unknown }
      place += Int(length)
    }
    return .unknown
  }

  /// Behind every tag stands its length.
  private static func flv(_ source: Source) -> Completeness {
    guard let length = source.tail(4).big(0, 4), length >= 11, Int64(length) + 4 <= source.size else {
      return endMissing
    }
    let tag = source.bytes(at: source.size - 4 - Int64(length), 11)
    guard let kind = tag[0], [8, 9, 18].contains(kind & 0x1f), let data = tag.big(1, 3), data + 11 == length else {
      return endMissing
    }
    return .whole
  }

  /// The last page must end with the file; a stream that was closed says so in it.
  private static func ogg(_ source: Source) -> Completeness {
    let tail = source.tail(131072)
    guard let page = tail.last("OggS"), let flags = tail[page + 5], let segments = tail[page + 26] else {
      return endMissing
    }
    var end = page + 27 + Int(segments)
    for segment in 0..<Int(segments) {
      guard let length = tail[page + 27 + segment] else { return endMissing }
      end += Int(length)
    }
    if end > tail.count { return endMissing }
    return flags & 4 != 0 ? .whole : end == tail.count ? .unknown : endMissing
  }

  /// The Xing or Info header, where there is one, counts the bytes.
  private static func mp3(_ source: Source) -> Completeness {
    var start: Int64 = 0
    let tag = source.bytes(at: 0, 10)
    if tag.has("ID3"), let size = tag.big(6, 4) {
      let length = (size & 0x7f) | (size >> 8 & 0x7f) << 7 | (size >> 16 & 0x7f) << 14 | (size >> 24 & 0x7f) << 21
      start = 10 + Int64(length)
    }
    if start >= source.size { return endMissing }
    let frame = source.bytes(at: start, 256)
    guard let place = frame.first("Xing") ?? frame.first("Info"), let flags = frame.big(place + 4, 4), flags & 2 != 0,
      let bytes = frame.big(place + (flags & 1 != 0 ? 12 : 8), 4)
    else { return .unknown }
    return reaches(source, start + Int64(bytes))
  }

  /// Built as TIFF or as boxes; Fuji's, Olympus's and Panasonic's own ways do not tell.
  private static func cameraRaw(_ source: Source) -> Completeness {
    let head = source.bytes(at: 0, 8)
    if head.has("ftyp", at: 4) { return BoxFile.check(source) }
    let isTIFF = head.has([0x49, 0x49, 0x2a, 0]) || head.has([0x4d, 0x4d, 0, 0x2a])
    return isTIFF ? TIFFFile.check(source) : orUnwritten(source, .unknown)
  }

  private static func bmp(_ source: Source) -> Completeness {
    let head = source.bytes(at: 0, 54)
    guard let size = head.little(2, 4) else { return endMissing }
    if size > 54 { return reaches(source, Int64(size)) }
    guard let offset = head.little(10, 4), let width = head.little(18, 4), let height = head.little(22, 4),
      let bits = head.little(28, 2), head.little(30, 4) == 0, width < 1 << 16, height < 1 << 16
    else { return .unknown }
    return reaches(source, Int64(offset + (width * bits + 31) / 32 * 4 * height))
  }
}
