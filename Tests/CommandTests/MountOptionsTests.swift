import Contracts
import Posix
import Testing

@testable import sharefs

@Suite struct MountOptionsTests {
  private func options(_ lists: String..., sloppy: Bool = false) throws(Failure) -> MountOptions {
    try MountOptions(lists.map { FileName($0) }, sloppy: sloppy)
  }

  @Test func whatIsNotSaidIsUsual() throws {
    let usual = MountOptions()
    #expect(try options() == usual)
    #expect(usual.thumbs == .listed && usual.thumbSize == Box(width: 300, height: 169))
    #expect(usual.passthrough && !usual.allowOther && !usual.isReadOnly)
  }

  @Test func ourOwnAreUnderstood() throws {
    let all = try options("thumbs=hidden,thumb_size=640x360", "nopassthrough,allow_other,ro")
    #expect(all.thumbs == .hidden && all.thumbSize == Box(width: 640, height: 360))
    #expect(!all.passthrough && all.allowOther && all.isReadOnly)
    #expect(all.kernel == ["ro"])
  }

  @Test func theLastWordCounts() throws {
    #expect(try options("thumbs=off,thumbs=listed").thumbs == .listed)
    #expect(try options("ro,rw").isReadOnly == false)
  }

  /// What mount(8), fstab and systemd were seen to pass.
  @Test func thoseOfOthersArePassedOver() throws {
    let passed = try options(
      "rw,_netdev,nofail,noauto,user,x-systemd.automount,x-gvfs-show,X-mount.mkdir,comment=a,relatime,dev,suid,defaults,"
    )
    #expect(passed.kernel == ["rw", "dev", "suid"])
    // libfuse does not know it; and what a remount is given from the table of mounts.
    let again = try options(
      "ro,noatime,nodiratime,relatime,remount,user_id=0,group_id=0,default_permissions,allow_other")
    #expect(again.kernel == ["ro", "noatime"] && again.isRemount)
  }

  @Test(arguments: [
    ("frob", "There is no mount option \"frob\"."), ("thumbs=no", "\"thumbs\" is listed, hidden or off, not \"no\"."),
    ("thumbs", "The mount option \"thumbs\" needs a value."),
    ("thumb_size=9x9", "\"thumb_size\" is WIDTHxHEIGHT, each 16 to 4096, not \"9x9\"."),
    ("thumb_size=300x169x1", "\"thumb_size\" is WIDTHxHEIGHT, each 16 to 4096, not \"300x169x1\"."),
    ("thumb_size=-300x169", "\"thumb_size\" is WIDTHxHEIGHT, each 16 to 4096, not \"-300x169\"."),
    ("nopassthrough=1", "There is no mount option \"nopassthrough=1\"."),
    ("ro=1", "There is no mount option \"ro=1\"."),
  ])
  func wrongOnesAreRefusedByName(option: String, sentence: String) {
    let failure = failure { () throws(Failure) in _ = try options(option) }
    #expect(failure?.sentence == sentence)
    #expect(failure?.code == .usage)
  }

  @Test func bytesThatAreNoTextAreRefused() {
    let failure = failure { () throws(Failure) in _ = try MountOptions([FileName([0xff])]) }
    #expect(failure?.sentence == "There is no mount option \"\\xff\".")
  }

  @Test func aSloppyMountPassesUnknownOnesOver() throws {
    #expect(try options("frob=1,ro", sloppy: true).isReadOnly)
  }
}
