import CLinux
import Glibc

/// One line of a folder.
public struct DirectoryEntry: Sendable {
  public let name: FileName
  public let inode: UInt64
  /// nil where the file system does not say (DT_UNKNOWN).
  public let kind: FileKind?
  /// The position after this entry, for `Directory.seek`.
  public let next: Int64
}

/// An open folder being read, entry by entry, at the backing file system's own positions.
public struct Directory: ~Copyable {
  public let descriptor: Descriptor
  private var buffer: [UInt8]
  private var filled = 0
  private var position = 0

  public init(_ descriptor: consuming Descriptor, buffer size: Int = 32768) {
    self.descriptor = descriptor
    buffer = [UInt8](repeating: 0, count: size)
  }

  /// Opens what an O_PATH descriptor of a folder refers to.
  public init(reading folder: CInt) throws(Errno) {
    self.init(try Descriptor.open(at: folder, FileName("."), O_RDONLY | O_DIRECTORY))
  }

  /// - Parameter offset: 0, or an earlier entry's `next`.
  public mutating func seek(_ offset: Int64) throws(Errno) {
    let raw = descriptor.raw
    filled = 0
    position = 0
    try check { lseek(raw, off_t(offset), SEEK_SET) }
  }

  /// - Returns: nil at the end; "." and ".." come like any other.
  public mutating func next() throws(Errno) -> DirectoryEntry? {
    if position >= filled {
      let raw = descriptor.raw
      filled = try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
        try check { unsafe getdents64(raw, buffer.baseAddress!, buffer.count) }
      }
      position = 0
      if filled == 0 { return nil }
    }
    let start = position
    let (entry, length) = unsafe buffer.withUnsafeBytes { bytes in
      // struct linux_dirent64: ino u64, off s64, reclen u16, type u8, name.
      let inode = unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
      let next = unsafe bytes.loadUnaligned(fromByteOffset: start + 8, as: Int64.self)
      let length = unsafe Int(bytes.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self))
      let type = unsafe bytes[start + 18]
      let name = unsafe FileName(
        cString: bytes.baseAddress!.advanced(by: start + 19).assumingMemoryBound(to: CChar.self))
      return (
        DirectoryEntry(name: name, inode: inode, kind: FileKind(bits: mode_t(type) << 12), next: next), length
      )
    }
    position += length
    return entry
  }
}
