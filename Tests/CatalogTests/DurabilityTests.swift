import Catalog
import Contracts
import Posix
import Testing

@Suite struct DurabilityTests {
  @Test func pendingAndVerdictsSurviveReopening() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    try book.settle(path("b.mp4"), 2)
    let (a, b) = (try #require(try book.id(path("a.mp4"))), try #require(try book.id(path("b.mp4"))))
    var facts = Facts()
    facts.type = MediaType(kind: .video, identifier: "public.mpeg-4", mime: "video/mp4")
    facts.duration = 1.5
    facts.width = 640
    facts.height = 360
    facts.rotation = 90
    facts.hasAudio = false
    facts.taken = "2024-01-02T03:04:05Z"
    try book.catalog.finish(
      a, verdict: .incomplete, reason: "It ends early.", facts: facts, placeholder: nil, pictureSize: 321)
    try book.catalog.begin(b)
    try book.reopen()
    #expect(try book.catalog.pending().map(\.asset) == [b])
    #expect(try book.catalog.asset(id: b)?.attempts == 1)
    let asset = try #require(try book.catalog.asset(id: a))
    #expect(asset.facts == facts)
    #expect(asset.verdict == .incomplete)
    #expect(asset.reason == "It ends early.")
    #expect(asset.picture == Picture(asset: a, version: 1, placeholder: nil, size: 321))
    // The picture stays while the next version is pending.
    try book.settle(path("a.mp4"), 1)
    let next = try #require(try book.catalog.asset(id: a))
    #expect(next.picture?.version == 1)
    #expect(next.verdict == nil)
  }

  @Test func crashesAreCounted() throws {
    let book = try Book()
    try book.settle(path("a.mp4"), 1)
    let id = try #require(try book.id(path("a.mp4")))
    #expect(try book.catalog.crashed(id) == 1)
    try book.reopen()
    #expect(try book.catalog.crashed(id) == 2)
    try book.settle(path("a.mp4"), 1)
    #expect(try book.catalog.asset(id: id)?.crashes == 0)
  }

