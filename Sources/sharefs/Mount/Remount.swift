import Posix

/// `mount -o remount`: the kernel's flags of a share can be changed while it is mounted; what its daemon was started with cannot.
enum Remount {
  /// - Parameter lists: the options as given, of which `options` was made.
  static func run(_ mountpoint: FileName, _ options: MountOptions, _ lists: [FileName]) throws(Failure) -> ExitCode {
    guard let mount = try MountTable.now().top(at: mountpoint) else {
      throw Failure(.mountFailed, "\(mountpoint) is not mounted: there is nothing to remount.")
    }
    guard mount.isOurs else {
      throw Failure(.mountFailed, "\(mountpoint) is mounted, but not by sharefs: its type is \(mount.type).")
    }
    guard System.isRoot else { throw Failure(.mountFailed, "Only root can remount \(mountpoint).") }
    if mount.health() == .dead {
      throw Failure(
        .mountFailed, "The daemon of \(mountpoint) was killed: there is nothing to remount.",
        hint: "Mount it again, without `remount`.")
    }
    if let share = RunningShare.at(mountpoint) { try checkOwn(share, lists) }
    try explain(.mountFailed, "\(mountpoint) cannot be remounted") { () throws(Errno) in
      try System.remount(mountpoint, flags(options))
    }
    return .done
  }

  /// What is given must be what the daemon has. mount(8) gives all that stands in fstab, so most of it is no wish for a change.
  private static func checkOwn(_ share: RunningShare, _ lists: [FileName]) throws(Failure) {
    guard case .verb(let arguments)? = try? Invocation(ProcessTable.words(of: share.pid)), arguments.verb == .mount
    else { return }
    let had = arguments.values("options")
    let old = try MountOptions(had, sloppy: true)
    let new = try MountOptions(had + lists, sloppy: true)
    guard
      old.thumbs == new.thumbs, old.ready == new.ready, old.thumbSize == new.thumbSize,
      old.passthrough == new.passthrough, old.desktopThumbs == new.desktopThumbs
    else {
      throw Failure(
        .mountFailed, "Only ro, noatime, nosuid, nodev, noexec, sync and dirsync can be changed while it is mounted.",
        hint: "For the others: sharefs umount \(share.mountpoint), then mount it anew.")
    }
  }

  private static func flags(_ options: MountOptions) -> System.MountFlags {
    var flags: System.MountFlags = []
    func set(_ flag: System.MountFlags, _ isSet: Bool) { if isSet { flags.insert(flag) } else { flags.remove(flag) } }
    for option in options.kernel {
      switch option {
      case "ro", "rw": set(.readOnly, option == "ro")
      case "nosuid", "suid": set(.noSetID, option == "nosuid")
      case "nodev", "dev": set(.noDevices, option == "nodev")
      case "noexec", "exec": set(.noPrograms, option == "noexec")
      case "noatime": set(.noAccessTimes, true)
      case "sync", "async": set(.synchronous, option == "sync")
      case "dirsync": set(.synchronousFolders, true)
      default: break
      }
    }
    return flags
  }
}
