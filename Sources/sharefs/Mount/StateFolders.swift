import Glibc
import Posix

/// The folders that the states of all shares of one user stand in.
struct StateFolders: Hashable, Sendable {
  let data: FileName
  let cache: FileName
  let runtime: FileName

  /// Those of whoever runs this process; see DESIGN, "Where things live".
  static func own() throws(Failure) -> StateFolders {
    if System.isRoot {
      return StateFolders(
        data: FileName("/var/lib/sharefs"), cache: FileName("/var/cache/sharefs"), runtime: FileName("/run/sharefs"))
    }
    return StateFolders(
      data: try base("XDG_DATA_HOME", ".local/share").appending("sharefs"),
      cache: try base("XDG_CACHE_HOME", ".cache").appending("sharefs"), runtime: ownRuntime)
  }

  /// Where the programs of whoever runs this process keep their caches.
  static func desktopCache() throws(Failure) -> FileName { try base("XDG_CACHE_HOME", ".cache") }

  private static func base(_ variable: String, _ fallback: String) throws(Failure) -> FileName {
    // The specification wants a relative path ignored.
    if let given = System.environment(variable), given.isAbsolute { return given }
    guard let home = System.home else {
      throw Failure(
        .mountFailed, "Neither \(variable) nor HOME nor /etc/passwd says where the share's state shall be kept.",
        hint: "Set HOME, or say it with `--state DIR`.")
    }
    return home.appending(fallback)
  }

  private static var ownRuntime: FileName {
    if let given = System.environment("XDG_RUNTIME_DIR"), given.isAbsolute { return given.appending("sharefs") }
    // Set by login sessions only; cron and ssh commands reach the same place by its usual name.
    let usual = FileName("/run/user/\(System.user)")
    if let status = try? Files.status(usual), status.user == System.user { return usual.appending("sharefs") }
    return FileName("/tmp/sharefs-\(System.user)")
  }

  /// Where daemons that this user may ask have left their cards: the own folder, for root everybody's.
  static var readableRuntimes: [FileName] {
    if !System.isRoot { return [ownRuntime] }
    var all = [FileName("/run/sharefs")]
    let users = FileName("/run/user")
    for user in (try? Files.names(in: users)) ?? [] { all.append(users.appending(user).appending("sharefs")) }
    let temporary = FileName("/tmp")
    for name in (try? Files.names(in: temporary)) ?? [] where name.hasPrefix("sharefs-") {
      all.append(temporary.appending(name))
    }
    return all
  }

  /// Makes a folder of ours (0700), or makes sure that the one that is there is nobody else's.
  static func prepare(_ folder: FileName) throws(Failure) {
    try explain(.mountFailed, "The folder \(folder) cannot be made") { () throws(Errno) in
      try Files.makeFolders(folder, mode: 0o700)
    }
    let status = try explain(.mountFailed, "The folder \(folder) cannot be looked at") { () throws(Errno) in
      try Descriptor.open(folder, O_PATH | O_NOFOLLOW).status()
    }
    guard status.kind == .folder || status.kind == .link, status.user == System.user || System.isRoot else {
      throw Failure(
        .mountFailed, "The folder \(folder) belongs to another user.", hint: "Choose another with `--state DIR`.")
    }
  }
}
