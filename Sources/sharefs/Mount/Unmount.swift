import Glibc
import Posix

/// Taking mounts away: root by umount2(2), a user through fusermount3.
enum Unmount {
  /// - Throws: EBUSY while files are in use, EPERM when it is another user's, EINVAL when nothing is mounted there.
  static func take(_ mount: Mount, lazy: Bool) throws(Errno) {
    if System.isRoot { return try System.unmount(mount.mountpoint, lazy: lazy) }
    guard mount.user == System.user else { throw .notPermitted }
    guard let helper = Fusermount.path else { throw .noEntry }
    var arguments = [FileName("fusermount3"), FileName("-u"), FileName("-q")]
    if lazy { arguments.append(FileName("-z")) }
    let child = try Child.spawn(helper, arguments + [FileName("--"), mount.mountpoint])
    guard try child.wait() != .exited(0) else { return }
    // It says 1 for everything: see what is the case.
    guard let table = try? MountTable.now(), let still = table.top(at: mount.mountpoint) else { return }
    throw still.id == mount.id ? .busy : .invalid
  }

  /// As `take`, not lazy, and again for a moment while nobody else can be seen who uses the mount: the daemon itself does at times, for as
  /// long as it takes to make a thumbnail known to watchers.
  /// - Parameter daemon: its process.
  static func takePatiently(_ mount: Mount, daemon: Int32?) throws(Errno) {
    let deadline = Clock.now() + Clock.seconds(2)
    while true {
      do throws(Errno) {
        return try take(mount, lazy: false)
      } catch .busy {
        guard Clock.now() < deadline, holders(of: mount, daemon: daemon).isEmpty else { throw .busy }
        Clock.pause(0.02)
      }
    }
  }

  /// Takes away what a daemon that was killed left behind.
  static func detachDead(_ mount: Mount) throws(Failure) {
    try explain(.mountFailed, "The dead mount at \(mount.mountpoint) cannot be taken away") { () throws(Errno) in
      try take(mount, lazy: true)
    }
  }

  struct Holder: Hashable {
    let process: Int32
    let name: String
    /// One of the paths that it holds.
    let path: FileName
  }

  /// Who holds files in a mount, as far as we may see. Who holds files of the folder below it, such as the share's workers, is none of them.
  /// - Parameter daemon: its own process, whose visits are short.
  static func holders(of mount: Mount, daemon: Int32?) -> [Holder] {
    ((try? ProcessTable.all()) ?? []).compactMap { process in
      if process == daemon || process == ProcessTable.own { return nil }
      let held = ProcessTable.held(by: process).first { $0.isIn(mount: mount.id, device: mount.device) }
      return held.map { Holder(process: process, name: ProcessTable.name(of: process) ?? "?", path: $0.path) }
    }
  }
}

/// The helper of the fuse3 package by which ordinary users mount.
enum Fusermount {
  static var path: FileName? {
    let folders = (System.environment("PATH")?.bytes ?? [])
      .split(separator: UInt8(ascii: ":")).map { FileName($0) }.filter(\.isAbsolute)
    return (folders + [FileName("/usr/bin"), FileName("/bin")])
      .map { $0.appending("fusermount3") }.first { Files.mayAccess($0, X_OK) }
  }
}
