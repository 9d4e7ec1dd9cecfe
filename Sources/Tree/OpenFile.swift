import CLinux
import Fuse
import Posix

/// How an inode's open handles reach its data. The kernel wants all handles of one inode the same way at a time, and one backing
/// number for them.
struct BackingState {
  /// Open handles.
  var opens = 0
  /// The kernel's number for the backing file, shared by all handles; nil when data goes through us.
  var number: Int32?
}

/// One open of a document. The kernel keeps a pointer to it as the file handle, from open to release.
final class OpenFile: KernelHandle, Sendable {
  let node: Node
  let flags: CInt
  let isPassthrough: Bool
  /// Whether it counts as a writer of the node's stream.
  let isWriter: Bool
  /// Ours, for data that goes through us; under passthrough opened only for what the kernel does not do itself.
  private let descriptor: Guarded<SharedDescriptor?>

  init(node: Node, flags: CInt, isPassthrough: Bool, isWriter: Bool, descriptor: SharedDescriptor?) {
    self.node = node
    self.flags = flags
    self.isPassthrough = isPassthrough
    self.isWriter = isWriter
    self.descriptor = Guarded(descriptor)
  }

  /// A descriptor with the rights of this handle.
  func file() throws(Errno) -> SharedDescriptor {
    if let descriptor = descriptor.withLock({ $0 }) { return descriptor }
    let held = try node.open()
    let fresh = SharedDescriptor(try OpenFile.reopen(held.raw, flags))
    return descriptor.withLock { descriptor in
      if let descriptor { return descriptor }
      descriptor = fresh
      return fresh
    }
  }

  /// Closes what was opened, before anybody asks whether the file is still open for writing.
  func close() {
    let last = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    _ = last
  }

  /// Opens an inode once more, with the rights that a handle with these flags has.
  static func reopen(_ raw: CInt, _ flags: CInt) throws(Errno) -> Descriptor {
    do throws(Errno) {
      return try Descriptor.reopen(raw, reopening(flags))
    } catch .notPermitted where flags & O_APPEND != 0 {
      // What may only be appended to is opened in no other way.
      return try Descriptor.reopen(raw, reopening(flags) | O_APPEND)
    }
  }

  /// The flags for opening an inode once more that was opened with `flags`: without what makes or cuts a file, and without O_DIRECT, whose
  /// alignment the caller chose for its own buffers. Appending is the kernel's business; it sends offsets.
  static func reopening(_ flags: CInt) -> CInt {
    (flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW | O_NOCTTY | CInt(O_DIRECT) | O_APPEND | CInt(O_PATH)))
      | O_NONBLOCK
  }
}
