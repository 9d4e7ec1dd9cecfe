import Glibc
import Posix

/// Finds, before anything is changed, why a mount would fail, and says it in one sentence.
struct Preflight {
  let source: FileName
  let mountpoint: FileName
  let options: MountOptions
  var isInPlace: Bool { source == mountpoint }

  /// A dead mount of ours in the way is taken away; the folder of a mount in place is made when missing.
  func clear() throws(Failure) {
    try clearMountpoint()
    try checkRelation()
    try checkFuse()
    if isInPlace { try makeFolder() }
    try checkFolder(source, "source", try? Files.status(source))
    if !isInPlace { try checkEmptyMountpoint() }
  }

  private func clearMountpoint() throws(Failure) {
    // More than one dead mount can lie upon another.
    for _ in 0..<16 {
      guard let mount = try MountTable.now().top(at: mountpoint) else { return }
      // Opening the folder would ask for the very mount that is being made.
      if isInPlace, mount.type == "autofs" {
        throw Failure(
          .mountFailed, "\(mountpoint) is an automount, which covers the folder that would be shared in place.",
          hint: "Share it without automount; or keep the files in another folder: SOURCE MOUNTPOINT.")
      }
      guard mount.isOurs else { return }
      guard mount.health() == .dead else {
        throw Failure(
          .mountFailed, "\(mountpoint) is already mounted by sharefs.",
          hint: "See `sharefs status`; end it with `sharefs umount \(mountpoint)`.")
      }
      try Unmount.detachDead(mount)
    }
    throw Failure(
      .mountFailed, "\(mountpoint) lies below too many dead mounts.", hint: "Take them away with umount -l.")
  }

  private func checkRelation() throws(Failure) {
    if isInPlace { return }
    if mountpoint.isWithin(source) {
      throw Failure(
        .mountFailed, "The mount point \(mountpoint) lies inside the source \(source).",
        hint: "Choose one outside, or mount the source in place: sharefs mount \(source)")
    }
    if source.isWithin(mountpoint) {
      throw Failure(
        .mountFailed, "The source \(source) lies inside the mount point \(mountpoint), which would cover it.",
        hint: "Choose an empty folder elsewhere, or mount the source in place: sharefs mount \(source)")
    }
  }

  private func checkFuse() throws(Failure) {
    do throws(Errno) {
      _ = try Descriptor.open("/dev/fuse", O_RDWR)
    } catch {
      switch error.rawValue {
      case ENOENT, ENODEV, ENXIO:
        throw Failure(
          .mountFailed, "This system has no FUSE: /dev/fuse is missing.",
          hint: "Load it with `modprobe fuse`; a container needs `--device /dev/fuse` when it is started.")
      case EACCES, EPERM:
        throw Failure(
          .mountFailed, "You may not use /dev/fuse.",
          hint: "An administrator allows it with `chmod 666 /dev/fuse` (the fuse3 package does so at its installation)."
        )
      default: throw Failure(.mountFailed, "/dev/fuse cannot be opened", error)
      }
    }
    if System.isRoot { return }
    guard Fusermount.path != nil else {
      throw Failure(
        .mountFailed, "The program fusermount3, by which ordinary users mount, is missing.",
        hint: "Install it: apt install fuse3")
    }
    if options.allowOther
      && !Self.usersMayAllowOthers((try? Files.read(FileName("/etc/fuse.conf"), limit: 65536)) ?? [])
    {
      throw Failure(
        .mountFailed, "An ordinary user may not mount with allow_other here.",
        hint: "An administrator allows it with a line `user_allow_other` in /etc/fuse.conf.")
    }
  }

  /// Whether fuse.conf says so on a line of its own.
  static func usersMayAllowOthers(_ configuration: [UInt8]) -> Bool {
    configuration.split(separator: UInt8(ascii: "\n")).contains { line in
      line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r") }
        .elementsEqual("user_allow_other".utf8)
    }
  }

  private func makeFolder() throws(Failure) {
    do throws(Errno) {
      try Files.makeFolders(source)
    } catch {
      if error == .notFolder || error == .exists { throw Failure(.mountFailed, "\(source) is not a folder.") }
      throw Failure(.mountFailed, "The folder \(source) cannot be made", error)
    }
  }

  private func checkFolder(_ path: FileName, _ role: String, _ status: FileStatus?) throws(Failure) {
    guard let status else {
      do throws(Errno) {
        _ = try Files.status(path)
      } catch {
        switch error {
        case .noEntry: throw Failure(.mountFailed, "There is no such \(role): \(path).", hint: "Make it with mkdir.")
        default: throw Failure(.mountFailed, "The \(role) \(path) cannot be reached", error)
        }
      }
      return
    }
    guard status.kind == .folder else { throw Failure(.mountFailed, "The \(role) \(path) is not a folder.") }
    guard Files.mayAccess(path, R_OK | X_OK) else {
      throw Failure(.mountFailed, "You have no permission to read the \(role) \(path).")
    }
    // fusermount3 lets a user mount only where that user may write.
    if role == "mount point" || isInPlace, !System.isRoot, !Files.mayAccess(path, W_OK) {
      throw Failure(.mountFailed, "You have no permission to mount on \(path): you may not write to it.")
    }
  }

  private func checkEmptyMountpoint() throws(Failure) {
    try checkFolder(mountpoint, "mount point", try? Files.status(mountpoint))
    let names = try explain(.mountFailed, "The mount point \(mountpoint) cannot be read") { () throws(Errno) in
      try Files.names(in: mountpoint)
    }
    if !names.isEmpty {
      throw Failure(
        .mountFailed, "The mount point \(mountpoint) is not empty; the mount would hide what is in it.",
        hint: "Choose an empty folder, or mount it in place: sharefs mount \(mountpoint)")
    }
  }

  /// The state must not lie in what the mount covers: the daemon would wait for itself.
  static func checkState(_ state: [FileName], source: FileName, mountpoint: FileName) throws(Failure) {
    let table = try MountTable.now()
    for folder in state {
      let folder = try Paths.real(folder, table: table)
      if folder.isWithin(source) || folder.isWithin(mountpoint) {
        throw Failure(
          .mountFailed, "The state of the share, \(folder), would lie inside the share itself.",
          hint: "Choose a folder outside with `--state DIR`.")
      }
    }
  }
}
