import Glibc
import Posix
import Testing

@testable import sharefs

/// What the built program says and ends with, for every way in which a mount cannot be.
@Suite struct ProgramTests {
  /// Runs `sharefs mount` with a state of its own.
  private func mount(_ base: FileName, _ words: [String], user: UInt32? = nil) throws -> Program.Result {
    try Program.run(["mount", "--state", "\(base)/state"] + words, user: user)
  }

  private func expectRefusal(_ result: Program.Result, _ sentence: String, code: Int32 = 32) {
    #expect(result.code == code)
    #expect(result.output.isEmpty)
    #expect(result.complaint.split(separator: "\n").first.map(String.init) == "sharefs: \(sentence)")
  }

  @Test func helpAndVersionGoToTheOutput() throws {
    let help = try Program.run(["--help"])
    #expect(help.code == 0 && help.output == Help.all && help.complaint.isEmpty)
    #expect(try Program.run(["list", "--help"]).output == Help.of(.list))
    #expect(try Program.run(["--version"]).output == "sharefs \(version)\n")
  }

  @Test func wrongUsageEndsWithOne() throws {
    expectRefusal(
      try Program.run(["frob"]),
      "There is no verb or option \"frob\"; the verbs are \(Verb.allCases.map(\.rawValue).joined(separator: ", ")).",
      code: 1)
    expectRefusal(try Program.run(["mount", "-o", "frob", "x"]), "There is no mount option \"frob\".", code: 1)
  }

  @Test func noSuchSource() throws {
    let base = try TemporaryFolder()
    _ = try base.make("mnt")
    expectRefusal(
      try mount(base.path, ["\(base.path)/none", "\(base.path)/mnt"]), "There is no such source: \(base.path)/none.")
  }

  @Test func noSuchMountPoint() throws {
    let base = try TemporaryFolder()
    _ = try base.make("src")
    expectRefusal(
      try mount(base.path, ["\(base.path)/src", "\(base.path)/none"]),
      "There is no such mount point: \(base.path)/none.")
  }

  @Test func notAFolder() throws {
    let base = try TemporaryFolder()
    try Files.replace(base.path.appending("file"), with: [])
    expectRefusal(try mount(base.path, ["\(base.path)/file"]), "\(base.path)/file is not a folder.")
    _ = try base.make("mnt")
    expectRefusal(
      try mount(base.path, ["\(base.path)/file", "\(base.path)/mnt"]), "The source \(base.path)/file is not a folder.")
  }

  @Test func oneInsideTheOther() throws {
    let base = try TemporaryFolder()
    _ = try base.make("src/mnt")
    _ = try base.make("mnt/src")
    let source = "\(base.path)/src"
    expectRefusal(
      try mount(base.path, [source, "\(source)/mnt"]), "The mount point \(source)/mnt lies inside the source \(source)."
    )
    expectRefusal(
      try mount(base.path, ["\(base.path)/mnt/src", "\(base.path)/mnt"]),
      "The source \(base.path)/mnt/src lies inside the mount point \(base.path)/mnt, which would cover it.")
  }

  @Test func mountPointNotEmpty() throws {
    let base = try TemporaryFolder()
    _ = try base.make("src")
    _ = try base.make("mnt/something")
    expectRefusal(
      try mount(base.path, ["\(base.path)/src", "\(base.path)/mnt"]),
      "The mount point \(base.path)/mnt is not empty; the mount would hide what is in it.")
  }

  @Test func stateInsideTheShare() throws {
    let base = try TemporaryFolder()
    let share = try base.make("share")
    expectRefusal(
      try Program.run(["mount", "--state", "\(share)/.state", "\(share)"]),
      "The state of the share, \(share)/.state, would lie inside the share itself.")
    #expect(try Files.names(in: share) == [])
  }

  @Test(.enabled(if: System.isRoot)) func noPermission() throws {
    let base = try TemporaryFolder()
    let closed = try base.make("closed")
    try Files.setPermissions(closed, 0o700)
    try Files.setPermissions(FileName("/dev/fuse"), 0o666)
    expectRefusal(
      try mount(base.path, ["\(closed)"], user: 65534), "You have no permission to read the source \(closed).")
    expectRefusal(
      try mount(base.path, ["\(base.path)/new"], user: 65534),
      "The folder \(base.path)/new cannot be made: Permission denied.")
  }

  @Test(
    .enabled(
      if: System.isRoot
        && (try? Files.read(FileName("/etc/fuse.conf"), limit: 65536)).map { !Preflight.usersMayAllowOthers($0) }
          ?? true
    ))
  func allowOtherIsNotForOrdinaryUsers() throws {
    let base = try TemporaryFolder()
    try Files.setPermissions(FileName("/dev/fuse"), 0o666)
    expectRefusal(
      try mount(base.path, ["-o", "allow_other", "\(base.path)/new"], user: 65534),
      "An ordinary user may not mount with allow_other here.")
  }

  @Test func unmountTellsApart() throws {
    let base = try TemporaryFolder()
    expectRefusal(try Program.run(["umount", "\(base.path)"]), "\(base.path) is not mounted.", code: 2)
    let proc = try Program.run(["umount", "/proc"])
    expectRefusal(proc, "/proc is mounted, but not by sharefs: its type is proc.", code: 2)
  }

  @Test func statusOfNoShare() throws {
    let base = try TemporaryFolder()
    expectRefusal(
      try Program.run(["status", "\(base.path)"]), "\(base.path) is not in a mounted share.", code: 2)
  }

  @Test func listAndInfoOutsideOfAnyShare() throws {
    let base = try TemporaryFolder()
    let places = ["HOME=\(base.path)", "XDG_DATA_HOME=\(base.path)/data"]
    for verb in ["list", "info"] {
      expectRefusal(
        try Program.run([verb, "\(base.path)"], environment: places), "\(base.path) does not lie in a share of yours.",
        code: 2)
    }
    expectRefusal(
      try Program.run(["list", "--state", "\(base.path)", "\(base.path)"]), "\(base.path) holds no state of a share.",
      code: 2)
  }

  @Test func namesAreShownWithoutTheirControlSigns() throws {
    let base = try TemporaryFolder()
    let name = FileName(Array("\(base.path)/a".utf8) + [0x1b, UInt8(ascii: "["), 0xff])
    let result = try Program.run([FileName("umount"), name])
    #expect(result.complaint == "sharefs: \(base.path)/a\\x1b[\\xff is not mounted.\n")
  }

  @Test func startsFast() throws {
    let start = Clock.now()
    for _ in 0..<10 { _ = try Program.run(["--version"]) }
    // A debug build on a busy machine; Foundation alone would cost more than this.
    #expect(Clock.now() - start < Clock.seconds(5))
  }
}
