import CLibAV
import Contracts

/// A file that is one picture: decoded as one packet, without a container.
enum Still {
  /// Bytes; a larger file is not read into memory.
  static let largestFile: Int64 = 256 << 20

  /// Reads the picture into `frame`.
  /// - Parameters:
  ///   - box: the largest size wanted; a JPEG is decoded no larger than that needs.
  ///   - isCut: that its end is missing.
  static func decode(
    _ source: Source, _ format: Format, _ codec: AVCodecID, _ box: Box, isCut: Bool, into frame: borrowing DecodedFrame
  )
    throws(MediaError)
  {
    guard source.size <= largestFile else { throw .unsupported("The picture is larger than 256 MB.") }
    if let (width, height) = size(source, format), width * height > Int(Decoder.mostPixels) { throw .tooManyPixels }
    if format == .webp, let bytes = AnimatedWebP.firstFrame(source) {
      return try decode(Packet.of(bytes), codec, into: frame)
    }
    try decode(
      Packet.whole(source, limit: largestFile), codec, halvings: format == .jpeg ? halvings(source, box) : 0,
      isCut: isCut && format == .jpeg, into: frame)
  }

  /// A picture inside of another file: the cover of an album.
  static func decode(
    _ packet: borrowing Packet, _ codec: AVCodecID, halvings: Int = 0, configuration: [UInt8]? = nil,
    isCut: Bool = false, into frame: borrowing DecodedFrame
  ) throws(MediaError) {
    let decoder = try unsafe Decoder(codec, halvings: halvings, configuration: configuration, isCut: isCut)
    var code = decoder.send(packet)
    decoder.sendEnd()
    if code >= 0 { code = decoder.receive(frame) }
    guard code >= 0 else { throw MediaError(libav: code, "The picture") }
  }

  /// How often a JPEG may be halved while it stays twice as large as the picture wanted.
  private static func halvings(_ source: Source, _ box: Box) -> Int {
    size(source, .jpeg).map { halvings(longest: max($0.width, $0.height), box) } ?? 0
  }

  static func halvings(longest: Int, _ box: Box) -> Int {
    (0...2).last { longest >> $0 >= 2 * max(box.width, box.height) } ?? 0
  }

  /// The picture's size as its own header says it; nil where that is not read here.
  static func size(_ source: Source, _ format: Format) -> (width: Int, height: Int)? {
    let head = source.bytes(at: 0, 32)
    func pair(_ width: UInt64?, _ height: UInt64?) -> (Int, Int)? {
      guard let width, let height else { return nil }
      // Held where a product of both cannot overflow.
      return (Int(min(width, 1 << 30)), Int(min(height, 1 << 30)))
    }
    switch format {
    case .jpeg: return sizeOfJPEG(source)
    case .png: return pair(head.big(16, 4), head.big(20, 4))
    case .gif: return pair(head.little(6, 2), head.little(8, 2))
    case .bmp:
      return head.little(14, 4) == 12
        ? nil : pair(head.little(18, 4), (head.little(22, 4)).map { UInt64(Int32(truncatingIfNeeded: $0).magnitude) })
    case .webp where head.has("VP8X", at: 12):
      return pair(head.little(24, 3).map { $0 + 1 }, head.little(27, 3).map { $0 + 1 })
    default: return nil
    }
  }

  private static func sizeOfJPEG(_ source: Source) -> (width: Int, height: Int)? {
    frameOfJPEG(source, at: 0).map { ($0.width, $0.height) }
  }

  /// From the frame header, wherever the segments before it end.
  /// - Parameter start: where the JPEG begins in the file.
  static func frameOfJPEG(_ source: Source, at start: Int64) -> (width: Int, height: Int, isLossless: Bool)? {
    var place = start + 2
    for _ in 0..<256 {
      let segment = source.bytes(at: place, 9)
      guard segment[0] == 0xff, let marker = segment[1] else { return nil }
      if marker == 0xff {
        place += 1
        continue
      }
      if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) {
        guard let height = segment.big(5, 2), let width = segment.big(7, 2) else { return nil }
        return (Int(width), Int(height), marker > 0xc2)
      }
      guard let length = segment.big(2, 2), length >= 2 else { return nil }
      place += 2 + Int64(length)
    }
    return nil
  }
}

/// libav decodes no animated WebP; its first frame is a WebP picture of its own.
enum AnimatedWebP {
  /// - Returns: nil when the file is not animated.
  static func firstFrame(_ source: Source) -> [UInt8]? {
    let head = source.bytes(at: 0, 64)
    guard head.has("VP8X", at: 12), let flags = head[20], flags & 2 != 0 else { return nil }
    var place: Int64 = 12
    for _ in 0..<64 {
      let chunk = source.bytes(at: place, 24)
      guard let length = chunk.little(4, 4) else { return nil }
      if chunk.has("ANMF") {
        guard length > 16, Int64(length) <= source.size, length <= 64 << 20 else { return nil }
        let frame = source.bytes(at: place + 24, Int(length) - 16)
        var file = Array("WEBP".utf8)
        if frame.has("ALPH") {
          // The extended header: alpha, then the canvas, which here is the frame itself.
          file += Array("VP8X".utf8) + [10, 0, 0, 0, 0x10, 0, 0, 0] + chunk.all[14..<20]
        }
        file += frame.all
        let count = UInt32(file.count)
        return Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + file
      }
      place += 8 + Int64(length + length % 2)
    }
    return nil
  }
}
