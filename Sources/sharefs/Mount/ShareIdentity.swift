import Control
import Glibc
import Posix

/// What makes a folder the same share again after it was moved or renamed. It is kept as the file `identity` in the share's state.
struct ShareIdentity: Hashable, Sendable {
  /// The file system's own number, not that of its device, which changes from start to start.
  let fileSystem: UInt64
  let inode: UInt64
  /// Nanoseconds since 1970; 0 where the file system keeps none.
  let birth: Int64
  /// Where it was seen last.
  var path: FileName

  static func of(_ folder: CInt, path: FileName) throws(Errno) -> ShareIdentity {
    let status = try FileStatus.of(folder)
    return ShareIdentity(
      fileSystem: try Files.fileSystemID(folder), inode: status.inode, birth: status.birth.nanoseconds, path: path)
  }

  /// - Returns: nil where no folder can be seen.
  static func seen(at path: FileName) -> ShareIdentity? {
    guard let folder = try? Descriptor.open(path, O_PATH | O_DIRECTORY) else { return nil }
    return try? of(folder.raw, path: path)
  }

  func isSameFolder(as other: ShareIdentity) -> Bool {
    fileSystem == other.fileSystem && inode == other.inode && birth == other.birth
  }

  /// The folder's name and 8 hex digits, safe and short enough for every place it stands in.
  var shareName: String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
    for number in [fileSystem, inode, UInt64(bitPattern: birth)] {
      for shift in stride(from: 0, to: 64, by: 8) {
        hash = (hash ^ (number >> UInt64(shift) & 0xff)) &* 0x100_0000_01b3
      }
    }
    let short = UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    let hex = String(short, radix: 16)
    // A dot at the start would hide it, and other signs would have to be escaped by whoever types it.
    var name = ""
    for scalar in (path.lastComponent.text ?? "").unicodeScalars where name.utf8.count < 40 {
      let isPlain = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
      name.unicodeScalars.append(isPlain ? scalar : "_")
    }
    return (name.isEmpty ? "share" : name) + "-" + String(repeating: "0", count: 8 - hex.count) + hex
  }

  /// - Returns: nil when there is none, or when it cannot be understood.
  static func read(in state: FileName) -> ShareIdentity? {
    guard let bytes = try? Files.read(state.appending("identity"), limit: 65536) else { return nil }
    return try? JSONLine.decode(ShareIdentity.self, bytes)
  }

  func write(in state: FileName) throws(Failure) {
    let line = try Output.line(of: self)
    try explain(.mountFailed, "The share's identity cannot be kept in \(state)") { () throws(Errno) in
      try Files.replace(state.appending("identity"), with: line)
    }
  }

  /// Whether the folder that this identity was seen as stands now under another name beside its old place.
  var standsBeside: Bool {
    guard let parent = path.parent, let names = try? Files.names(in: parent) else { return false }
    return names.contains { name in
      guard name != path.lastComponent, let folder = try? Descriptor.open(parent.appending(name), O_PATH | O_NOFOLLOW),
        let found = try? Self.of(folder.raw, path: path)
      else { return false }
      return found.isSameFolder(as: self)
    }
  }
}

extension ShareIdentity: Codable {
  private enum Key: String, CodingKey {
    case fileSystem = "file_system"
    case inode, birth, path
    case pathBytes = "path_bytes"
  }

  init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    fileSystem = try box.decode(UInt64.self, forKey: .fileSystem)
    inode = try box.decode(UInt64.self, forKey: .inode)
    birth = try box.decode(Int64.self, forKey: .birth)
    path = try box.decodePath(.path, bytes: .pathBytes)
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(fileSystem, forKey: .fileSystem)
    try box.encode(inode, forKey: .inode)
    try box.encode(birth, forKey: .birth)
    try box.encode(path: path, .path, bytes: .pathBytes)
  }
}
