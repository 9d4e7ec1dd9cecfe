import Glibc
import Posix
import Testing

/// Every content version is announced once, in time and with its size, whatever way it comes in: the script says which, and measures too.
@Suite("Streams", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct MixedStreamTests {
  @Test(arguments: Mode.possible) func eachIsAnnouncedOnce(mode: Mode) throws {
    let tests = try #require(FileName(#filePath).parent?.parent)
    let programs = try #require(FileName(Share.sharefs).parent)
    // Its own share, in the folder and by the user of this one.
    let share = try Share(mode, mounted: false)
    let passthrough = mode == .passthrough ? "yes" : "no"
    let result = try share.call(
      "env", ["TMPDIR=\(share.base)", tests.appending("streams").description, programs.description, "10", passthrough])
    #expect(result.code == 0, "\(result.output)")
    try share.end()
  }
}
