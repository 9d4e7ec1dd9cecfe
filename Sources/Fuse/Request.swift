public import CFuse
import CLinux
import Glibc
public import Posix

/// One question of the kernel, to be answered once. The compiler sees to "at most once", the deinit to "at least once": a request that
/// is dropped answers EIO, so that no program hangs for our mistake.
@safe public struct Request: ~Copyable, @unchecked Sendable {
  // Sound since libfuse allows a request to be answered from any thread.
  private let origin: Origin

  @safe private enum Origin {
    case libfuse(fuse_req_t)
    /// Of a kind that libfuse does not know: it is answered with `fail`, `attributes` or `created`.
    case direct(DirectRequest)
  }

  init(_ raw: fuse_req_t) { unsafe origin = .libfuse(raw) }

  init(_ direct: DirectRequest) { origin = .direct(direct) }

  deinit {
    switch origin {
    case .libfuse(let raw): unsafe fuse_reply_err(raw, EIO)
    case .direct(let request): request.answer(EIO)
    }
  }

  private var direct: DirectRequest? {
    if case .direct(let request) = origin { return request }
    return nil
  }

  private var raw: fuse_req_t {
    guard case .libfuse(let raw) = origin else { preconditionFailure("no answer for this kind of request") }
    return unsafe raw
  }

  /// Who asks.
  public var caller: Caller {
    if let direct { return direct.caller }
    let context = unsafe fuse_req_ctx(raw).pointee
    return Caller(user: context.uid, group: context.gid, thread: context.pid, mask: context.umask)
  }

  /// Answers with an error.
  public consuming func fail(_ error: Errno) {
    if let direct { direct.answer(error.rawValue) } else { unsafe fuse_reply_err(raw, error.rawValue) }
    discard self
  }

  /// Answers "done", with nothing to tell.
  public consuming func done() {
    unsafe fuse_reply_err(raw, 0)
    discard self
  }

  /// FORGET wants no answer.
  public consuming func none() {
    unsafe fuse_reply_none(raw)
    discard self
  }

  /// Answers a lookup, mkdir, mknod, symlink or link.
  /// - Returns: false when the kernel did not take it (the caller was killed): then it has not counted the lookup.
  @discardableResult
  public consuming func entry(_ entry: Entry) -> Bool {
    var parameters = entry.parameters
    let taken = unsafe fuse_reply_entry(raw, &parameters) == 0
    discard self
    return taken
  }

  /// Answers that there is no such name, and for how long the kernel may believe it.
  /// - Parameter lifetime: seconds; 0 is "ask again".
  public consuming func absent(lifetime: Double) {
    if lifetime > 0 {
      var parameters = fuse_entry_param()
      parameters.entry_timeout = lifetime
      unsafe fuse_reply_entry(raw, &parameters)
    } else {
      unsafe fuse_reply_err(raw, ENOENT)
    }
    discard self
  }

  /// - Parameter lifetime: seconds for which the kernel may go without asking again.
  public consuming func attributes(_ status: FileStatus, lifetime: Double) {
    if let direct {
      direct.answer(0, status.statxBytes(lifetime: lifetime))
    } else {
      var attributes = status.cStatus
      unsafe fuse_reply_attr(raw, &attributes, lifetime)
    }
    discard self
  }

  public consuming func opened(_ file: OpenReply) {
    var reply = file.words
    unsafe fuse_reply_buf(raw, &reply, 16)
    discard self
  }

  /// - Returns: false when the kernel did not take it: then it has neither counted the lookup nor opened anything.
  @discardableResult
  public consuming func created(_ entry: Entry, _ file: OpenReply) -> Bool {
    let reply = entry.bytes + file.bytes
    if let direct {
      let taken = direct.answer(0, reply)
      discard self
      return taken
    }
    let taken = unsafe reply.withUnsafeBufferPointer { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe fuse_reply_buf(raw, $0.baseAddress, $0.count) == 0 }
    }
    discard self
    return taken
  }

  public consuming func bytes(_ bytes: UnsafeRawBufferPointer) {
    unsafe fuse_reply_buf(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    discard self
  }

  public consuming func bytes(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      _ = unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe fuse_reply_buf(raw, $0.baseAddress, $0.count) }
    }
    discard self
  }

  public consuming func listing(_ listing: borrowing Listing) {
    unsafe listing.withBytes { bytes in
      unsafe fuse_reply_buf(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    discard self
  }

  /// Adds a line to a folder's listing: its name, inode number and kind.
  /// - Parameter withAttributes: whether the listing is one with attributes, whose lines have another form. Without a node id the
  ///   kernel takes only the name from it and asks when it wants to know more.
  /// - Returns: false when there is no room left; then nothing was added.
  public func add(
    _ name: FileName, inode: UInt64, kind: FileKind?, next: Int64, to listing: inout Listing, withAttributes: Bool
  ) -> Bool {
    var parameters = fuse_entry_param()
    parameters.attr.st_ino = UInt(inode)
    parameters.attr.st_mode = kind?.bits ?? 0
    return unsafe listing.append { room, size in
      unsafe name.withCString { name in
        unsafe withAttributes
          ? fuse_add_direntry_plus(raw, room, size, name, &parameters, off_t(next))
          : fuse_add_direntry(raw, room, size, name, &parameters.attr, off_t(next))
      }
    }
  }

  /// Adds a line with all attributes, which counts as a lookup when the entry has a node id.
  public func add(_ name: FileName, _ entry: Entry, next: Int64, to listing: inout Listing) -> Bool {
    var parameters = entry.parameters
    return unsafe listing.append { room, size in
      unsafe name.withCString { name in unsafe fuse_add_direntry_plus(raw, room, size, name, &parameters, off_t(next)) }
    }
  }

  public consuming func written(_ count: Int) {
    unsafe fuse_reply_write(raw, count)
    discard self
  }

  public consuming func link(_ target: FileName) {
    unsafe target.withCString { target in _ = unsafe fuse_reply_readlink(raw, target) }
    discard self
  }

  public consuming func fileSystem(_ status: statvfs) {
    var status = status
    unsafe fuse_reply_statfs(raw, &status)
    discard self
  }

  /// The size of an extended attribute, or of the list of their names.
  public consuming func attributeSize(_ count: Int) {
    unsafe fuse_reply_xattr(raw, count)
    discard self
  }

  public consuming func offset(_ offset: Int64) {
    unsafe fuse_reply_lseek(raw, off_t(offset))
    discard self
  }

  /// An ioctl's result and what it writes back.
  public consuming func control(_ result: CInt, _ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { bytes in
      _ = unsafe fuse_reply_ioctl(raw, result, bytes.baseAddress, bytes.count)
    }
    discard self
  }

  /// - Parameter function: called when the caller was interrupted, with the request's own lock held by libfuse.
  func setInterrupt(_ function: fuse_interrupt_func_t?, _ context: UnsafeMutableRawPointer?) {
    unsafe fuse_req_interrupt_func(raw, function, context)
  }
}
