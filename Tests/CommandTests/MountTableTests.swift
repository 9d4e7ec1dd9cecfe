import Posix
import Testing

@testable import sharefs

@Suite struct MountTableTests {
  private let table = MountTable(
    Array(
      #"""
      22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      40 22 0:40 / /home/me/share rw,nosuid,nodev,relatime shared:7 master:2 - fuse.sharefs /home/me/share rw,user_id=1000,group_id=1000
      41 22 0:41 / /mnt/a\040b\011c\012d\134e\043f rw - fuse.sharefs /srv/a\040b rw,user_id=0
      42 22 8:2 / /mnt/disk rw - ext4 /dev/sdb1 rw
      43 40 0:43 / /home/me/share/inner rw - tmpfs tmpfs rw
      a broken line
      44 22 0:44 / /mnt/disk rw - fuse.sharefs /mnt/disk rw,user_id=0

      """#.utf8))

  @Test func readsEveryLineThatIsOne() { #expect(table.mounts.map(\.id) == [22, 40, 41, 42, 43, 44]) }

  @Test func takesEscapedSignsBack() throws {
    let mount = try #require(table.mounts.first { $0.id == 41 })
    #expect(mount.mountpoint == FileName("/mnt/a b\tc\nd\\e#f"))
    #expect(mount.source == FileName("/srv/a b"))
  }

  @Test func optionalFieldsMayBeManyOrNone() throws {
    let mine = try #require(table.top(at: FileName("/home/me/share")))
    #expect(mine.isOurs && mine.user == 1000 && mine.source == FileName("/home/me/share"))
    #expect(table.top(at: FileName("/"))?.type == "ext4")
  }

  @Test func theLastMountAtAPlaceIsSeen() { #expect(table.top(at: FileName("/mnt/disk"))?.id == 44) }

  @Test func findsTheShareAroundAPath() {
    #expect(table.share(around: FileName("/home/me/share/a/b"))?.id == 40)
    #expect(table.share(around: FileName("/home/me/share"))?.id == 40)
    #expect(table.share(around: FileName("/home/me/shared"))?.id == nil)
    // Another file system that is mounted in the share is not the share.
    #expect(table.share(around: FileName("/home/me/share/inner/x"))?.id == nil)
    #expect(table.shares.map(\.id) == [40, 41, 44])
  }

  @Test func readsThisSystemsOwn() throws { #expect(try MountTable.now().top(at: FileName("/")) != nil) }

  @Test func fuseConfigurationAllowsOthersOnlyByItsOwnLine() {
    func allows(_ text: String) -> Bool { Preflight.usersMayAllowOthers(Array(text.utf8)) }
    #expect(allows("mount_max = 1000\nuser_allow_other\n"))
    #expect(allows("  user_allow_other \n"))
    #expect(!allows("#user_allow_other\n"))
    #expect(!allows("mount_max = 1000\n"))
  }
}