  @Test func aNewerCatalogIsRefusedInOneSentence() throws {
    let folder = try Folder()
    _ = try Catalog(folder: folder.path) { _ in }
    try sqlite(folder, "PRAGMA user_version=99")
    #expect {
      _ = try Catalog(folder: folder.path) { _ in }
    } throws: { error in "\(error)".contains("newer sharefs") }
    #expect(throws: CatalogError.self) { _ = try CatalogReader(folder: folder.path) }
    #expect(try Files.names(in: folder.path).allSatisfy { !"\($0)".contains("damaged") })
  }

  @Test func somebodyElsesDatabaseIsLeftAlone() throws {
    let folder = try Folder()
    try sqlite(folder, "CREATE TABLE t(x); INSERT INTO t VALUES(1)")
    #expect(throws: CatalogError.self) { _ = try Catalog(folder: folder.path) { _ in } }
    #expect(try sqlite(folder, "SELECT x FROM t") == "1\n")
  }

  @Test(arguments: [0, 100, 5000])
  func aDamagedCatalogIsKeptAsideAndBegunAnew(offset: Int) throws {
    let book = try Book()
    for inode in 1...200 { try book.settle(path("\(inode).mp4"), UInt64(inode)) }
    let last = try #require(try book.id(path("200.mp4")))
    try sqlite(book.folder, "PRAGMA wal_checkpoint(TRUNCATE)")
    let file = book.folder.path.appending(Catalog.fileName)
    var bytes = try Files.read(file, limit: 1 << 24)
    for index in offset..<bytes.count { bytes[index] = 0x5a }
    try Files.replace(file, with: bytes)
    do {
      try book.reopen()
    } catch let error as CatalogError {
      // Damage deep inside is met later; then the one who meets it calls this.
      #expect(error.isCorrupt)
      book.catalog = try book.catalog.replaced { book.aside.append($0) }
    }
    if book.aside.isEmpty { book.catalog = try book.catalog.replaced { book.aside.append($0) } }
    #expect(book.aside.count == 1)
    #expect(try Files.read(try #require(book.aside.first), limit: 1 << 24) == bytes)
    try book.settle(path("a.mp4"), 1)
    #expect(try #require(try book.id(path("a.mp4"))) > last)
  }

  @Test func theFolderIsOursAlone() throws {
    let parent = try Folder()
    let folder = parent.path.appending("state/share")
    _ = try Catalog(folder: folder) { _ in }
    #expect(try Files.status(folder).permissions == 0o700)
    #expect(try Files.status(folder.appending(Catalog.fileName)).permissions == 0o600)
  }

  @Test func anUnmountedShareIsRead() throws {
    let book = try Book()
    try book.settle(path("b/2.mp4"), 2)
    try book.settle(path("a.mp4"), 1)
    try book.settle(path("b.mp4"), 3)
    let reader = try #require(try CatalogReader(folder: book.folder.path))
    #expect(try reader.list().map { "\($0.path)" } == ["a.mp4", "b.mp4", "b/2.mp4"])
    #expect(try reader.list(within: path("b")).map { "\($0.path)" } == ["b/2.mp4"])
    #expect(try reader.list(within: path("b.mp4")).map { "\($0.path)" } == ["b.mp4"])
    #expect(try reader.asset(at: path("a.mp4"))?.file == book.file(1))
    #expect(try reader.summary().pending == 3)
    #expect(try reader.summary().assets == 3)
    #expect(try CatalogReader(folder: book.folder.path.appending("none")) == nil)
  }

  /// No commit moves the log into the database; who does that is beside the writer, and the log begins anew.
  @Test func theLogIsMovedBesideTheWriter() throws {
    let book = try Book()
    let file = book.folder.path.appending(Catalog.fileName)
    let before = try Files.status(file).size
    var inode: UInt64 = 0
    while book.catalog.logPages < 3000 {
      inode += 1
      try book.settle(path("\(inode).mp4"), inode)
    }
    #expect(try Files.status(file).size == before)
    try Catalog.checkpoint(folder: book.folder.path)
    #expect(try Files.status(file).size > before)
    try book.settle(path("last.mp4"), inode + 1)
    #expect(book.catalog.logPages < 100)
    let reader = try #require(try CatalogReader(folder: book.folder.path))
    #expect(try reader.list().count == Int(inode) + 1)
  }

  /// A foreign reader that closes the database removes the log where it finds no locks: those of the writer must outlive whatever else
  /// this process does with the database.
  @Test func aForeignReaderLeavesTheLogToTheWriter() throws {
    let book = try Book()
    try book.settle(path("0.mp4"), 1)
    let log = book.folder.path.appending(FileName(Array(Catalog.fileName.bytes) + Array("-wal".utf8)))
    let before = try Files.status(log).inode
    for number in 1...5 {
      try Catalog.checkpoint(folder: book.folder.path)
      _ = try CatalogReader(folder: book.folder.path)
      try sqlite(book.folder, "SELECT count(*) FROM asset")
      try book.settle(path("\(number).mp4"), UInt64(number + 1))
      #expect(try CatalogReader(folder: book.folder.path)?.summary().assets == number + 1)
    }
    #expect(try Files.status(log).inode == before)
  }

  @Test func oneTransactionForThousands() throws {
    let book = try Book()
    var effects: [Effect] = []
    try book.catalog.transaction { () throws(CatalogError) in
      for inode in 1...5000 {
        try book.catalog.settle(
          Document(file: book.file(UInt64(inode)), path: path("\(inode).mp4")), book.stamp(), &effects)
      }
    }
    #expect(effects.versions.count == 5000)
    #expect(try book.catalog.pending().count == 5000)
  }

  @Test func aTransactionThatFailsLeavesNothing() throws {
    let book = try Book()
    #expect(throws: CatalogError.self) {
      try book.act { catalog, effects throws(CatalogError) in
        try catalog.settle(Document(file: book.file(1), path: path("a.mp4")), book.stamp(), &effects)
        throw CatalogError("the disk is full", code: 13)
      }
    }
    #expect(try book.id(path("a.mp4")) == nil)
  }

  @discardableResult
  private func sqlite(_ folder: Folder, _ sql: String) throws -> String {
    try run(["/usr/bin/sqlite3", "\(folder.path.appending(Catalog.fileName))", sql])
  }
}

/// Runs a program to its end.
/// - Returns: what it wrote.
func run(_ arguments: [String]) throws -> String {
  try System.pipe { reading, writing throws(Errno) in
    let child = try Child.spawn(
      FileName(arguments[0]), arguments.map { FileName($0) }, descriptors: [1: writing.raw, 2: 2])
    _ = consume writing
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let got = try unsafe chunk.withUnsafeMutableBufferPointer { chunk throws(Errno) in
        try unsafe reading.read(into: UnsafeMutableRawBufferPointer(chunk))
      }
      if got == 0 { break }
      output += chunk[..<got]
    }
    let ending = try child.wait()
    guard ending == .exited(0) else { throw .invalid }
    return String(decoding: output, as: UTF8.self)
  }
}
