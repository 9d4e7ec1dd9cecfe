import Contracts
import Posix

extension MediaKind {
  private static let endings: [(MediaKind, Set<String>)] = [
    (
      .video,
      [
        "mp4", "m4v", "mov", "mkv", "webm", "avi", "ts", "mts", "m2ts", "mpg", "mpeg", "wmv", "flv", "ogv", "3gp",
        "3g2",
        "vob", "mxf", "asf", "dv",
      ]
    ),
    (
      .image,
      [
        "jpg", "jpeg", "png", "gif", "heic", "heif", "webp", "avif", "tif", "tiff", "bmp", "dng", "cr2", "cr3", "nef",
        "arw", "raf", "jxl", "svg",
      ]
    ),
    (.audio, ["mp3", "m4a", "aac", "flac", "wav", "ogg", "oga", "opus", "aif", "aiff", "wma", "mka"]),
  ]

  /// By a name's ending: for a placeholder before anybody has looked into the document.
  init(guessedFrom name: FileName?) {
    let ending = name?.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().last
    let text = ending.map { String(decoding: $0, as: UTF8.self).lowercased() } ?? ""
    self = MediaKind.endings.first { $0.1.contains(text) }?.0 ?? .document
  }
}
