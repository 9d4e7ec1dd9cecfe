import Catalog
import Contracts
import Pipeline
import Posix
import Testing

/// From a settled document to its picture.
@Suite struct PictureTests {
  @Test func aSettledDocumentGetsItsPicture() throws {
    let share = try Share()
    let file = try share.put(path("d/a.mp4"), "good one")
    #expect(share.picture(file) != .unknown)
    let picture = try share.ready(file)
    #expect(picture.version == 1 && picture.placeholder == nil)
    let bytes = try share.content(picture)
    #expect(bytes.count == Int(picture.size))
    #expect(String(decoding: bytes, as: UTF8.self).contains("good one"))
    try share.idle()
    let asset = try share.asset(path("d/a.mp4"))
    #expect(asset.verdict == .ready && asset.facts.width == 1920 && asset.facts.duration == 12.5)
    try eventually("the news") {
      share.recorder.pictures == [.init(path: path("d/a.mp4"), old: nil, new: picture)]
    }
    #expect(share.happened.map(\.kind) == [.rescan, .started, .closed, .ready, .thumbnail])
    #expect(share.happened.map(\.number) == [1, 2, 3, 4, 5])
  }

  /// The view's own size, whatever it is, and the desktop's two: a document is looked at once for all of them.
  @Test func allSizesComeFromOneJob() throws {
    let share = try Share(starting: false)
    share.box = Box(width: 400, height: 300)
    let desktop = share.folder.path.appending("desktop")
    share.desktop = Settings.Desktop(cacheFolder: desktop, mountpoint: share.source)
    try share.start()
    _ = try share.ready(try share.put(path("a.mp4"), "good"))
    for size in ["normal", "large"] {
      let folder = desktop.appending("thumbnails").appending(size)
      try eventually("the desktop's \(size) one") { ((try? Files.names(in: folder)) ?? []).count == 1 }
    }
    try share.idle()
    #expect(share.jobs().count == 1)
  }

  @Test func verdictsAndPlaceholders() throws {
    let share = try Share()
    let cut = try share.put(path("cut.mp4"), "cut")
    let text = try share.put(path("text.txt"), "text")
    #expect(try share.ready(cut).placeholder == nil)
    let picture = try share.ready(text)
    #expect(picture.placeholder == .document)
    #expect(try share.content(picture).count == Int(picture.size))
    try share.idle()
    #expect(try share.asset(path("cut.mp4")).verdict == .incomplete)
    #expect(try share.asset(path("text.txt")).reason == "It is no medium.")
    #expect(share.pipeline.status().summary?.verdicts == [.incomplete: 1, .unsupported: 1])
    let late = share.pipeline.placeholder(for: FileName("x.MOV"))
    #expect(late.placeholder == .video && late.asset == 0)
    #expect(try share.content(late).count == Int(late.size))
  }

