import Catalog
import Contracts
import Posix
import Testing

/// Which asset a document is.
@Suite struct IdentityTests {
  @Test func aRewriteIsTheNextVersionOfTheSameAsset() throws {
    let book = try Book()
    let first = try #require(try book.settle(path("a.mp4"), 1).versions.first)
    let second = try #require(try book.settle(path("a.mp4"), 1).versions.first)
    #expect(first.id == second.id)
    #expect([first.version, second.version] == [1, 2])
    #expect(second.state == .pending)
  }

  @Test func theSameStampTwiceIsTwoVersionsWhenSettledTwice() throws {
    let book = try Book()
    let stamp = book.stamp()
    try book.settle(path("a.mp4"), 1, stamp)
    // Two writes within one tick of the file system's clock.
    #expect(try book.settle(path("a.mp4"), 1, stamp).versions.first?.version == 2)
  }

  @Test func whatWasSeenBeforeItsSettledChangeArrivedIsOneVersion() throws {
    let book = try Book()
    let stamp = book.stamp()
    #expect(try book.sight(path("a.mp4"), 1, stamp).versions.count == 1)
    #expect(try book.settle(path("a.mp4"), 1, stamp).versions.isEmpty)
    #expect(try book.settle(path("a.mp4"), 1, stamp).versions.first?.version == 2)
  }

