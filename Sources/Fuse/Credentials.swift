public import CLinux
public import Posix

/// Who asks, in the terms of the machine that mounted.
public struct Caller: Sendable {
  public let user: uid_t
  public let group: gid_t
  /// The id of the very thread, not of its process.
  public let thread: pid_t
  public let mask: mode_t
}

/// Under whose name a thread acts on the backing file system.
///
/// Root's daemon keeps its capabilities and changes only the identity that new objects get; the kernel has checked the
/// permissions (`default_permissions`). An ordinary user's daemon acts as that user, always.
public enum Credentials {
  /// For every thread that answers requests, once at its start: a umask of its own, and capabilities that outlive a change of identity.
  static func prepareThread() {
    // Without privilege the second half fails, and nothing needs it.
    _ = clinux_own_credentials()
    _ = clinux_keep_setid(0)
  }

  /// Makes something that shall belong to the caller.
  /// - Parameter mode: with what permissions; the caller's umask is taken from them, unless the folder's default list of access says otherwise.
  public static func acting<Result: ~Copyable>(
    as caller: Caller, mode: mode_t, _ body: () throws(Errno) -> Result
  ) throws(Errno) -> Result {
    clinux_set_own_mask(caller.mask)
    guard isRoot else { return try body() }
    if caller.user == 0 && caller.group == 0 {
      return mode & 0o6000 == 0 ? try body() : try keepingSetID(body)
    }
    _ = clinux_setfsgid(caller.group)
    _ = clinux_setfsuid(caller.user)
    defer {
      _ = clinux_setfsuid(0)
      _ = clinux_setfsgid(0)
    }
    return try body()
  }

  /// Changes a document's content or lists of access as the caller: whether its set-id bits survive that depends on who does it and on
  /// the groups that it is in.
  public static func changing<Result>(
    as caller: Caller, _ body: () throws(Errno) -> Result
  ) throws(Errno) -> Result {
    caller.user == 0 ? try keepingSetID(body) : try inGroup(of: caller, body)
  }

  /// Opens what is written to later, maybe by others too: nobody's set-id bits survive that which would not survive the caller's.
  public static func inGroup<Result>(of caller: Caller, _ body: () throws(Errno) -> Result) throws(Errno) -> Result {
    guard isRoot, caller.group != 0 else { return try body() }
    _ = clinux_setfsgid(caller.group)
    defer { _ = clinux_setfsgid(0) }
    return try body()
  }

  /// Sets a mode as it is: the kernel has taken the set-group-id bit out already where the caller may not set it.
  public static func keepingSetID<Result: ~Copyable>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
    guard isRoot else { return try body() }
    _ = clinux_keep_setid(1)
    defer { _ = clinux_keep_setid(0) }
    return try body()
  }

  private static let isRoot = geteuid() == 0
}