  @Test func aRewriteKeepsTheOldPictureUntilTheNewOneIsThere() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good red")
    let red = try share.ready(file)
    try share.put(path("a.mp4"), "held blue")
    #expect(share.picture(file) == .making(previous: red))
    try eventually("the job") { share.jobs().count == 2 }
    #expect(try share.content(red).count == Int(red.size))
    try share.go()
    let blue = try share.ready(file)
    #expect(blue.version == 2)
    #expect(String(decoding: try share.content(blue), as: UTF8.self).contains("blue"))
    // Told right after it can be asked for.
    try eventually("the news") { share.recorder.pictures.last == .init(path: path("a.mp4"), old: red, new: blue) }
    try eventually("the old file's end") { (try? share.pipeline.open(red)) == nil }
  }

  @Test func aResultOfAnOldVersionIsDropped() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held one")
    try eventually("the job") { share.jobs().count == 1 }
    try share.put(path("a.mp4"), "good two")
    try share.go()
    let picture = try share.ready(file)
    #expect(picture.version == 2)
    #expect(String(decoding: try share.content(picture), as: UTF8.self).contains("two"))
    try share.idle()
    #expect(share.happened.filter { $0.kind == .thumbnail }.count == 1)
    #expect(share.happened.filter { $0.kind == .closed }.map(\.version) == [1, 2])
  }

  @Test func metadataThatChangesDuringTheJobCostsNoSecondOne() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    try eventually("the job") { share.jobs().count == 1 }
    // What gio copy and rsync do after the release.
    try Files.setPermissions(share.real(path("a.mp4")), 0o600)
    try share.go()
    try share.touch(path("a.mp4"))
    #expect(try share.ready(file).version == 1)
    try share.idle()
    #expect(share.jobs().count == 1)
    let (_, stamp) = try share.document(path("a.mp4"))
    #expect(try share.asset(path("a.mp4")).stamp == stamp)
    try share.restart()
    try share.idle()
    #expect(share.jobs().count == 1)
  }

  @Test func noPictureOfAFileBeingWritten() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    try eventually("the job") { share.jobs().count == 1 }
    share.written.files.withLock { _ = $0.insert(file) }
    try share.store(path("a.mp4"), "half")
    try share.go()
    // Its result is dropped: the document stays in the making until its writer goes.
    try eventually("the result") { share.pipeline.status().running == 0 && share.pipeline.status().backlog == 0 }
    #expect(share.picture(file) == .making(previous: nil))
    share.written.files.withLock { _ = $0.remove(file) }
    let (document, stamp) = try share.document(path("a.mp4"))
    share.pipeline.take(.settled(document, stamp))
    #expect(try share.ready(file).version == 2)
    try share.idle()
    #expect(share.recorder.pictures.count == 1)
  }

  @Test func aStreamThatChangedNothingBringsTheJobBack() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    try eventually("the job") { share.jobs().count == 1 }
    share.written.files.withLock { _ = $0.insert(file) }
    try share.go()
    try eventually("the result") { share.pipeline.status().running == 0 && share.pipeline.status().backlog == 0 }
    share.written.files.withLock { _ = $0.remove(file) }
    share.pipeline.take(.unchanged(try share.document(path("a.mp4")).0))
    #expect(try share.ready(file).version == 1)
  }

  @Test func temporaryNamesMakeNothing() throws {
    let share = try Share()
    let file = try share.put(path(".a.mp4.Xy12"), "good")
    #expect(share.picture(file) == .unknown)
    // rsync over nothing, then over a document.
    try share.move(path(".a.mp4.Xy12"), path("a.mp4"))
    let (document, stamp) = try share.document(path("a.mp4"))
    share.pipeline.take(.settled(document, stamp))
    _ = try share.ready(file)
    let id = try share.asset(path("a.mp4")).id
    let second = try share.put(path(".a.mp4.Zz34"), "good two")
    try share.move(path(".a.mp4.Zz34"), path("a.mp4"))
    let (next, nextStamp) = try share.document(path("a.mp4"))
    share.pipeline.take(.settled(next, nextStamp))
    let picture = try share.ready(second)
    #expect(picture.asset == id && picture.version == 2)
    try share.idle()
    #expect(share.jobs().count == 2)
    #expect(share.happened.filter { $0.kind == .closed }.map(\.path) == [path("a.mp4"), path("a.mp4")])
  }

  @Test func backFromTheTrashItIsShownAndNotMadeAgain() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    let picture = try share.ready(file)
    try share.move(path("a.mp4"), path(".Trash-0/files/a.mp4"))
    try eventually("nothing shown") { share.picture(file) == .unknown }
    try share.move(path(".Trash-0/files/a.mp4"), path("a.mp4"))
    // The filesystem tells a first real name as settled, whatever it was before.
    let (document, stamp) = try share.document(path("a.mp4"))
    share.pipeline.take(.settled(document, stamp))
    try eventually("the same picture") { share.picture(file) == .ready(picture) }
    try share.idle()
    #expect(share.jobs().count == 1)
    #expect(share.happened.filter { $0.kind == .closed }.count == 1)
  }

  @Test func aDownloadIsFinishedWhenItsMarkGoes() throws {
    let share = try Share()
    try share.put(path("x.mp4.aria2"), "mark")
    let file = try share.put(path("x.mp4"), "good")
    try share.idle()
    #expect(share.picture(file) == .unknown)
    #expect(share.jobs().isEmpty)
    try share.remove(path("x.mp4.aria2"))
    _ = try share.ready(file)
  }

  @Test func aHardLinkIsTheSameAssetUnderTwoNames() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    let picture = try share.ready(file)
    try Files.link(share.real(path("a.mp4")), share.real(path("b.mp4")))
    let (document, _) = try share.document(path("b.mp4"))
    share.pipeline.take(.linked(document))
    try share.touch(path("b.mp4"))
    try eventually("the second name") { share.recorder.pictures.count == 2 }
    #expect(share.recorder.pictures.last == .init(path: path("b.mp4"), old: nil, new: picture))
    #expect(try share.asset(path("b.mp4")).id == picture.asset)
    try share.remove(path("a.mp4"))
    try share.idle()
    #expect(try share.reader().list().map { "\($0.path)" } == ["b.mp4"])
    #expect(share.isReady(file))
    try share.remove(path("b.mp4"))
    try eventually("the end") { share.picture(file) == .unknown }
    #expect(share.jobs().count == 1)
  }

  @Test func aRemovedDocumentTakesItsPictureAlong() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    let picture = try share.ready(file)
    try share.remove(path("a.mp4"))
    #expect(share.picture(file) == .unknown)
    try eventually("the news") { share.recorder.pictures.last == .init(path: path("a.mp4"), old: picture, new: nil) }
    try eventually("the file's end") { (try? share.pipeline.open(picture)) == nil }
  }

  @Test func thePictureIsMadeForAnotherSizeAfterARestart() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    let text = try share.put(path("b.txt"), "text")
    _ = try (share.ready(file), share.ready(text))
    share.box = Box(width: 400, height: 300)
    try share.restart()
    try share.idle()
    #expect(share.jobs().filter { $0.contains("good") }.count == 2)
    #expect(share.jobs().count == 3)
    _ = try share.ready(file)
    #expect(try share.content(try share.ready(text)).isEmpty == false)
  }

  @Test func aLostCacheIsMadeAgain() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    let text = try share.put(path("b.txt"), "text")
    let picture = try share.ready(file)
    let placeholder = try share.ready(text)
    Folder.remove(share.cache)
    #expect(throws: Errno.noEntry) { _ = try share.pipeline.open(picture) }
    #expect(throws: Errno.noEntry) { _ = try share.pipeline.open(placeholder) }
    try eventually("both again") {
      guard case .ready(let picture) = share.picture(file), case .ready(let other) = share.picture(text) else {
        return false
      }
      return (try? share.content(picture)) != nil && (try? share.content(other)) != nil
    }
    // And when it was lost while nobody looked.
    share.stop()
    Folder.remove(share.cache)
    try share.start()
    try eventually("all again") {
      guard case .ready(let picture) = share.picture(file), case .ready(let other) = share.picture(text) else {
        return false
      }
      return (try? share.content(picture)) != nil && (try? share.content(other)) != nil
    }
  }

  @Test func orphansAreSweptAtStart() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    let picture = try share.ready(file)
    try share.idle()
    share.stop()
    let shelf = share.cache.appending("07")
    try Files.makeFolders(shelf)
    for name in ["7-1.png", "7-2.png.123.part", "what.else"] { try Files.replace(shelf.appending(name), with: [1]) }
    try share.start()
    try eventually("an empty shelf") { try Files.names(in: shelf).isEmpty }
    #expect(try share.content(picture).isEmpty == false)
  }

  @Test func privateFiles() throws {
    let share = try Share()
    let picture = try share.ready(try share.put(path("a.mp4"), "good"))
    let hex = String(picture.asset, radix: 16)
    let shelf = share.cache.appending(hex.count == 1 ? "0" + hex : hex)
    #expect(try Files.status(share.cache).permissions == 0o700)
    #expect(try Files.status(shelf).permissions == 0o700)
    #expect(try Files.status(shelf.appending("\(picture.asset)-1.png")).permissions == 0o600)
  }
}
