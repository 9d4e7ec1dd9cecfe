public import CLinux
import Glibc

/// This process and what it was started with.
public enum System {
  /// The program's name as called, then its arguments, as bytes: `CommandLine.arguments` repairs what is not UTF-8.
  public static func arguments() -> [FileName] {
    (0..<Int(CommandLine.argc)).compactMap { index in
      unsafe CommandLine.unsafeArgv[index].map { unsafe FileName(cString: $0) }
    }
  }

  /// - Returns: nil when unset or empty.
  public static func environment(_ name: String) -> FileName? {
    unsafe FileName(name).withCString { name in
      guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
      return unsafe FileName(cString: value)
    }
  }

  /// Takes all the descriptors that this process may have.
  public static func raiseDescriptorLimit() throws(Errno) {
    var limit = rlimit()
    try check { unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
    limit.rlim_cur = limit.rlim_max
    try check { unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
  }

  /// How many descriptors this process may have now.
  public static var descriptorLimit: Int {
    var limit = rlimit()
    // It cannot fail for this process and a resource that exists.
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }

  /// Gives back what the allocator keeps of freed memory.
  public static func giveMemoryBack() { clinux_give_memory_back() }

  /// Processors that are there to be used.
  public static var processors: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }

  /// Where the user's own files are: by HOME, else by the system's list of users, since mount(8) takes the environment away from what it starts for a user.
  public static var home: FileName? {
    if let given = environment("HOME"), given.isAbsolute { return given }
    // Another thread's call would change the answer: it is asked for while there is one.
    guard let entry = unsafe getpwuid(user), let folder = unsafe entry.pointee.pw_dir else { return nil }
    let home = unsafe FileName(cString: folder)
    return home.isAbsolute ? home : nil
  }

  public static var user: uid_t { geteuid() }
  public static var isRoot: Bool { geteuid() == 0 }

  public static func currentFolder() throws(Errno) -> FileName {
    guard let folder = unsafe getcwd(nil, 0) else { throw Errno.last }
    defer { unsafe free(folder) }
    return unsafe FileName(cString: folder)
  }

  /// - Returns: nil when the descriptor is no terminal.
  public static func columns(_ raw: CInt) -> Int? {
    var size = winsize()
    guard unsafe clinux_ioctl(raw, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes all bytes to a descriptor that everybody shares (1 or 2).
  public static func write(_ raw: CInt, _ bytes: [UInt8]) throws(Errno) {
    var done = 0
    while done < bytes.count {
      let rest = bytes[done...]
      done += try unsafe rest.withUnsafeBufferPointer { rest throws(Errno) in
        try check { unsafe Glibc.write(raw, rest.baseAddress, rest.count) }
      }
    }
  }

  /// Makes `number` (0, 1 or 2, say) another name of an open file.
  public static func redirect(_ number: CInt, to raw: CInt) throws(Errno) { try check { dup2(raw, number) } }

  public static func setMask(_ mask: UInt32) { _ = umask(mask) }

  /// Ends the process, at once.
  public static func exit(_ code: CInt) -> Never { Glibc.exit(code) }

  /// - Returns: the pipe's reading and writing end, for `body` to own.
  public static func pipe<Result: ~Copyable>(
    _ body: (consuming Descriptor, consuming Descriptor) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    var ends: [CInt] = [-1, -1]
    try check { unsafe pipe2(&ends, O_CLOEXEC) }
    return try body(Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
  }

  /// umount2(2); needs the right to mount.
  /// - Parameter lazy: takes it out of the tree now, and ends it when its last file is closed.
  public static func unmount(_ path: FileName, lazy: Bool) throws(Errno) {
    let flags = CInt(UMOUNT_NOFOLLOW) | (lazy ? CInt(MNT_DETACH) : 0)
    _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe umount2(path, flags) } }
  }

  /// What mount(2) can change of a mount that is there.
  public struct MountFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let readOnly = MountFlags(rawValue: UInt(MS_RDONLY))
    public static let noSetID = MountFlags(rawValue: UInt(MS_NOSUID))
    public static let noDevices = MountFlags(rawValue: UInt(MS_NODEV))
    public static let noPrograms = MountFlags(rawValue: UInt(MS_NOEXEC))
    public static let noAccessTimes = MountFlags(rawValue: UInt(MS_NOATIME))
    public static let synchronous = MountFlags(rawValue: UInt(MS_SYNCHRONOUS))
    public static let synchronousFolders = MountFlags(rawValue: UInt(MS_DIRSYNC))
  }

  /// mount(2) of what is mounted already, with other flags; needs the right to mount.
  public static func remount(_ path: FileName, _ flags: MountFlags) throws(Errno) {
    _ = try unsafe path.withCString { path throws(Errno) in
      try check { unsafe Glibc.mount(nil, path, nil, flags.rawValue | UInt(MS_REMOUNT), nil) }
    }
  }

  /// statfs(2) on a path, for its error alone: it reaches the file system itself.
  public static func touchFileSystem(_ path: FileName) throws(Errno) {
    var facts = statfs()
    _ = try unsafe path.withCString { path throws(Errno) in try check { unsafe clinux_statfs(path, &facts) } }
  }

  /// Hours and minutes, by the user's own clock.
  public static func localTime(_ time: FileTime) -> (day: String, clock: String) {
    var seconds = time_t(time.nanoseconds / 1_000_000_000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (
      unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
      unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    )
  }
}
