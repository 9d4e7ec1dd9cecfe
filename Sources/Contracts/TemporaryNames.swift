public import Posix

/// Names that programs give to what is not finished, and names that are nobody's document. Such files are stored like any
/// other and never catalogued until they get a real name.
public enum TemporaryNames {
  private static let endings: [StaticString] = [
    ".part", ".partial", ".partial~", ".crdownload", ".download", ".filepart", ".!qb", ".!ut", ".aria2", ".ytdl",
    ".tmp",
    ".swp", "~",
  ]

  /// Whether this one name says so.
  public static func contains(_ name: FileName) -> Bool {
    if name.hasPrefix(".") || name.hasPrefix("~syncthing~") { return true }
    let lower = FileName(name.bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 })
    return endings.contains { lower.hasSuffix($0) } || lower == thumbsDatabase || lower == desktopSettings
  }

  /// Whether any component of the path says so.
  public static func contains(_ path: SharePath) -> Bool {
    path.components.contains { contains($0) }
  }

  private static let thumbsDatabase = FileName("thumbs.db")
  private static let desktopSettings = FileName("desktop.ini")
}
