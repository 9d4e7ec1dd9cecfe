import Catalog
import Contracts
import Glibc
import Pipeline
import Posix
import Testing

/// What a scan finds that nobody told.
@Suite struct ScanTests {
  @Test func newGoneMovedAndChangedWhileUnmounted() throws {
    let share = try Share()
    for name in ["stay", "go", "move", "change"] { try share.put(path("\(name).mp4"), "good \(name)") }
    try share.idle()
    let ids = try ["stay", "go", "move", "change"].map { try share.asset(path("\($0).mp4")).id }
    share.stop()
    try Files.remove(share.real(path("go.mp4")))
    try Files.makeFolder(share.real(path("d")))
    try Files.rename(share.real(path("move.mp4")), to: share.real(path("d/moved.mp4")))
    try share.store(path("change.mp4"), "good CHANGE")
    try share.store(path("d/new.mp4"), "good new")
    try share.start()
    try share.idle()
    #expect(
      try share.reader().list().map { "\($0.path)" } == ["change.mp4", "d/moved.mp4", "d/new.mp4", "stay.mp4"])
    #expect(try share.asset(path("stay.mp4")).id == ids[0])
    #expect(try share.reader().asset(id: ids[1])?.state == .removed)
    #expect(try share.asset(path("d/moved.mp4")).id == ids[2])
    #expect(try share.asset(path("change.mp4")).id == ids[3])
    #expect(try share.asset(path("change.mp4")).version == 2)
    #expect(share.jobs().count == 6)
    #expect(share.pipeline.status().summary?.verdicts == [.ready: 4])
    // Nothing more is found the next time.
    try share.restart()
    try share.idle()
    #expect(share.jobs().count == 6)
  }

  @Test func replacedAndExchangedWhileUnmounted() throws {
    let share = try Share()
    for name in ["a", "b", "c", "r"] { try share.put(path("\(name).mp4"), "good \(name)") }
    try share.idle()
    let ids = try ["a", "b", "c", "r"].map { try share.asset(path("\($0).mp4")).id }
    share.stop()
    try exchange(share.real(path("a.mp4")), share.real(path("b.mp4")))
    // c moves away and another file takes its name; r comes back from a backup.
    try Files.rename(share.real(path("c.mp4")), to: share.real(path("z.mp4")))
    try share.store(path("c.mp4"), "good other")
    try share.store(path("r.new"), "good restored")
    try Files.rename(share.real(path("r.new")), to: share.real(path("r.mp4")))
    try share.start()
    try share.idle()
    #expect(try share.asset(path("a.mp4")).id == ids[1])
    #expect(try share.asset(path("b.mp4")).id == ids[0])
    #expect(try share.asset(path("z.mp4")).id == ids[2])
    #expect(try ids.contains(share.asset(path("c.mp4")).id) == false)
    #expect(try share.asset(path("r.mp4")).id == ids[3])
  }

  @Test func anEmptyOrVanishedSourceForgetsNothing() throws {
    let share = try Share()
    for number in 0..<5 { try share.put(path("d/\(number).mp4"), "good") }
    try share.idle()
    share.stop()
    // As when the disk below is not mounted: the files themselves stay what they are.
    let aside = share.folder.path.appending("aside")
    try Files.rename(share.real(path("d")), to: aside)
    try share.start()
    try share.idle()
    #expect(try share.reader().summary().assets == 5)
    #expect(share.recorder.texts.contains { $0.contains("empty or has vanished") })
    try Files.rename(aside, to: share.real(path("d")))
    share.pipeline.rescan()
    try eventually("the source again") { share.recorder.texts.contains { $0.contains("has documents again") } }
    try share.idle()
    #expect(try share.reader().list().count == 5)
    #expect(share.jobs().count == 5)
  }

  @Test func aFolderThatCannotBeReadForgetsNothing() throws {
    // Root reads everything: the same rule, through a path that is a loop of mounts, is tested where mounts are.
    guard geteuid() != 0 else { return }
    let share = try Share()
    try share.put(path("locked/a.mp4"), "good")
    try share.idle()
    share.stop()
    try Files.setPermissions(share.real(path("locked")), 0)
    defer { try? Files.setPermissions(share.real(path("locked")), 0o700) }
    try share.start()
    try share.idle()
    #expect(try share.reader().list().count == 1)
    #expect(share.recorder.texts.contains { $0.contains("cannot be looked at") })
  }

  @Test func temporaryNamesLinksAndSpecialFilesAreSkipped() throws {
    let share = try Share(starting: false)
    for name in ["good.mp4", ".hidden.mp4", ".thumbs/x.png", "a.part", "d/.x/deep.mp4", "Thumbs.db"] {
      try share.store(path(name), "good")
    }
    try unsafe share.real(path("link.mp4")).withCString { link in
      try #require(unsafe symlink("good.mp4", link) == 0)
    }
    try unsafe share.real(path("loop")).withCString { link in try #require(unsafe symlink(".", link) == 0) }
    try unsafe share.real(path("pipe.mp4")).withCString { pipe in try #require(unsafe mkfifo(pipe, 0o600) == 0) }
    try share.start()
    try share.idle()
    #expect(try share.reader().list().map { "\($0.path)" } == ["good.mp4"])
  }

  @Test func aFileBeingWrittenIsLeftToItsWriter() throws {
    let share = try Share(starting: false)
    try share.store(path("a.mp4"), "good half")
    let (document, _) = try share.document(path("a.mp4"))
    share.written.files.withLock { _ = $0.insert(document.file) }
    try share.start()
    try share.idle()
    #expect(try share.reader().list().isEmpty)
    // Somebody asks for it all the same.
    share.pipeline.take(.seen(document, try share.document(path("a.mp4")).1))
    try eventually("no answer in the making") { share.picture(document.file) == .unknown }
    share.written.files.withLock { _ = $0.remove(document.file) }
    share.pipeline.take(.settled(document, try share.document(path("a.mp4")).1))
    #expect(try share.ready(document.file).version == 1)
  }

  @Test func whatSomebodyAsksForIsMade() throws {
    let share = try Share()
    try share.store(path("a.mp4"), "good")
    let (document, stamp) = try share.document(path("a.mp4"))
    #expect(share.picture(document.file) == .unknown)
    share.pipeline.take(.seen(document, stamp))
    _ = try share.ready(document.file)
    try share.idle()
    for _ in 0..<10 { share.pipeline.take(.seen(document, stamp)) }
    #expect(share.isReady(document.file))
    try share.idle()
    #expect(share.jobs().count == 1)
    #expect(share.happened.filter { $0.kind == .closed }.count == 1)
  }

  @Test func aFolderThatBecomesRealIsLookedAt() throws {
    let share = try Share()
    try share.put(path(".incoming/a.mp4"), "good")
    try share.store(path(".incoming/deep/b.mp4"), "good")
    try share.idle()
    #expect(try share.reader().list().isEmpty)
    try share.move(path(".incoming"), path("album"))
    try eventually("both") { try share.reader().list().count == 2 }
    try share.idle()
    #expect(share.jobs().count == 2)
  }

  @Test func aScanDuringChangesTellsNothingTwice() throws {
    let share = try Share()
    for round in 0..<30 {
      for number in 0..<5 { try share.put(path("\(round)-\(number).mp4"), "good") }
      share.pipeline.rescan()
      try share.move(path("\(round)-0.mp4"), path("moved/\(round).mp4"))
      try share.remove(path("\(round)-1.mp4"))
    }
    try eventually("the end of the last scan") { !share.pipeline.status().isScanning }
    try share.idle()
    #expect(try share.reader().list().count == 30 * 4)
    let closed = share.happened.filter { $0.kind == .closed }
    #expect(Set(closed.map { "\($0.asset) \($0.version)" }).count == closed.count)
    #expect(closed.allSatisfy { $0.version == 1 })
    for listing in try share.reader().list() {
      let (document, stamp) = try share.document(listing.path)
      #expect(listing.asset.file == document.file && listing.asset.stamp == stamp)
    }
  }

  private func exchange(_ first: FileName, _ second: FileName) throws {
    let aside = FileName(Array(first.bytes) + Array(".aside".utf8))
    try Files.rename(first, to: aside)
    try Files.rename(second, to: first)
    try Files.rename(aside, to: second)
  }
}
