import CLibAV
import Contracts
import Posix

/// What a document's first bytes say that it is.
struct Detected {
  let format: Format
  let type: MediaType
}

/// The formats that are told apart by content: how each is read and how it is told that it is whole.
enum Format: Hashable {
  case boxes, matroska, avi, asf, flv, ogg, transportStream, programStream
  case jpeg, png, gif, webp, bmp, tiff, jpegXL, heif, cameraRaw, icon, otherStill
  case rarePicture(AVCodecID)
  case mp3, wav, aiff, flac, otherAudio, otherVideo
  case pdf, zip, text, otherDocument

  /// libavformat's demuxer; nil for what is not read by it, or only after its own guess.
  var demuxer: String? {
    switch self {
    case .boxes: "mov"
    case .matroska: "matroska"
    case .avi: "avi"
    case .asf: "asf"
    case .flv: "flv"
    case .ogg: "ogg"
    case .transportStream: "mpegts"
    case .programStream: "mpeg"
    case .mp3: "mp3"
    case .wav: "wav"
    case .aiff: "aiff"
    case .flac: "flac"
    case .icon: "ico"
    default: nil
    }
  }

  /// The decoder for a file that is one picture; nil for everything else.
  var still: AVCodecID? {
    switch self {
    case .jpeg: AV_CODEC_ID_MJPEG
    case .png: AV_CODEC_ID_PNG
    case .gif: AV_CODEC_ID_GIF
    case .webp: AV_CODEC_ID_WEBP
    case .bmp: AV_CODEC_ID_BMP
    case .tiff: AV_CODEC_ID_TIFF
    case .jpegXL: AV_CODEC_ID_JPEGXL
    case .rarePicture(let codec): codec
    default: nil
    }
  }
}

/// Type by content. The name only decides between kinds that look alike, such as one sort of text and another.
enum TypeDetection {
  /// - Returns: nil when the first bytes are of no known kind.
  static func detect(_ source: Source, name: FileName) -> Detected? {
    let head = source.bytes(at: 0, 8192)
    let hint = MediaTypes.fileExtension(of: name)
    guard let (format, sort) = boxes(head) ?? media(head) ?? still(head, hint) ?? document(head, source) else {
      return nil
    }
    let narrowed = hint.flatMap { alike[sort]?.contains($0) == true ? $0 : nil } ?? sort
    return Detected(
      format: cameras.contains(narrowed) ? .cameraRaw : format,
      type: MediaTypes.byExtension(narrowed) ?? MediaTypes.unknown)
  }

  /// Extensions that say more than the content does.
  private static let alike: [String: Set<String>] = [
    "txt": [
      "log", "conf", "ini", "md", "markdown", "html", "htm", "xml", "xmp", "csv", "yaml", "yml", "srt", "vtt", "m3u",
      "m3u8",
      "svg", "ps", "eps",
    ],
    "mp4": ["m4v", "mov", "3gp", "3g2", "f4v"],
    "mkv": ["mka", "mk3d"],
    "ogg": ["oga", "ogv", "opus", "spx", "ogm"],
    "asf": ["wmv", "wma"],
    "ts": ["m2ts", "mts"],
    "mpg": ["vob", "mod", "m1v", "m2v"],
    "zip": ["docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"],
    "ole": ["doc", "xls", "ppt"],
    "tif": ["nef", "arw", "dng", "pef", "cr2"],
  ]

  private static let cameras: Set<String> = ["cr2", "cr3", "nef", "arw", "dng", "pef", "raf", "orf", "rw2"]

  /// MP4, QuickTime and what is built like them.
  private static func boxes(_ head: Bytes) -> (Format, String)? {
    if head.has("ftyp", at: 4) {
      let length = Int(clamping: min(head.big(0, 4) ?? 0, 256))
      var brands: [String] = []
      for place in [8] + Array(stride(from: 16, to: max(16, length), by: 4)) {
        if place + 4 <= head.count { brands.append(String(decoding: head.all[place..<place + 4], as: UTF8.self)) }
      }
      switch brands.first {
      case "qt  ": return (.boxes, "mov")
      case "M4V ", "M4VH", "M4VP": return (.boxes, "m4v")
      case "M4A ", "M4B ", "M4P ": return (.boxes, "m4a")
      case "f4v ", "F4V ": return (.boxes, "f4v")
      case "crx ": return (.otherStill, "cr3")
      case "heic", "heix", "hevc", "heim", "heis": return (.heif, "heic")
      case "avif", "avis": return (.boxes, "avif")
      case "mif1", "msf1": return brands.contains("avif") ? (.boxes, "avif") : (.heif, "heif")
      case .some(let brand) where brand.hasPrefix("3gp"): return (.boxes, "3gp")
      case .some(let brand) where brand.hasPrefix("3g2"): return (.boxes, "3g2")
      default: return (.boxes, "mp4")
      }
    }
    for kind: StaticString in ["moov", "mdat", "wide", "pnot", "skip", "free"] where head.has(kind, at: 4) {
      return (.boxes, "mov")
    }
    return nil
  }