  @Test func aFileRenamedOverAnotherTakesItsAsset() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try book.id(path("a.mp4"))
    // rsync: the temporary file was never catalogued.
    #expect(try book.settle(path(".a.mp4.Xy12"), 2).versions.isEmpty)
    try book.rename(2, path(".a.mp4.Xy12"), path("a.mp4"), replaced: 1)
    #expect(try book.id(path("a.mp4")) == id)
    let effects = try book.settle(path("a.mp4"), 2)
    #expect(effects.versions.map(\.id) == [id])
    #expect(effects.versions.first?.version == 2)
    #expect(try book.catalog.asset(of: book.file(1)) == nil)
    #expect(try book.catalog.asset(of: book.file(2))?.id == id)
  }

  @Test func aReplacementStillBeingWrittenMovesWithItsAsset() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try book.id(path("a.mp4"))
    // gio renames its temporary file before it closes it, and somebody renames that at once.
    try book.rename(2, path(".goutputstream-AB"), path("a.mp4"), replaced: 1)
    try book.rename(2, path("a.mp4"), path("b.mp4"))
    try book.settle(path("b.mp4"), 2)
    #expect(try book.id(path("b.mp4")) == id)
    #expect(try book.id(path("a.mp4")) == nil)
  }

  @Test func aDocumentRenamedOverAnotherKeepsItsOwn() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    try book.settle(path("b.mp4"), 2)
    let (a, b) = (try #require(try book.id(path("a.mp4"))), try #require(try book.id(path("b.mp4"))))
    #expect(try book.rename(1, path("a.mp4"), path("b.mp4"), replaced: 2).removed == [b])
    #expect(try book.id(path("b.mp4")) == a)
    #expect(try book.catalog.asset(id: b)?.state == .removed)
  }

  @Test func aReplacedHardLinkLivesOnUnderItsOtherName() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try book.id(path("a.mp4"))
    try book.act { catalog, effects throws(CatalogError) in
      try catalog.link(Document(file: book.file(1), path: path("b.mp4")), &effects)
    }
    #expect(try book.id(path("b.mp4")) == id)
    try book.rename(2, path(".b.mp4.1"), path("b.mp4"), replaced: 1)
    try book.settle(path("b.mp4"), 2)
    #expect(try book.id(path("a.mp4")) == id)
    #expect(try book.id(path("b.mp4")) != id)
  }

  @Test func aRemovedFileComesBackWithItsIdButANewOneDoesNot() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try #require(try book.id(path("a.mp4")))
    #expect(try book.unlink(path("a.mp4"), 1).removed == [id])
    #expect(try book.catalog.asset(id: id)?.removedAt != nil)
    // Another file of that name is another document.
    try book.settle(path("a.mp4"), 7)
    #expect(try book.id(path("a.mp4")) != id)
    // The same file under another name is the old one.
    try book.sight(path("back.mp4"), 1, book.stamp())
    #expect(try book.id(path("back.mp4")) == id)
  }

  @Test func removedAssetsAreForgottenAfterThirtyDaysAndNotBefore() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try #require(try book.id(path("a.mp4")))
    try book.unlink(path("a.mp4"), 1)
    try book.catalog.purge()
    #expect(try book.catalog.asset(id: id) != nil)
    try book.catalog.purge(now: FileTime(nanoseconds: Clock.wall().nanoseconds + 31 * 86400 * 1_000_000_000))
    #expect(try book.catalog.asset(id: id) == nil)
    try book.settle(path("b.mp4"), 2)
    #expect(try #require(try book.id(path("b.mp4"))) > id)
  }

  /// vim and Emacs rename the document to a backup's name and write a new file in its place.
  @Test func aFileWrittenInThePlaceOfABackupIsTheDocument() throws {
    let book = try Book()
    try book.settle(path("d/a.txt"), 1)
    let id = try #require(try book.id(path("d/a.txt")))
    try book.rename(1, path("d/a.txt"), path("d/a.txt~"))
    #expect(try book.paths() == [])
    let effects = try book.settle(path("d/a.txt"), 2)
    #expect(effects.versions.map(\.id) == [id] && effects.versions.first?.version == 2)
    #expect(effects.versions.first?.isHidden == false)
    #expect(try book.paths() == ["d/a.txt"])
    // The backup is nobody's, whether it stays or goes.
    #expect(try book.catalog.asset(of: book.file(1)) == nil)
    #expect(try book.unlink(path("d/a.txt~"), 1).isEmpty)
    #expect(try book.settle(path("d/a.txt"), 2).versions.first?.id == id)
    // Of a document that has another name too, nothing is taken.
    try book.act { catalog, effects throws(CatalogError) in
      try catalog.link(Document(file: book.file(2), path: path("other.txt")), &effects)
    }
    try book.rename(2, path("d/a.txt"), path("d/a.txt~"))
    try book.settle(path("d/a.txt"), 3)
    #expect(try book.id(path("other.txt")) == id && book.id(path("d/a.txt")) != id)
  }

  @Test func aBookmarkFollowsWhatIsSeenToReplaceAndNotAName() throws {
    let book = try Book()
    try book.settle(path("a.txt"), 1)
    let first = try #require(try book.id(path("a.txt")))
    try book.mark(path("a.txt"), 1)
    #expect(try book.marked() == first)
    // `sed -i`: the new file's name is that of any document.
    try book.settle(path("sedXy12aB"), 2)
    let second = try #require(try book.id(path("sedXy12aB")))
    try book.rename(2, path("sedXy12aB"), path("a.txt"), replaced: 1)
    #expect(try book.marked() == second && second != first)
    // While nobody looked another file came there: the asset is taken for the same one, the bookmark is not.
    try book.sight(path("a.txt"), 3, book.stamp())
    #expect(try book.id(path("a.txt")) == second && book.marked() == 0)
  }

  /// A scan may look between a rename and the word of it.
  @Test(arguments: ["sedXy12aB", ".a.txt.tmp"]) func aBookmarkFollowsAlsoWhereAScanCameBetween(name: String) throws {
    let book = try Book()
    try book.settle(path("a.txt"), 1)
    try book.mark(path("a.txt"), 1)
    for inode: UInt64 in 2...3 {
      try book.settle(path(name), inode)
      let stamp = try book.catalog.asset(of: book.file(inode))?.stamp ?? book.stamp()
      try book.sight(path("a.txt"), inode, stamp, among: [path("a.txt"): inode])
      try book.rename(inode, path(name), path("a.txt"), replaced: inode - 1)
      let id = try #require(try book.id(path("a.txt")))
      #expect(try book.marked() == id)
      #expect(try book.paths() == ["a.txt"])
      #expect(try book.catalog.asset(of: book.file(inode - 1)) == nil)
    }
  }

  /// close(2) does not wait until the end of the stream is told, rename(2) does.
  @Test func aBookmarkFollowsARenameThatIsToldBeforeTheEndOfItsStream() throws {
    let book = try Book()
    try book.settle(path("a.txt"), 1)
    try book.mark(path("a.txt"), 1)
    for inode: UInt64 in 2...3 {
      let effects = try book.rename(inode, path("sedXy12aB"), path("a.txt"), replaced: inode - 1)
      #expect(effects.looks == [path("a.txt")] && effects.replaced == [book.file(inode - 1)])
      let stamp = book.stamp()
      try book.sight(path("a.txt"), inode, stamp, replaced: inode - 1, among: [path("a.txt"): inode])
      try book.settle(path("a.txt"), inode, stamp)
      let id = try #require(try book.id(path("a.txt")))
      #expect(try book.marked() == id)
    }
    // What nobody saw come is still another document.
    try book.sight(path("a.txt"), 4, book.stamp(), among: [path("a.txt"): 4])
    #expect(try book.marked() == 0)
  }

  // MARK: - What a scan finds

  @Test func movedWhileNobodyLooked() throws {
    let book = try Book()
    let stamp = book.stamp()
    try book.settle(path("a.mp4"), 1, stamp)
    let id = try book.id(path("a.mp4"))
    // A rename changes the change time; that alone is no new content.
    let moved = ContentStamp(size: stamp.size, modified: stamp.modified, changed: book.stamp().changed)
    let effects = try book.sight(path("d/b.mp4"), 1, moved)
    #expect(effects.versions.isEmpty)
    #expect(try book.paths() == ["d/b.mp4"])
    #expect(try book.id(path("d/b.mp4")) == id)
  }

  @Test func changedWhileNobodyLookedEvenWithTheSameSizeAndTime() throws {
    let book = try Book()
    let stamp = book.stamp()
    try book.settle(path("a.mp4"), 1, stamp)
    let changed = ContentStamp(size: stamp.size, modified: stamp.modified, changed: book.stamp().changed)
    #expect(try book.sight(path("a.mp4"), 1, changed).versions.first?.version == 2)
  }

  @Test func restoredFromABackup() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try book.id(path("a.mp4"))
    try book.sight(path("a.mp4"), 9, book.stamp())
    #expect(try book.id(path("a.mp4")) == id)
  }

  @Test func namesExchangedWhileNobodyLooked() throws {
    let book = try Book()
    let (one, two) = (book.stamp(), book.stamp())
    try book.settle(path("a.mp4"), 1, one)
    try book.settle(path("b.mp4"), 2, two)
    let (a, b) = (try book.id(path("a.mp4")), try book.id(path("b.mp4")))
    let present = [path("a.mp4"): UInt64(2), path("b.mp4"): UInt64(1)]
    try book.sight(path("a.mp4"), 2, two, among: present)
    try book.sight(path("b.mp4"), 1, one, among: present)
    let effects = try book.act { catalog, effects throws(CatalogError) in try catalog.removePlaceless(&effects) }
    #expect(effects.removed.isEmpty)
    #expect(try book.id(path("a.mp4")) == b)
    #expect(try book.id(path("b.mp4")) == a)
  }

  @Test func aRemountedVolumeUnderAnotherNumberIsTheSame() throws {
    let book = try Book()
    let stamp = book.stamp()
    var ids: [Int64?] = []
    for volume: UInt64 in [40, 41] {
      try book.act { catalog, effects throws(CatalogError) in
        try catalog.sight(
          Document(file: book.file(1, volume: volume), path: path("usb/a.mp4")), stamp, look: { _ in .absent }, &effects
        )
      }
      ids.append(try book.id(path("usb/a.mp4")))
    }
    #expect(ids[0] == ids[1])
    #expect(try book.catalog.asset(at: path("usb/a.mp4"))?.version == 1)
  }

  @Test func anOldNameThatCannotBeLookedAtIsKept() throws {
    let book = try Book()
    let stamp = book.stamp()
    try book.settle(path("locked/a.mp4"), 1, stamp)
    try book.act { catalog, effects throws(CatalogError) in
      try catalog.sight(
        Document(file: book.file(1), path: path("b.mp4")), stamp, look: { _ in .unknown }, &effects)
    }
    #expect(try book.paths() == ["b.mp4", "locked/a.mp4"])
  }
}
