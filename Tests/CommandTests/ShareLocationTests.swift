import Glibc
import Posix
import Testing

@testable import sharefs

@Suite struct ShareLocationTests {
  private func folders(_ base: FileName) -> StateFolders {
    StateFolders(data: base.appending("data"), cache: base.appending("cache"), runtime: base.appending("run"))
  }

  private func claim(_ path: FileName, _ base: FileName, state: FileName? = nil) throws -> ShareLocation {
    let folder = try Descriptor.open(path, O_PATH | O_DIRECTORY)
    return try ShareLocation.claim(folder: folder.raw, path: path, folders: folders(base), state: state)
  }

  /// The state's name, its lock given back.
  private func name(_ path: FileName, _ base: FileName) throws -> String { try claim(path, base).name }

  @Test func aShareHasItsPlaces() throws {
    let base = try TemporaryFolder()
    let location = try claim(try base.make("My Clips.d"), base.path)
    #expect(location.name.hasPrefix("My_Clips_d-") && location.name.utf8.count == 11 + 8)
    #expect(location.data == base.path.appending("data/\(location.name)"))
    #expect(location.cache == base.path.appending("cache/\(location.name)"))
    #expect(location.socket == base.path.appending("run/\(location.name).sock"))
    for folder in [location.data, location.cache, base.path.appending("run")] {
      #expect(try Files.status(folder).permissions == 0o700)
    }
  }

  @Test func itIsFoundAgainAfterMoveAndRename() throws {
    let base = try TemporaryFolder()
    let first = try base.make("share")
    let before = try name(first, base.path)
    let elsewhere = try base.make("elsewhere").appending("other")
    try Files.rename(first, to: elsewhere)
    #expect(try name(elsewhere, base.path) == before)
    #expect(ShareIdentity.read(in: base.path.appending("data/\(before)"))?.path == elsewhere)
  }

  @Test func anotherFolderIsAnotherShare() throws {
    let base = try TemporaryFolder()
    #expect(try name(base.make("a/share"), base.path) != name(base.make("b/share"), base.path))
  }

  @Test func aRestoredBackupTakesTheStateOver() throws {
    let base = try TemporaryFolder()
    let share = try base.make("share")
    let before = try name(share, base.path)
    // As long as the old one stands, the new one cannot get its inode.
    let restored = try base.make("restored")
    try Files.removeFolder(share)
    try Files.rename(restored, to: share)
    #expect(try name(share, base.path) == before)
    #expect(try name(share, base.path) == before)
  }

  @Test func aNewFolderInThePlaceOfOneMovedAsideDoesNot() throws {
    let base = try TemporaryFolder()
    let share = try base.make("share")
    let before = try name(share, base.path)
    try Files.rename(share, to: base.path.appending("share.old"))
    let after = try name(base.make("share"), base.path)
    #expect(after != before)
    #expect(try name(base.path.appending("share.old"), base.path) == before)
  }

  @Test func oneShareHasOneDaemon() throws {
    let base = try TemporaryFolder()
    let share = try base.make("share")
    let held = try claim(share, base.path)
    let second = try #require(throws: Failure.self) { try claim(share, base.path) }
    #expect(
      second.code == .mountFailed && second.sentence == "\(share) is already served by another daemon of sharefs.")
    #expect(FileLock.isHeld(held.data.appending("lock")))
  }

  @Test func everythingCanBeInOneFolder() throws {
    let base = try TemporaryFolder()
    let state = base.path.appending("state")
    let location = try claim(try base.make("share"), base.path, state: state)
    #expect(location.data == state && location.cache == state.appending("cache"))
    #expect(location.socket == state.appending("control.sock"))
    #expect(location.card?.parent == base.path.appending("run"))
    #expect((try? Files.names(in: base.path.appending("data"))) == nil)
  }

  @Test func aStateFolderServesOneShare() throws {
    let base = try TemporaryFolder()
    let state = base.path.appending("state")
    _ = try claim(try base.make("one"), base.path, state: state)
    let second = try #require(throws: Failure.self) { try claim(try base.make("two"), base.path, state: state) }
    #expect(second.sentence.contains("holds the state of another share, \(base.path.appending("one"))"))
  }

  @Test func namesOfAnyBytesMakeAState() throws {
    let base = try TemporaryFolder()
    for bytes: [UInt8] in [[0xff, 0xfe], Array("...".utf8), [UInt8](repeating: UInt8(ascii: "x"), count: 255)] {
      let share = base.path.appending(FileName(bytes))
      try Files.makeFolder(share)
      let location = try claim(share, base.path)
      #expect(location.name.utf8.count <= 49 && location.socket.lastComponent.count <= UnixSocket.longestName)
      #expect(ShareIdentity.read(in: location.data)?.path == share)
    }
  }
}
