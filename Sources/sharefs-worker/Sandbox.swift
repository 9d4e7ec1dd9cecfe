import CLinux
import Glibc
import Posix

/// Which wall could not be raised.
struct SandboxError: Error {
  let what: String
  let errno: Errno
}

/// From here on this thread, and so this process of one thread, can compute, read and write what it is given, and nothing else.
enum Sandbox {
  /// Bytes of address space, libraries and all.
  static let memory: rlim_t = 1 << 30
  /// Bytes that can be written to, which is what counts as used; a decoded 8K frame of 10 bits and its references need less.
  static let data: rlim_t = 448 << 20
  /// Bytes that can be written into one file.
  static let fileSize: rlim_t = 64 << 20
  static let descriptors: rlim_t = 64
  /// Whom a worker that was started by root becomes: nobody and nogroup.
  static let nobody: uid_t = 65534

  /// - Returns: sentences about what is missing and can be done without.
  static func enter() throws(SandboxError) -> [String] {
    if geteuid() == 0 {
      try raise("the change to another user") { setgroups(0, nil) }
      try raise("the change to another group") { setresgid(nobody, nobody, nobody) }
      try raise("the change to another user") { setresuid(nobody, nobody, nobody) }
    }
    for (resource, most) in [
      (RLIMIT_AS, memory), (RLIMIT_DATA, data), (RLIMIT_NOFILE, descriptors), (RLIMIT_CORE, 0),
      (RLIMIT_FSIZE, fileSize),
    ] {
      var limit = rlimit(rlim_cur: most, rlim_max: most)
      try raise("a limit") { unsafe setrlimit(resource, &limit) }
    }
    // Swift's own report of a crash needs calls that are refused here, and would hide which signal it was.
    for crash in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGQUIT] { signal(crash, SIG_DFL) }
    // A picture too large for its file is an error to tell, and no reason to end.
    Signals.ignore(SIGXFSZ)
    // A change of user has cleared both of these, so they come after it.
    try raise("protection from debuggers") { clinux_not_dumpable() }
    try raise("the end with the daemon") { clinux_die_with_parent(SIGKILL) }
    try raise("no_new_privs") { clinux_no_new_privs() }
    var warnings: [String] = []
    if clinux_landlock_nothing() != 0 {
      let error = Errno.last
      // The filter below refuses every call that opens, so an old kernel loses the second wall and not the only one.
      guard error == .noSystemCall || error == .notSupported else { throw SandboxError(what: "Landlock", errno: error) }
      warnings.append("this kernel has no Landlock, so the system call filter stands alone")
    }
    try raise("the system call filter") { clinux_seccomp_decoder() }
    return warnings
  }

  private static func raise(_ what: String, _ wall: () -> CInt) throws(SandboxError) {
    if wall() != 0 { throw SandboxError(what: what, errno: .last) }
  }
}
