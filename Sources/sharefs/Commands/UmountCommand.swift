import Catalog
import Glibc
import Posix

/// `sharefs umount`: ends a share and returns when its daemon has gone, or says why it cannot.
enum UmountCommand {
  /// Seconds; a daemon that has been unmounted writes down what is pending and ends.
  private static let patience = 20.0

  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let lazy = arguments.has("lazy")
    if lazy && arguments.has("wait") { throw .usage("\"--lazy\" and \"--wait\" exclude each other.", .umount) }
    let table = try MountTable.now()
    let path = try Paths.real(arguments.operands[0], table: table)
    let mount = try find(path, table)
    let share = RunningShare.at(path)
    switch mount.health() {
    case .alive: break
    case .dead:
      try take(mount, lazy: true, daemon: nil)
      Output.complain("sharefs: the mount at \(path) was dead; it is taken away.\n")
      return .done
    case .silent where lazy: break
    case .silent:
      throw Failure(
        .timedOut, "The daemon of \(path)\(share.map { " (process \($0.pid))" } ?? "") does not answer.",
        hint:
          "Wake it with `kill -CONT` if it was stopped; or take it out of the tree now: sharefs umount --lazy \(path)")
    }
    // Held before the mount goes: afterwards its number could be somebody else's.
    let daemon = share.flatMap { try? ProcessHandle($0.pid) }
    if arguments.has("wait") {
      try waitAndTake(mount, daemon: share?.pid)
    } else {
      try take(mount, lazy: lazy, daemon: share?.pid)
    }
    guard let daemon else { return .done }
    let seconds = lazy ? 2 : patience
    let hasEnded = try explain(.timedOut, "The daemon cannot be watched") { () throws(Errno) in
      try daemon.waitForEnd(until: Clock.now() + Clock.seconds(seconds))
    }
    if hasEnded {
      if let share { tellPending(share) }
      return .done
    }
    if lazy {
      Output.complain("sharefs: \(path) is out of the tree; process \(daemon.process) ends with the last open file.\n")
      return .done
    }
    throw Failure(
      .timedOut,
      "\(path) is unmounted, but its daemon (process \(daemon.process)) has not ended after \(Int(patience)) s.",
      hint: "Its log, sharefs.log in \(share?.state.description ?? "the state folder"), tells what it does.")
  }

  private static func find(_ path: FileName, _ table: MountTable) throws(Failure) -> Mount {
    guard let mount = table.top(at: path) else {
      let around = table.share(around: path)
      throw Failure(
        .noSuchThing, "\(path) is not mounted.",
        hint: around.map { "It lies in the share \($0.mountpoint): sharefs umount \($0.mountpoint)" })
    }
    guard mount.isOurs else {
      throw Failure(
        .noSuchThing, "\(path) is mounted, but not by sharefs: its type is \(escaped(Array(mount.type.utf8))).",
        hint: "Use umount(8).")
    }
    return mount
  }

  private static func take(_ mount: Mount, lazy: Bool, daemon: Int32?) throws(Failure) {
    do throws(Errno) {
      if lazy { try Unmount.take(mount, lazy: true) } else { try Unmount.takePatiently(mount, daemon: daemon) }
    } catch {
      throw failure(error, mount, daemon)
    }
  }

  private static func failure(_ error: Errno, _ mount: Mount, _ daemon: Int32?) -> Failure {
    switch error {
    case .busy: return busy(mount, daemon)
    case .notPermitted:
      return Failure(
        .permission, "\(mount.mountpoint) was mounted by another user\(mount.user.map { " (user id \($0))" } ?? "").",
        hint: "That user or root can unmount it.")
    case .noEntry where !System.isRoot:
      return Failure(
        .mountFailed, "The program fusermount3, by which ordinary users unmount, is missing.",
        hint: "Install it: apt install fuse3")
    case .invalid: return Failure(.noSuchThing, "\(mount.mountpoint) is not mounted any more.")
    default: return Failure(.mountFailed, "\(mount.mountpoint) cannot be unmounted", error)
    }
  }

  /// Tries until nobody uses it any more; says once for whom it waits, and again when that changes.
  private static func waitAndTake(_ mount: Mount, daemon: Int32?) throws(Failure) {
    var told: [Unmount.Holder] = []
    while true {
      do throws(Errno) {
        return try Unmount.takePatiently(mount, daemon: daemon)
      } catch {
        guard error == .busy else { throw failure(error, mount, daemon) }
      }
      let holders = Unmount.holders(of: mount, daemon: daemon)
      if holders != told {
        Output.complain(
          "sharefs: waiting; \(mount.mountpoint) is in use.\n  \(words(holders).joined(separator: "\n  "))\n")
        told = holders
      }
      Clock.pause(0.2)
    }
  }

  /// What is left to be made stands in the catalog. Where that cannot be read, `status` tells after the next mount.
  private static func tellPending(_ share: RunningShare) {
    guard let pending = try? CatalogReader(folder: share.state)?.summary().pending, pending > 0 else { return }
    let what = pending == 1 ? "1 thumbnail is" : "\(pending) thumbnails are"
    Output.complain("sharefs: \(what) not made yet; the next mount goes on with that.\n")
  }

  private static func busy(_ mount: Mount, _ daemon: Int32?) -> Failure {
    let holders = Unmount.holders(of: mount, daemon: daemon)
    let advice = [
      "Close these, or let it wait until they are: sharefs umount --wait \(mount.mountpoint)",
      "Or take it out of the tree now: sharefs umount --lazy \(mount.mountpoint)",
    ]
    return Failure(
      .mountFailed, "\(mount.mountpoint) is in use.", hint: (words(holders) + advice).joined(separator: "\n  "))
  }

  private static func words(_ holders: [Unmount.Holder]) -> [String] {
    if holders.isEmpty { return ["by whom cannot be seen; root sees every process"] }
    let who = holders.prefix(8).map { "\($0.name) (process \($0.process)): \($0.path)" }
    return who + (holders.count > 8 ? ["and \(holders.count - 8) more"] : [])
  }
}