  private static func media(_ head: Bytes) -> (Format, String)? {
    if head.has([0x1a, 0x45, 0xdf, 0xa3]) {
      let type = head.first("webm").map { $0 < 64 } ?? false
      return (.matroska, type ? "webm" : "mkv")
    }
    if head.has("RIFF") || head.has("RF64") {
      if head.has("AVI", at: 8) { return (.avi, "avi") }
      if head.has("WAVE", at: 8) { return (.wav, "wav") }
      if head.has("WEBP", at: 8) { return (.webp, "webp") }
    }
    if head.has([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11]) { return (.asf, "asf") }
    if head.has("FLV\u{1}") { return (.flv, "flv") }
    if head.has("OggS") {
      let first = head[27 - 1].map { 27 + Int($0) } ?? 28
      if head.has("\u{80}theora", at: first) || head.has([0x80] + Array("theora".utf8), at: first) {
        return (.ogg, "ogv")
      }
      if head.has("fishead", at: first) || head.has([1] + Array("video".utf8), at: first) { return (.ogg, "ogv") }
      if head.has("OpusHead", at: first) { return (.ogg, "opus") }
      return (.ogg, "ogg")
    }
    if head.has([0, 0, 1, 0xba]) { return (.programStream, "mpg") }
    if let (length, _) = packets(head) { return (.transportStream, length == 192 ? "m2ts" : "ts") }
    if head.has("fLaC") { return (.flac, "flac") }
    if head.has("FORM"), head.has("AIF", at: 8) { return (.aiff, "aiff") }
    if head.has("ID3") { return (.mp3, "mp3") }
    if let first = head[0], let second = head[1], first == 0xff, second & 0xe6 == 0xe2,
      head[2].map({ $0 >> 4 != 15 }) == true
    {
      return (.mp3, "mp3")
    }
    if head.has([0xff, 0xf1]) || head.has([0xff, 0xf9]) { return (.otherAudio, "aac") }
    for (magic, name): (StaticString, String) in [
      ("caff", "caf"), (".snd", "au"), ("#!AMR", "amr"), ("MAC ", "ape"), ("wvpk", "wv"), ("MThd", "mid"),
    ] where head.has(magic) {
      return (.otherAudio, name)
    }
    for (magic, name): (StaticString, String) in [
      (".RMF", "rm"), ("DKIF", "ivf"), ("FWS", "swf"), ("CWS", "swf"), ("YUV4MPEG2", "y4m"), ("nut/multimedia", "nut"),
    ] where head.has(magic) {
      return (.otherVideo, name)
    }
    if head.has([0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01]) { return (.otherVideo, "mxf") }
    return nil
  }

  /// The length of a transport stream's packets and where the first mark stands, when five of them follow each other. A stream may begin in the midst of
  /// a packet.
  static func packets(_ head: Bytes) -> (length: Int, mark: Int)? {
    for length in [188, 192, 204] {
      for start in 0..<length where (0..<5).allSatisfy({ head[start + $0 * length] == 0x47 }) { return (length, start) }
    }
    return nil
  }

