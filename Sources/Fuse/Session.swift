import CFuse
import CLinux
import Glibc
public import Posix
import Synchronization

/// How a mount shall be made.
public struct SessionSettings: Sendable {
  /// Shown as the device in the table of mounts.
  public var source: FileName
  public var mountpoint: FileName
  /// Serve everybody, and let the kernel check the modes.
  public var allowOther: Bool
  public var passthrough: Bool
  public var readOnly: Bool
  /// Nothing changes behind our back, so the kernel need not compare times to trust its pages.
  public var isExclusive: Bool
  /// Further mount options that libfuse or the kernel know, such as `noatime`.
  public var further: [String]

  public init(
    source: FileName, mountpoint: FileName, allowOther: Bool, passthrough: Bool, readOnly: Bool, isExclusive: Bool,
    further: [String]
  ) {
    self.source = source
    self.mountpoint = mountpoint
    self.allowOther = allowOther
    self.passthrough = passthrough
    self.readOnly = readOnly
    self.isExclusive = isExclusive
    self.further = further
  }
}

public enum SessionError: Error, Sendable {
  /// libfuse refused an option or could not start; its own words, which may be none.
  case refused(String)
  /// mount(2) or fusermount3 failed.
  case notMounted(Errno, String)
}

/// One mount: the conversation with the kernel.
///
/// One of several threads has the turn: it takes requests in the kernel's order and answers the quick ones itself, so that whoever takes a
/// RELEASE counts it before the next request is even looked at, which is what makes write streams exact. With what may take long it
/// gives the turn to another and answers meanwhile: no request is handed from thread to thread.
@safe public final class Session: @unchecked Sendable {
  // Sound: `raw` is written once in init, before any other thread knows us; libfuse's session is itself safe for threads. `waits` is touched only
  // by the thread that has the turn.
  private var raw: OpaquePointer!
  let operations: any Operations
  let transport: Transport
  private let settings: SessionSettings
  /// The thread that has the turn; 0 while nobody has it.
  private let turn = Monitor<pid_t>(0)
  private let quickRequests = Atomic<UInt64>(0)
  /// Belongs to the thread that has the turn.
  private var waits = Waits()

  /// As many requests that take long can be under way beside the quick ones.
  private static let threads = 9

  /// Mounts. Requests wait from now on, until `run`.
  public init(_ settings: SessionSettings, operations: any Operations) throws(SessionError) {
    self.settings = settings
    self.operations = operations
    transport = Transport(wantsPassthrough: settings.passthrough)

    var options = ["default_permissions", "subtype=sharefs"] + settings.further
    if settings.allowOther { options.append("allow_other") }
    if settings.readOnly { options.append("ro") }
    var words: [[UInt8]] = [Array("sharefs".utf8), Array("-o".utf8), Array(options.joined(separator: ",").utf8)]
    words[2] += Array(",fsname=".utf8)
    for byte in settings.source.bytes {
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\") { words[2].append(UInt8(ascii: "\\")) }
      words[2].append(byte)
    }
    var arguments = unsafe words.map { unsafe FileName($0).withCString { unsafe strdup($0) } }
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    FuseLog.install()
    var operations = callbacks()
    let myself = unsafe Unmanaged.passUnretained(self).toOpaque()
    let session = unsafe arguments.withUnsafeMutableBufferPointer { arguments in
      var arguments = unsafe fuse_args(argc: CInt(arguments.count), argv: arguments.baseAddress, allocated: 0)
      let session = unsafe cfuse_session_new(&arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, myself)
      unsafe fuse_opt_free_args(&arguments)
      return unsafe session
    }
    guard let session = unsafe session else { throw .refused(FuseLog.words) }
    unsafe raw = session
    errno = 0
    guard unsafe settings.mountpoint.withCString({ unsafe fuse_session_mount(session, $0) }) == 0 else {
      let error = errno == 0 ? Errno.notPermitted : Errno.last
      unsafe fuse_session_destroy(session)
      unsafe raw = nil
      throw .notMounted(error, FuseLog.words)
    }
    var io = fuse_custom_io()
    unsafe io.read = transportRead
    unsafe io.writev = transportWrite
    guard unsafe fuse_session_custom_io(session, &io, fuse_session_fd(session)) == 0 else {
      unsafe fuse_session_unmount(session)
      unsafe fuse_session_destroy(session)
      unsafe raw = nil
      throw .refused(FuseLog.words)
    }
  }

  deinit { if let raw = unsafe raw { unsafe fuse_session_destroy(raw) } }

  /// Serves until the mount goes away or `stop`.
  public func run() {
    let others = (1..<Session.threads).map { number in Thread("fuse-\(number)") { [self] in serve() } }
    serve()
    for thread in others { thread.join() }
  }

  private func serve() {
    Credentials.prepareThread()
    Thread.beQuick(.now)
    var buffer = unsafe fuse_buf()
    while unsafe takeTurn(&buffer) { unsafe fuse_session_process_buf(raw, &buffer) }
    unsafe free(buffer.mem)
  }

