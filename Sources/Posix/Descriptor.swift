public import CLinux
import Glibc

/// An open file's number and its only owner: closed once, when the owner goes.
public struct Descriptor: ~Copyable, Sendable {
  /// Valid while `self` lives; for handing to calls, never to close.
  public let raw: CInt

  public init(owning raw: CInt) { self.raw = raw }

  deinit { _ = Glibc.close(raw) }

  /// Gives the number away; the caller closes it.
  public consuming func release() -> CInt {
    let raw = raw
    discard self
    return raw
  }

  /// Closes now and tells what close(2) said: ENOSPC, EDQUOT and EIO may come only here.
  public consuming func close() throws(Errno) {
    let raw = release()
    if Glibc.close(raw) != 0 && Errno.last != .interrupted { throw Errno.last }
  }

  /// A second number for the same open file.
  public func duplicate() throws(Errno) -> Descriptor {
    Descriptor(owning: try check { clinux_fcntl(raw, F_DUPFD_CLOEXEC, 0) })
  }
}

/// A descriptor with several owners, closed when the last one goes.
public final class SharedDescriptor: Sendable {
  public let descriptor: Descriptor
  public var raw: CInt { descriptor.raw }
  public init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}

extension Descriptor {
  /// Opens a path of bytes; close-on-exec always.
  public static func open(_ path: FileName, _ flags: CInt, mode: mode_t = 0) throws(Errno) -> Descriptor {
    try open(at: AT_FDCWD, path, flags, mode: mode)
  }

  public static func open(_ path: String, _ flags: CInt, mode: mode_t = 0) throws(Errno) -> Descriptor {
    try open(FileName(path), flags, mode: mode)
  }

  /// openat(2) below `folder`.
  public static func open(at folder: CInt, _ name: FileName, _ flags: CInt, mode: mode_t = 0) throws(Errno)
    -> Descriptor
  {
    try unsafe Descriptor(
      owning: name.withCString { name throws(Errno) in
        try check { unsafe openat(folder, name, flags | O_CLOEXEC, mode) }
      })
  }

  /// Opens a document below `folder` without following any symbolic link and without leaving the folder.
  public static func open(beneath folder: CInt, _ path: SharePath, _ flags: CInt) throws(Errno) -> Descriptor {
    let resolve: UInt64 = 0x04 | 0x08  // RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH
    let whole = FileName(path.isRoot ? [UInt8(ascii: ".")] : path.bytes)
    return try unsafe Descriptor(
      owning: whole.withCString { path throws(Errno) in
        try check { unsafe clinux_openat2(folder, path, UInt64(UInt32(bitPattern: flags | O_CLOEXEC)), 0, resolve) }
      })
  }

  /// Opens again what `raw` refers to (an O_PATH descriptor, say), with other flags.
  public static func reopen(_ raw: CInt, _ flags: CInt) throws(Errno) -> Descriptor {
    try open(FileName.ofDescriptor(raw), flags)
  }

  /// An anonymous file in memory.
  public static func memory(_ name: String) throws(Errno) -> Descriptor {
    try unsafe Descriptor(
      owning: FileName(name).withCString { name throws(Errno) in
        try check { unsafe memfd_create(name, UInt32(MFD_CLOEXEC)) }
      })
  }

  public func status() throws(Errno) -> FileStatus { try FileStatus.of(raw) }

  /// Reads once at the file's own position; fewer bytes than asked for is no error, 0 is the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    try check { unsafe Glibc.read(raw, buffer.baseAddress, buffer.count) }
  }

  /// Writes all bytes at the file's own position.
  public func write(_ bytes: [UInt8]) throws(Errno) {
    var done = 0
    while done < bytes.count {
      let count = bytes.count
      done += try unsafe bytes.withUnsafeBufferPointer { bytes throws(Errno) in
        try check { unsafe Glibc.write(raw, bytes.baseAddress! + done, count - done) }
      }
    }
  }

  /// Reads from the start to the end, at most `limit` bytes; a longer file is EMSGSIZE.
  public func readAll(limit: Int) throws(Errno) -> [UInt8] {
    var bytes = [UInt8]()
    while true {
      var chunk = [UInt8](repeating: 0, count: 65536)
      let offset = bytes.count
      let got = try unsafe chunk.withUnsafeMutableBufferPointer { chunk throws(Errno) in
        try check { unsafe pread(raw, chunk.baseAddress, chunk.count, off_t(offset)) }
      }
      if got == 0 { return bytes }
      guard bytes.count + got <= limit else { throw .messageTooLong }
      bytes.append(contentsOf: chunk[..<got])
    }
  }

  /// Reads from `offset` without moving the file's own position; fewer bytes than `count` only where the file ends.
  public func read(at offset: Int, count: Int) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = try unsafe bytes.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try check { unsafe pread(raw, bytes.baseAddress! + done, count - done, off_t(offset + done)) }
      }
      if got == 0 { break }
      done += got
    }
    return Array(bytes[..<done])
  }

  /// Whether anybody has the file open for writing, or mapped writable, the daemon itself included: asked by a read lease, which the kernel
  /// gives only when nobody has. Where the file system gives no leases, the answer is no.
  public var isOpenForWriting: Bool {
    let given = clinux_fcntl(raw, F_SETLEASE, Int(F_RDLCK))
    let error = Errno.last
    if given == 0 { _ = clinux_fcntl(raw, F_SETLEASE, Int(F_UNLCK)) }
    return given != 0 && error == .again
  }

  /// ioctl(2) with a block of bytes that it may read and write.
  public func control(_ command: UInt32, _ block: inout [UInt8]) throws(Errno) -> CInt {
    let raw = raw
    return try unsafe block.withUnsafeMutableBufferPointer { block throws(Errno) in
      try check { unsafe clinux_ioctl(raw, UInt(command), block.baseAddress) }
    }
  }

  public func synchronize() throws(Errno) { try check { fsync(raw) } }
}
