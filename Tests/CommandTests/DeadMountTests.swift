import Glibc
import Posix
import Testing

@testable import sharefs

/// Mounts whose daemon was killed, or says nothing. They are made without one: whoever opens /dev/fuse and mounts may go,
/// and leaves behind just what a kill -9 of ours leaves.
@Suite(.enabled(if: System.isRoot && Files.mayAccess(FileName("/dev/fuse"), R_OK | W_OK)))
struct DeadMountTests {
  /// Mounts as `fuse.sharefs`, and stays until it is killed.
  private static let script = """
    import ctypes, os, signal, sys
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    point = sys.argv[1].encode()
    if libc.mount(point, point, b"fuse.sharefs", 0, options) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    print(flush=True)
    signal.pause()
    """

  /// - Parameter body: runs while the one who mounted is there and answers nothing.
  private func withSilentMount(at point: FileName, _ body: () throws -> Void) throws {
    let child = try System.pipe { (ready, told) throws(Errno) in
      let words = ["python3", "-c", Self.script].map { FileName($0) } + [point]
      let child = try Child.spawn(FileName("/usr/bin/python3"), words, descriptors: [1: told.raw])
      try told.close()
      var awaited = [Awaited(ready.raw)]
      try Awaited.wait(&awaited)
      return child
    }
    let result = Result { try body() }
    child.kill()
    _ = try child.wait()
    try result.get()
  }

  private func mounts(at point: FileName) throws -> Int {
    try MountTable.now().mounts.filter { $0.mountpoint == point }.count
  }

  @Test func aDeadMountIsToldAndUnmounted() throws {
    let base = try TemporaryFolder()
    let point = try base.make("share")
    try withSilentMount(at: point) {}
    #expect(try mounts(at: point) == 1)
    let status = try Program.run(["status", "\(point)"])
    #expect(status.code == 2 && status.output.contains("dead: its daemon was killed"))
    let json = try Program.run(["status", "--json", "\(point)"])
    #expect(
      json.output
        == "{\"error\":\"dead: its daemon was killed; mount it again, or unmount it\",\"library\":{\"available\":false,\"permission\":\"read_write\",\"thumbnails\":false},\"mountpoint\":\"\(point)\",\"source\":\"\(point)\"}\n"
    )
    let umount = try Program.run(["umount", "\(point)"])
    #expect(umount.code == 0 && umount.complaint == "sharefs: the mount at \(point) was dead; it is taken away.\n")
    #expect(try mounts(at: point) == 0)
  }

  @Test func deadMountsAreTakenAwayBeforeTheNextOne() throws {
    let base = try TemporaryFolder()
    let point = try base.make("share")
    // The second lies upon the first, as after two unlucky starts.
    try withSilentMount(at: point) {}
    try Preflight(source: point, mountpoint: point, options: MountOptions()).clear()
    #expect(try mounts(at: point) == 0)
    #expect(try Files.names(in: point) == [])
  }

  @Test func aSilentMountHoldsNobodyUp() throws {
    let base = try TemporaryFolder()
    let point = try base.make("share")
    let start = Clock.now()
    try withSilentMount(at: point) {
      let status = try Program.run(["status", "\(point)"])
      #expect(status.code == 4 && status.output.contains("its daemon does not answer"))
      let umount = try Program.run(["umount", "\(point)"])
      #expect(umount.code == 4 && umount.complaint.hasPrefix("sharefs: The daemon of \(point) does not answer.\n"))
      let mount = try Program.run(["mount", "--state", "\(base.path)/state", "\(point)"])
      #expect(mount.code == 32 && mount.complaint.hasPrefix("sharefs: \(point) is already mounted by sharefs.\n"))
    }
    #expect(Clock.now() - start < Clock.seconds(20))
    _ = try Program.run(["umount", "\(point)"])
    #expect(try mounts(at: point) == 0)
  }

  @Test func aSilentMountCanBeTakenOutOfTheTree() throws {
    let base = try TemporaryFolder()
    let point = try base.make("share")
    try withSilentMount(at: point) {
      let umount = try Program.run(["umount", "--lazy", "\(point)"])
      let left = try mounts(at: point)
      #expect(umount.code == 0 && left == 0)
    }
  }
}