  /// Waits for the turn, and answers what is quick.
  /// - Returns: false at the end; true when there is a request in the buffer that may take long, and the turn is another's.
  private func takeTurn(_ buffer: inout fuse_buf) -> Bool {
    let own = Thread.currentID
    turn.wait { holder -> Void? in
      if holder != 0 { return nil }
      holder = own
      return ()
    }
    defer { turn.changeForOne { $0 = 0 } }
    while unsafe fuse_session_exited(raw) == 0 {
      let count = unsafe Int(fuse_session_receive_buf(raw, &buffer))
      if count == -Int(EINTR) { continue }
      if count <= 0 {
        unsafe fuse_session_exit(raw)
        break
      }
      let request = unsafe UnsafeRawBufferPointer(start: buffer.mem, count: count)
      if unsafe takesDirectly(request) { continue }
      switch unsafe waits.expected(of: request) {
      case .likely: return true
      case .none:
        quickRequests.wrappingAdd(1, ordering: .relaxed)
        unsafe fuse_session_process_buf(raw, &buffer)
      case .unlikely:
        let start = Clock.now()
        unsafe fuse_session_process_buf(raw, &buffer)
        waits.wrote(since: start)
      }
    }
    return false
  }

  /// Ends `run` though the mount is still there (held by an open file, say).
  public func stop() {
    unsafe fuse_session_exit(raw)
    // The signal only ends the read; again until seen, since it may come just before the read begins. Whoever takes the turn later sees the end.
    while true {
      let thread = turn.withLock { $0 }
      if thread == 0 { return }
      _ = clinux_signal_thread(getpid(), thread, SIGUSR2)
      usleep(10_000)
    }
  }

  /// Takes the mount away if it is still there, and closes the connection: whoever still waits for an answer gets an error.
  public func close() { unsafe fuse_session_unmount(raw) }

  /// How often the kernel has asked for what is answered at once: names and attributes, not data.
  public var requests: UInt64 { quickRequests.load(ordering: .relaxed) }

  /// The kernel's device, for as long as we live.
  var device: CInt { unsafe fuse_session_fd(raw) }

  /// Whether this process may ask for passthrough at all.
  public static var mayPassThrough: Bool { clinux_may_administer() == 1 }

  public var hasPassthrough: Bool { transport.hasPassthrough }
  public var isPassthroughOffered: Bool { transport.isPassthroughOffered }

  func negotiate(_ connection: UnsafeMutablePointer<fuse_conn_info>) {
    func want(_ capability: CInt) { unsafe cfuse_want(connection, UInt32(bitPattern: capability)) }
    func leave(_ capability: CInt) { unsafe cfuse_unwant(connection, UInt32(bitPattern: capability)) }
    want(FUSE_CAP_DONT_MASK)
    want(FUSE_CAP_POSIX_ACL)
    want(FUSE_CAP_ATOMIC_O_TRUNC)
    want(FUSE_CAP_PARALLEL_DIROPS)
    // We look at each request's bytes before libfuse does; those in a pipe cannot be looked at.
    leave(FUSE_CAP_SPLICE_READ)
    leave(FUSE_CAP_SPLICE_WRITE)
    leave(FUSE_CAP_SPLICE_MOVE)
    leave(FUSE_CAP_HANDLE_KILLPRIV)
    leave(FUSE_CAP_WRITEBACK_CACHE)
    if settings.isExclusive {
      want(FUSE_CAP_CACHE_SYMLINKS)
      leave(FUSE_CAP_AUTO_INVAL_DATA)
    }
    // RELEASE is a background request: none may have to wait for another's answer.
    unsafe connection.pointee.max_background = 512
    unsafe connection.pointee.congestion_threshold = 384
    unsafe connection.pointee.max_write = 1 << 20
    unsafe connection.pointee.max_readahead = 1 << 20
    unsafe connection.pointee.time_gran = 1
  }

  /// Gives the kernel a file to read and write in our place. One number for each inode at a time: a second one gives EIO at open.
  public func openBacking(_ file: CInt) throws(Errno) -> Int32 {
    // struct fuse_backing_map: fd s32, flags u32, padding u64.
    var map: (Int32, UInt32, UInt64) = (file, 0, 0)
    return try check { unsafe clinux_ioctl(fuse_session_fd(raw), Kernel.backingOpen, &map) }
  }

  public func closeBacking(_ number: Int32) throws(Errno) {
    var number = UInt32(bitPattern: number)
    try check { unsafe clinux_ioctl(fuse_session_fd(raw), Kernel.backingClose, &number) }
  }

  /// Tells the kernel that a node's content and attributes are not what it remembers. It may wait for pages that are being read: never from a thread
  /// that answers requests.
  public func forgetContent(of node: NodeID) {
    unsafe fuse_lowlevel_notify_inval_inode(raw, fuse_ino_t(node.raw), 0, 0)
  }

  /// Tells the kernel that a node's attributes are not what it remembers.
  public func forgetAttributes(of node: NodeID) {
    // The node may be unknown to the kernel by now: nothing to do then.
    unsafe fuse_lowlevel_notify_inval_inode(raw, fuse_ino_t(node.raw), -1, 0)
  }
}
