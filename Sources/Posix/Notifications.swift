import CLinux
import Glibc

/// An inotify(7) queue.
public struct Notifications: ~Copyable, Sendable {
  private let descriptor: Descriptor
  /// For `Awaited`.
  public var raw: CInt { descriptor.raw }

  public struct Event: Sendable {
    /// Whose it is; -1 when events were lost.
    public let watch: CInt
    /// `IN_CREATE` and its kin.
    public let mask: UInt32
    /// The entry of a watched folder that it is about.
    public let name: FileName?

    public func has(_ flag: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: flag) != 0 }
  }

  /// - Throws: EMFILE when this user has too many queues.
  public init() throws(Errno) { descriptor = Descriptor(owning: try check { inotify_init1(CInt(IN_CLOEXEC)) }) }

  /// Watches what a descriptor (also an O_PATH one) refers to. The same inode watched again keeps its number and gets the new mask.
  /// - Throws: ENOSPC when this user has too many watches.
  public func watch(_ file: CInt, _ mask: some BinaryInteger) throws(Errno) -> CInt {
    let raw = raw
    return try unsafe FileName.ofDescriptor(file).withCString { path throws(Errno) in
      try check { unsafe inotify_add_watch(raw, path, UInt32(truncatingIfNeeded: mask)) }
    }
  }

  /// It may have ended by itself.
  public func forget(_ watch: CInt) { _ = inotify_rm_watch(raw, watch) }

  /// Waits for events.
  public func read() throws(Errno) -> [Event] {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let raw = raw
    let count = try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
      try check { unsafe Glibc.read(raw, buffer.baseAddress, buffer.count) }
    }
    var events: [Event] = []
    var position = 0
    // struct inotify_event: wd s32, mask u32, cookie u32, len u32, name with its padding.
    while position + 16 <= count {
      let start = position
      let (watch, mask, length) = unsafe buffer.withUnsafeBytes { bytes in
        unsafe (
          bytes.loadUnaligned(fromByteOffset: start, as: Int32.self),
          bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self),
          Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
        )
      }
      position += 16 + length
      let name = buffer[(start + 16)..<min(position, count)].prefix { $0 != 0 }
      events.append(Event(watch: watch, mask: mask, name: name.isEmpty ? nil : FileName(name)))
    }
    return events
  }
}
