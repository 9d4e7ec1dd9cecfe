import Glibc
import Posix
import Testing

/// A disk that lets writers wait: an ext4 of its own that is frozen.
@Suite(
  "A disk that lets wait", .serialized,
  .enabled(if: TestMount.isPossible && FrozenDisk.isPossible, "needs root, /dev/fuse and a loop device"))
struct WaitingDiskTests {
  /// One small write may hold up the others, once; then small ones give the turn away too.
  @Test func smallWrites() throws {
    try onFrozenDisk(
      """
      f = os.open("f", os.O_CREAT | os.O_RDWR); os.pwrite(f, b"a" * 4096, 0)
      def write():
          pid = os.fork()
          if pid == 0: os.pwrite(f, b"b" * 4096, 0); os._exit(0)
          return pid
      say("freeze"); first = write(); say("waits"); say("thaw"); os.waitpid(first, 0)
      say("freeze"); second = write(); say("waits")
      signal.alarm(20)
      os.statvfs("."); os.stat("."); assert not os.path.exists("another")
      signal.alarm(0)
      say("thaw"); os.waitpid(second, 0)
      assert os.pread(f, 4096, 0) == b"b" * 4096
      """)
  }

  /// A large one never holds up anybody, nor does one that was asked to be on the disk before it ends.
  @Test(arguments: ["b'b' * 100_000, os.O_RDWR", "b'b' * 4096, os.O_RDWR | os.O_DSYNC"])
  func othersGoOn(write: String) throws {
    try onFrozenDisk(
      """
      def write(bytes, flags):
          f = os.open("f", os.O_CREAT | flags)
          say("freeze"); pid = os.fork()
          if pid == 0: os.pwrite(f, bytes, 0); os._exit(0)
          say("waits"); signal.alarm(20); os.statvfs("."); signal.alarm(0)
          say("thaw"); os.waitpid(pid, 0); assert os.stat("f").st_size == len(bytes)
      write(\(write))
      """)
  }

  /// Runs a Python program in a share on a disk of its own. It may say `freeze`, `thaw`, and `waits`: until a thread that answers the kernel stands still.
  private func onFrozenDisk(_ program: String) throws {
    let disk = try FrozenDisk()
    defer { disk.end() }
    let mount = try TestMount(passthrough: false, at: disk.folder)
    defer {
      #expect(throws: Never.self) {
        // Where the test failed, writers still wait.
        try disk.thaw()
        try mount.end()
      }
    }
    try mount.python(program) { word in
      switch word {
      case "freeze": try disk.freeze()
      case "waits":
        #expect(try isSoonWaitedFor())
        // As long as a disk that is behind takes.
        Clock.pause(0.01)
      default: try disk.thaw()
      }
    }
  }

  private func isSoonWaitedFor() throws -> Bool {
    let deadline = Clock.now() + Clock.seconds(20)
    while try !FrozenDisk.isWaitedFor() {
      if Clock.now() > deadline { return false }
      Clock.pause(0.002)
    }
    return true
  }
}

/// A small ext4 on a loop device.
private final class FrozenDisk {
  private let base: String
  /// Where it is mounted, and can be covered.
  let folder: String
  /// Where it stays reachable then.
  private let beside: String
  private var isFrozen = false

  static let isPossible = unsafe access("/dev/loop-control", R_OK | W_OK) == 0 && access("/sbin/fsfreeze", X_OK) == 0

  init() throws {
    base = try TestMount.temporaryFolder()
    (folder, beside) = (base + "/folder", base + "/beside")
    let image = base + "/image"
    for (program, arguments) in [
      ("mkdir", [folder, beside]), ("truncate", ["-s", "32M", image]), ("mkfs.ext4", ["-q", "-F", image]),
      ("mount", ["-o", "loop", image, folder]), ("mount", ["--bind", folder, beside]),
    ] { try #require(try TestMount.execute(program, arguments) == 0) }
  }

  func freeze() throws {
    try #require(try TestMount.execute("fsfreeze", ["-f", beside]) == 0)
    isFrozen = true
  }

  func thaw() throws {
    guard isFrozen else { return }
    try #require(try TestMount.execute("fsfreeze", ["-u", beside]) == 0)
    isFrozen = false
  }

  func end() {
    // The tree that was tested may hold its folder for a moment longer.
    for command in [["umount", beside], ["umount", "-l", folder], ["rm", "-rf", base]] {
      #expect((try? TestMount.execute(command[0], Array(command.dropFirst()))) == 0)
    }
  }

  /// Whether one of our own threads that answer the kernel stands still in a system call.
  static func isWaitedFor() throws -> Bool {
    var threads = Directory(try Descriptor.open("/proc/self/task", O_RDONLY | O_DIRECTORY))
    while let line = try threads.next() {
      if !line.name.isDots, isWaiting(line.name) { return true }
    }
    return false
  }

  private static func isWaiting(_ thread: FileName) -> Bool {
    // It may have ended meanwhile.
    guard let stat = try? Descriptor.open("/proc/self/task/\(thread)/stat", O_RDONLY).readAll(limit: 1024) else {
      return false
    }
    let text = String(decoding: stat, as: UTF8.self)
    return (text.contains("(fuse-") || text.contains("(test-session)")) && text.contains(") D ")
  }
}