  private static func still(_ head: Bytes, _ hint: String?) -> (Format, String)? {
    if head.has([0xff, 0xd8, 0xff]) { return (.jpeg, "jpg") }
    if head.has([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return (.png, "png") }
    if head.has("GIF87a") || head.has("GIF89a") { return (.gif, "gif") }
    if head.has("BM"), head.little(6, 4) == 0, let header = head.little(14, 4), (12...124).contains(header) {
      return (.bmp, "bmp")
    }
    if head.has([0x49, 0x49, 0x2a, 0]) || head.has([0x4d, 0x4d, 0, 0x2a]) {
      return head.has("CR", at: 8) ? (.otherStill, "cr2") : (.tiff, "tif")
    }
    if head.has([0xff, 0x0a]) || head.has([0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20]) { return (.jpegXL, "jxl") }
    if head.has([0, 0, 1, 0]), head.little(4, 2).map({ (1...64).contains($0) }) == true { return (.icon, "ico") }
    if head.has("FUJIFILMCCD-RAW") { return (.otherStill, "raf") }
    if head.has("IIRO") || head.has("IIRS") { return (.otherStill, "orf") }
    if head.has([0x49, 0x49, 0x55, 0]) { return (.otherStill, "rw2") }
    return RarePicture.detect(head, hint: hint).map { (.rarePicture($0.codec), $0.sort) }
  }

  private static func document(_ head: Bytes, _ source: Source) -> (Format, String)? {
    if head.first("%PDF-").map({ $0 < 1024 }) == true { return (.pdf, "pdf") }
    if head.has([0x50, 0x4b, 3, 4]) { return (.zip, package(head, source)) }
    if head.has([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) { return (.otherDocument, compound(head, source)) }
    if head.has("{\\rtf") { return (.text, "rtf") }
    if head.has("%!PS") { return (.text, "ps") }
    if head.has([0x1f, 0x8b]) { return (.otherDocument, "gz") }
    if head.has([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]) { return (.otherDocument, "7z") }
    if head.has("Rar!") { return (.otherDocument, "rar") }
    if head.has("ustar", at: 257) { return (.otherDocument, "tar") }
    return text(head)
  }

  /// Office's and OpenDocument's packages are zip archives whose first or second members tell.
  private static func package(_ head: Bytes, _ source: Source) -> String {
    for (kind, name): (StaticString, String) in [
      ("mimetypeapplication/vnd.oasis.opendocument.text", "odt"),
      ("mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "ods"),
      ("mimetypeapplication/vnd.oasis.opendocument.presentation", "odp"),
      ("mimetypeapplication/epub+zip", "epub"),
    ] where head.has(kind, at: 30) {
      return name
    }
    let directory = source.tail(65536)
    for (member, name): (StaticString, String) in [
      ("word/document.xml", "docx"), ("xl/workbook.xml", "xlsx"), ("ppt/presentation.xml", "pptx"),
    ] where head.first(member) != nil || directory.first(member) != nil {
      return name
    }
    return "zip"
  }

  /// The older Office files are compound files whose directory holds a stream of a known name.
  private static func compound(_ head: Bytes, _ source: Source) -> String {
    guard let sector = head.little(48, 4), sector < 1 << 24 else { return "ole" }
    let directory = source.bytes(at: Int64(sector + 1) * 512, 4096)
    let names = stride(from: 0, to: directory.count, by: 128).map { entry in
      String(
        decoding: stride(from: entry, to: entry + 64, by: 2).compactMap { directory[$0] }.filter { $0 != 0 },
        as: UTF8.self)
    }
    if names.contains("WordDocument") { return "doc" }
    if names.contains("Workbook") || names.contains("Book") { return "xls" }
    if names.contains("PowerPoint Document") { return "ppt" }
    return "ole"
  }

  /// UTF-8 (or what begins with a UTF-16 mark) without control characters other than white space.
  private static func text(_ head: Bytes) -> (Format, String)? {
    if head.has([0xff, 0xfe]) || head.has([0xfe, 0xff]) { return (.text, "txt") }
    guard head.count > 0 else { return nil }
    // A letter may be cut at the end of what was read.
    var sample = head.all[...]
    if head.count == 8192 { while let last = sample.last, last >= 0x80 { sample.removeLast() } }
    let isPrintable = sample.allSatisfy { $0 >= 0x20 && $0 != 0x7f || (9...13).contains($0) || $0 == 0x1b }
    guard isPrintable, String(validating: sample, as: UTF8.self) != nil else { return nil }
    let start = sample.drop { (9...13).contains($0) || $0 == 0x20 }.prefix(16).map { $0 | 0x20 }
    if start.first == UInt8(ascii: "{") || start.first == UInt8(ascii: "[") | 0x20 { return (.text, "json") }
    if start.starts(with: Array("<!doctype html".utf8)) || start.starts(with: Array("<html".utf8)) {
      return (.text, "html")
    }
    if start.starts(with: Array("<svg".utf8)) { return (.text, "svg") }
    return (.text, "txt")
  }
}

extension TypeDetection {
  /// The type of what only libavformat recognised.
  static func type(ofDemuxer name: String) -> MediaType {
    let first = name.split(separator: ",").first.map(String.init) ?? name
    let same = [
      "matroska": "mkv", "mov": "mp4", "mpegts": "ts", "mpegvideo": "m2v", "m4v": "mp4", "yuv4mpegpipe": "y4m",
    ]
    return MediaTypes.byExtension(same[first] ?? first)
      ?? MediaType(kind: .video, identifier: "public.movie", mime: "video/x-\(first)")
  }
}
