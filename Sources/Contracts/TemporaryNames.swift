public import Posix

/// Names that programs give to what is not finished, and names that are nobody's document. Such files are stored like any
/// other and never catalogued until they get a real name.
public enum TemporaryNames {
  private static let endings = [
    ".part", ".partial", ".partial~", ".crdownload", ".download", ".filepart", ".!qb", ".!ut", ".aria2", ".ytdl",
    ".tmp",
    ".swp", "~",
  ].map { Array($0.utf8) }

  /// What file managers of other systems leave in folders.
  private static let whole = ["thumbs.db", "desktop.ini"].map { Array($0.utf8) }
  private static let syncthing = Array("~syncthing~".utf8)

  /// Whether this one name says so.
  public static func contains(_ name: FileName) -> Bool { isTemporary(name.bytes) }

  /// Whether any component of the path says so.
  public static func contains(_ path: SharePath) -> Bool {
    // Asked of every line of a listing.
    let bytes = path.bytes
    var start = 0
    for end in 0...bytes.count where end == bytes.count || bytes[end] == UInt8(ascii: "/") {
      if isTemporary(bytes[start..<end]) { return true }
      start = end + 1
    }
    return false
  }

  private static func isTemporary(_ name: ArraySlice<UInt8>) -> Bool {
    if name.first == UInt8(ascii: ".") || name.starts(with: syncthing) { return true }
    return endings.contains { ends(name, with: $0) }
      || whole.contains { $0.count == name.count && ends(name, with: $0) }
  }

  /// Large and small letters are the same.
  private static func ends(_ name: ArraySlice<UInt8>, with ending: [UInt8]) -> Bool {
    guard name.count >= ending.count else { return false }
    var position = name.endIndex
    for letter in ending.reversed() {
      position -= 1
      let byte = name[position]
      if ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte) != letter { return false }
    }
    return true
  }
}
