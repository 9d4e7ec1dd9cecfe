import Control
import Glibc
import Posix
import Testing

/// `sharefs umount` says what keeps it from unmounting, and what is left to be done.
@Suite("Unmounting", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct UmountTests {
  /// Busy: it names who and which file, or waits until it is free.
  @Test(arguments: Mode.possible) func waits(mode: Mode) throws {
    try onShare(mode) { share in
      try share.python(
        """
        os.chdir("/")
        command = ["\(Share.sharefs)", "umount", "\(share.folder)"]
        busy = open("\(share.folder)/busy.txt", "w")
        told = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        assert told.returncode == 32 and f"(process {os.getpid()}): \(share.folder)/busy.txt" in told.stderr, told
        assert "--wait" in told.stderr and "--lazy" in told.stderr, told
        waiting = subprocess.Popen(command + ["--wait"], stderr=subprocess.PIPE, text=True)
        assert "waiting" in waiting.stderr.readline() and f"(process {os.getpid()})" in waiting.stderr.readline()
        assert waiting.poll() is None and os.path.ismount("\(share.folder)")
        busy.close()
        assert waiting.wait(20) == 0 and not os.path.ismount("\(share.folder)")
        assert subprocess.run(command + ["--wait", "--lazy"], stderr=subprocess.PIPE).returncode == 1
        """)
    }
  }

  @Test(arguments: Mode.possible) func tellsWhatIsLeft(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    try onShare(mode) { share in
      try share.shell("for i in $(seq 60); do cp '\(clip)' $i.mp4; done")
      let told = try share.call("sh", ["-c", "'\(Share.sharefs)' umount '\(share.folder)' 2>&1"])
      #expect(told.code == 0 && told.output.contains(#/\d+ thumbnails are not made yet/#), "\(told.output)")
    }
  }

  /// Not mounted, somebody else's file system, a dead mount: three different sentences and codes.
  @Test(arguments: Mode.possible) func tellsApart(mode: Mode) throws {
    try onShare(mode) { share in
      func umount(_ path: String) throws -> (Int32, String) {
        let told = try share.call("sh", ["-c", "'\(Share.sharefs)' umount '\(path)' 2>&1"])
        return (told.code, told.output)
      }
      var told = try umount(share.base)
      #expect(told.0 == 2 && told.1.contains("is not mounted."), "\(told)")
      told = try umount("/proc")
      #expect(told.0 == 2 && told.1.contains("not by sharefs: its type is proc."), "\(told)")
      try share.run("mkdir", share.folder + "/sub")
      told = try umount(share.folder + "/sub")
      #expect(told.0 == 2 && told.1.contains("lies in the share \(share.folder)"), "\(told)")
      let daemon = try share.status().pid
      #expect(try share.run("kill", "-9", "\(daemon)") == 0)
      try eventually("the mount is dead") { try share.run("ls", share.folder) != 0 }
      told = try umount(share.folder)
      #expect(told.0 == 0 && told.1.contains("was dead"), "\(told)")
    }
  }
}
