import Glibc
import Testing

@testable import Posix

@Suite struct WatchesTests {
  /// Our own watch is found, on its file system and no other.
  @Test func findsAWatch() throws {
    let watch = inotify_init1(CInt(IN_CLOEXEC))
    try #require(watch >= 0)
    defer { close(watch) }
    let status = try FileStatus.of(path: "/tmp")
    try #require(unsafe inotify_add_watch(watch, "/tmp", UInt32(IN_CREATE)) >= 0)
    #expect(Watches.inodes(on: status.device).contains(status.inode))
    #expect(!Watches.inodes(on: status.device + 1).contains(status.inode))
  }

  @Test func readsTheKernelsLines() throws {
    func marked(_ line: String) -> [UInt64]? { Watches.marked(Array(line.utf8)[...]).map { [$0.inode, $0.device] } }
    #expect(
      marked("inotify wd:1 ino:8000000000000002 sdev:2f mask:fce ignored_mask:0 fhandle-bytes:8")
        == [0x8000_0000_0000_0002, 0x2f])
    #expect(marked("fanotify ino:4f969 sdev:800013 mflags:0 mask:3b") == [0x4f969, 0x800013])
    #expect(marked("fanotify mnt_id:12 mflags:0 mask:3b") == nil && marked("pos:\t0") == nil && marked("") == nil)
    // 253:2 and 0:300.
    #expect(Watches.kernelNumber(makedev(253, 2)) == 253 << 20 | 2)
    #expect(Watches.kernelNumber(makedev(0, 300)) == 300)
  }
}
