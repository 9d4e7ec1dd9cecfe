import Catalog
import Contracts
import Posix
import Testing

/// Names that come, go and change.
@Suite struct MovesTests {
  @Test func aFolderRenameKeepsEveryIdAndTouchesNobodyElse() throws {
    let book = try Book()
    for inode in 1...50 { try book.settle(path("dir/sub \(inode % 3)/\(inode).mp4"), UInt64(inode)) }
    // Neighbours in byte order, and names that LIKE would take for patterns.
    for (name, inode) in [("dir.mp4", 101), ("dir0/x.mp4", 102), ("dir!/x.mp4", 103), ("di_/x.mp4", 104)] {
      try book.settle(path(name), UInt64(inode))
    }
    let before = try (1...50).map { try book.catalog.asset(of: book.file(UInt64($0)))?.id }
    let effects = try book.rename(500, path("dir"), path("other/dir2"), kind: .folder)
    #expect(effects.versions.isEmpty)
    #expect(try (1...50).map { try book.catalog.asset(of: book.file(UInt64($0)))?.id } == before)
    #expect(try book.id(path("other/dir2/sub 1/1.mp4")) == before[0])
    let paths = try book.paths()
    #expect(paths.count == 54)
    #expect(paths.filter { $0.hasPrefix("dir/") }.isEmpty)
    #expect(paths.contains("dir0/x.mp4") && paths.contains("dir!/x.mp4") && paths.contains("di_/x.mp4"))
  }

  @Test func namesOfAnyBytesSurviveAFolderRename() throws {
    let book = try Book()
    let names: [[UInt8]] = [
      Array("caf".utf8) + [0xe9], [0xff, 0xfe], Array("a\r".utf8), Array("new\nline".utf8), Array("'; --".utf8),
      [UInt8](repeating: 0xff, count: 255), Array("é".utf8), [0x65, 0xcc, 0x81], Array("50%_".utf8), [0x01],
    ]
    let folder = try #require(SharePath([0x4e, 0x6f, 0xeb, 0x6c]))
    let renamed = try #require(SharePath([0xfe, 0xfd]))
    for (index, name) in names.enumerated() {
      try book.settle(folder.appending(FileName(name)), UInt64(index + 1))
    }
    try book.rename(500, folder, renamed, kind: .folder)
    for (index, name) in names.enumerated() {
      let asset = try #require(try book.catalog.asset(at: renamed.appending(FileName(name))))
      #expect(asset.file == book.file(UInt64(index + 1)))
      #expect(try book.catalog.places(of: asset.id) == [renamed.appending(FileName(name))])
    }
  }

  @Test func everyChangeCanBeAppliedTwice() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try book.id(path("a.mp4"))
    for _ in 0..<2 { try book.rename(1, path("a.mp4"), path("b.mp4")) }
    #expect(try book.id(path("b.mp4")) == id)
    for _ in 0..<2 { try book.unlink(path("b.mp4"), 1) }
    #expect(try book.paths() == [])
  }

  @Test func renameBetweenTwoNamesOfOneFileDoesNothing() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    try book.act { catalog, effects throws(CatalogError) in
      try catalog.link(Document(file: book.file(1), path: path("b.mp4")), &effects)
    }
    try book.rename(1, path("a.mp4"), path("b.mp4"), replaced: 1)
    #expect(try book.paths() == ["a.mp4", "b.mp4"])
    #expect(try book.unlink(path("a.mp4"), 1, wasLast: false).removed.isEmpty)
    #expect(try book.paths() == ["b.mp4"])
    #expect(try book.unlink(path("b.mp4"), 1).removed.count == 1)
  }

  @Test func exchangeOfFilesAndFolders() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    try book.settle(path("f/b.mp4"), 2)
    let (a, b) = (try book.id(path("a.mp4")), try book.id(path("f/b.mp4")))
    // The folder `f` and the file `a.mp4` change places.
    try book.act { catalog, effects throws(CatalogError) in
      try catalog.exchange(
        Document(file: book.file(1), path: path("f")), .regular, Document(file: book.file(9), path: path("a.mp4")),
        .folder, &effects)
    }
    #expect(try book.id(path("f")) == a)
    #expect(try book.id(path("a.mp4/b.mp4")) == b)
    #expect(try book.paths() == ["a.mp4/b.mp4", "f"])
  }

  /// Whether the old file goes before or after the new one has settled.
  @Test(arguments: [true, false]) func savedByAnExchange(settledFirst: Bool) throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try #require(try book.id(path("a.mp4")))
    try book.act { catalog, effects throws(CatalogError) in
      try catalog.exchange(
        Document(file: book.file(2), path: path("a.mp4")), .regular, Document(file: book.file(1), path: path(".new")),
        .regular, &effects)
    }
    if settledFirst { try book.settle(path("a.mp4"), 2) }
    #expect(try book.unlink(path(".new"), 1).removed.isEmpty)
    if !settledFirst { try book.settle(path("a.mp4"), 2) }
    #expect(try book.id(path("a.mp4")) == id)
    #expect(try book.catalog.asset(id: id)?.file == book.file(2))
    #expect(try book.paths() == ["a.mp4"])
  }

  @Test func trashHidesAndRestoringShows() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try #require(try book.id(path("a.mp4")))
    try book.rename(1, path("a.mp4"), path(".Trash-0/files/a.mp4"))
    #expect(try book.paths() == [])
    #expect(try book.catalog.asset(id: id)?.isHidden == true)
    try book.rename(1, path(".Trash-0/files/a.mp4"), path("a.mp4"))
    #expect(try book.paths() == ["a.mp4"])
    #expect(try book.catalog.asset(id: id)?.isHidden == false)
  }

  @Test func aFolderThatBecomesRealIsScanned() throws {
    let book = try Book()
    try book.settle(path("d/a.mp4"), 1)
    #expect(try book.rename(9, path("d"), path(".d"), kind: .folder).scans.isEmpty)
    #expect(try book.catalog.asset(of: book.file(1))?.isHidden == true)
    #expect(try book.rename(9, path(".d"), path("e"), kind: .folder).scans == [path("e")])
    #expect(try book.catalog.asset(of: book.file(1))?.isHidden == false)
    #expect(try book.paths() == ["e/a.mp4"])
  }

  @Test func temporaryNamesAreNotCatalogued() throws {
    let book = try Book()
    for name in [".a.mp4.Xy12", "a.mp4.part", "a.mp4.crdownload", ".goutputstream-AB", "x/.hidden/a.mp4", "a.mp4~"] {
      #expect(try book.settle(path(name), 1).isEmpty)
      #expect(try book.sight(path(name), 1, book.stamp()).isEmpty)
    }
    #expect(try book.paths() == [])
  }

  @Test func theMarkOfADownloadGoes() throws {
    let book = try Book()
    #expect(try book.unlink(path("d/x.mp4.aria2"), 3).looks == [path("d/x.mp4")])
    #expect(try book.rename(3, path("d/x.mp4.aria2"), path("d/.y")).looks == [path("d/x.mp4")])
    #expect(path("x.mp4").downloadMark == path("x.mp4.aria2"))
    #expect(SharePath([UInt8](repeating: 97, count: 250))?.downloadMark == nil)
  }

  @Test func aLinkRenamedOverADocumentEndsIt() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    #expect(try book.rename(2, path("l"), path("a.mp4"), kind: .link, replaced: 1).removed.count == 1)
  }
}
