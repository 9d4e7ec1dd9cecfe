public import CLinux
import Glibc

/// Another program being run as our child.
public struct Child: ~Copyable, Sendable {
  public let process: pid_t

  /// Starts a program with exactly the descriptors given: none of ours, and none that we were started with.
  /// - Parameters:
  ///   - descriptors: ours by the number that the child shall know each by. Numbers 0 to 2 that are not named are
  ///     /dev/null.
  ///   - session: whether it leads a session of its own, away from our terminal.
  public static func spawn(
    _ program: FileName, _ arguments: [FileName], environment: [String]? = nil, descriptors: [CInt: CInt] = [:],
    folder: FileName? = nil, session: Bool = false
  ) throws(Errno) -> Child {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // First out of the way of the numbers that are asked for, then into place: dup2 clears close-on-exec.
    var aside: [CInt] = []
    defer { for raw in aside { close(raw) } }
    let lowest = max(descriptors.keys.max() ?? 2, 2) + 1
    for number: CInt in 0...2 where descriptors[number] == nil {
      unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
    }
    for (number, raw) in descriptors {
      let copy = try check { clinux_fcntl(raw, F_DUPFD_CLOEXEC, Int(lowest)) }
      aside.append(copy)
      unsafe posix_spawn_file_actions_adddup2(&actions, copy, number)
    }
    for number in 3..<lowest where descriptors[number] == nil {
      unsafe posix_spawn_file_actions_addclose(&actions, number)
    }
    // What this process inherited may not be close-on-exec: a lock of the script that mounts, a socket of whoever runs the tests.
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, lowest)
    if let folder { unsafe folder.withCString { _ = unsafe posix_spawn_file_actions_addchdir_np(&actions, $0) } }

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var usual = sigset_t()
    unsafe sigemptyset(&usual)
    unsafe sigaddset(&usual, SIGPIPE)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    var flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    if session { flags |= Int16(POSIX_SPAWN_SETSID) }
    unsafe posix_spawnattr_setflags(&attributes, flags)

    var process: pid_t = 0
    let failed = unsafe withCStrings(arguments) { arguments in
      let environment = environment?.map { FileName($0) }
      return unsafe program.withCString { program in
        if let environment {
          return unsafe withCStrings(environment) { environment in
            unsafe posix_spawn(&process, program, &actions, &attributes, arguments, environment)
          }
        }
        return unsafe posix_spawn(&process, program, &actions, &attributes, arguments, clinux_environment())
      }
    }
    if failed != 0 { throw Errno(failed) }
    return Child(process: process)
  }

  public func kill(_ signal: CInt = SIGKILL) { Glibc.kill(process, signal) }

  /// Waits for its end, once.
  public consuming func wait() throws(Errno) -> Ending {
    var status: CInt = 0
    let process = process
    _ = try check { unsafe waitpid(process, &status, 0) }
    return Ending(status: status)
  }

  public enum Ending: Hashable, Sendable {
    case exited(CInt)
    case killed(CInt)

    init(status: CInt) {
      let signal = status & 0x7f
      self = signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal)
    }
  }
}

/// The strings as a C array that ends with nil.
private func withCStrings<Result>(
  _ strings: [FileName], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies: [UnsafeMutablePointer<CChar>?] =
    unsafe strings.map { unsafe $0.withCString { unsafe strdup($0) } } + [nil]
  defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
  return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
}
