import CLibAV

/// Pictures of the sorts that programs exchange and cameras do not make: one packet for a decoder each, told by their first bytes.
enum RarePicture {
  /// - Parameter hint: the name's extension, in lower case; it decides where the content alone says too little.
  /// - Returns: the decoder and an extension of the type.
  static func detect(_ head: Bytes, hint: String?) -> (codec: AVCodecID, sort: String)? {
    for (magic, codec, sort) in magics where head.has(magic) { return (codec, sort) }
    if head.has([0, 0, 0, 7], at: 4), let size = head.big(0, 4), (100...1024).contains(size) {
      return (AV_CODEC_ID_XWD, "xwd")
    }
    if head[0] == 0x0a, head[1].map({ $0 <= 5 }) == true, head[2] == 1, head[64] == 0 {
      return (AV_CODEC_ID_PCX, "pcx")
    }
    if let codec = anymap(head) { return (codec, "pnm") }
    if hint == "xbm", head.has("#define ") { return (AV_CODEC_ID_XBM, "xbm") }
    return hint == "tga" && isTarga(head) ? (AV_CODEC_ID_TARGA, "tga") : nil
  }

  private static let magics: [([UInt8], AVCodecID, String)] = [
    ([0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20], AV_CODEC_ID_JPEG2000, "jp2"),
    ([0xff, 0x4f, 0xff, 0x51], AV_CODEC_ID_JPEG2000, "jp2"),
    (Array("8BPS".utf8), AV_CODEC_ID_PSD, "psd"),
    ([0x76, 0x2f, 0x31, 0x01], AV_CODEC_ID_EXR, "exr"),
    (Array("qoif".utf8), AV_CODEC_ID_QOI, "qoi"),
    (Array("SDPX".utf8), AV_CODEC_ID_DPX, "dpx"),
    (Array("XPDS".utf8), AV_CODEC_ID_DPX, "dpx"),
    (Array("DDS ".utf8), AV_CODEC_ID_DDS, "dds"),
    ([0x01, 0xda], AV_CODEC_ID_SGI, "sgi"),
    ([0x59, 0xa6, 0x6a, 0x95], AV_CODEC_ID_SUNRAST, "ras"),
    (Array("/* XPM */".utf8), AV_CODEC_ID_XPM, "xpm"),
  ]

  /// PBM, PGM, PPM, PAM and their like of floating point: a letter, a digit, and the size in words.
  private static func anymap(_ head: Bytes) -> AVCodecID? {
    guard head[0] == UInt8(ascii: "P"), let kind = head[1], head[2].map({ (9...13).contains($0) || $0 == 0x20 }) == true
    else { return nil }
    let lines = head.all.prefix(1024).split { $0 == 10 || $0 == 13 }.filter { $0.first != UInt8(ascii: "#") }
    let words = lines.joined(separator: [10]).split(omittingEmptySubsequences: true) { $0 <= 0x20 }.dropFirst().prefix(
      2)
    if kind == UInt8(ascii: "7") {
      let names = ["WIDTH", "HEIGHT", "DEPTH", "MAXVAL", "TUPLTYPE"].map { Array($0.utf8) }
      return words.first.map { names.contains(Array($0)) } == true ? AV_CODEC_ID_PAM : nil
    }
    let isSize = words.count == 2 && words.allSatisfy { $0.allSatisfy { (0x30...0x39).contains($0) } }
    guard isSize else { return nil }
    switch kind {
    case UInt8(ascii: "1"), UInt8(ascii: "4"): return AV_CODEC_ID_PBM
    case UInt8(ascii: "2"), UInt8(ascii: "5"): return AV_CODEC_ID_PGM
    case UInt8(ascii: "3"), UInt8(ascii: "6"): return AV_CODEC_ID_PPM
    case UInt8(ascii: "F"), UInt8(ascii: "f"): return AV_CODEC_ID_PFM
    case UInt8(ascii: "H"), UInt8(ascii: "h"): return AV_CODEC_ID_PHM
    default: return nil
    }
  }

  /// Targa has no mark of its own: a header that makes sense must do.
  private static func isTarga(_ head: Bytes) -> Bool {
    guard let palette = head[1], let kind = head[2], let bits = head[16] else { return false }
    return palette <= 1 && [1, 2, 3, 9, 10, 11].contains(kind) && [8, 15, 16, 24, 32].contains(bits)
  }
}
