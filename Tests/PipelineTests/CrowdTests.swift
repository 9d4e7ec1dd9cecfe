import Catalog
import Contracts
import Glibc
import Pipeline
import Posix
import Testing

/// Many documents, many threads, strange names, full disks.
@Suite struct CrowdTests {
  /// Case A13.
  @Test func aFolderRenameMakesNothingAgain() throws {
    let share = try Share()
    var files: [FileID] = []
    for number in 0..<50 { files.append(try share.put(path("dir/\(number).mp4"), "good \(number)")) }
    let held = try share.put(path("dir/held.mp4"), "held")
    for file in files { _ = try share.ready(file) }
    try eventually("all jobs") { share.jobs().count == 51 }
    let ids = try (0..<50).map { try share.asset(path("dir/\($0).mp4")).id }
    let pictures = try files.map { try share.ready($0) }
    try share.move(path("dir"), path("dir2"))
    try share.move(path("dir2/0.mp4"), path("elsewhere/0.mp4"))
    for (file, picture) in zip(files, pictures) { #expect(share.picture(file) == .ready(picture)) }
    try share.go()
    _ = try share.ready(held)
    try share.idle()
    #expect(try (1..<50).map { try share.asset(path("dir2/\($0).mp4")).id } == Array(ids.dropFirst()))
    #expect(try share.asset(path("elsewhere/0.mp4")).id == ids[0])
    #expect(share.jobs().count == 51)
    try share.restart()
    try share.idle()
    #expect(share.jobs().count == 51)
    for (file, picture) in zip(files, pictures) { #expect(share.picture(file) == .ready(picture)) }
  }

  /// Case A17.
  @Test func manyWritersWhileAForeignReaderLoops() throws {
    let share = try Share()
    let database = share.state.appending(Catalog.fileName)
    let foreign = Flag()
    let reader = Thread("test-dump") {
      while !foreign.isSet {
        if (try? dump(database)) != nil { foreign.count() }
      }
    }
    // Also when something fails: it would go on for ever.
    defer { foreign.set() }
    let taker = Taker(share)
    let threads = (0..<8).map { part in
      Thread("test-copy") { for number in 0..<250 { taker.put("d\(part)/\(number).mp4", "good \(part) \(number)") } }
    }
    for thread in threads { thread.join() }
    try eventually("all of them", within: 300) { share.pipeline.status().summary?.verdicts[.ready] == 2000 }
    foreign.set()
    reader.join()
    try share.idle()
    #expect(taker.failures == 0)
    #expect(foreign.counted > 0)
    #expect(share.recorder.texts == [])
    let kinds = Dictionary(grouping: share.happened, by: \.kind).mapValues(\.count)
    #expect(kinds[.closed] == 2000 && kinds[.ready] == 2000 && kinds[.thumbnail] == 2000)
    #expect(share.happened.map(\.number) == (1...UInt64(share.happened.count)).map { $0 })
    #expect(Set(share.recorder.pictures.map(\.path)).count == 2000 && share.recorder.pictures.count == 2000)
  }

  /// Case A22.
  @Test func namesOfAnyBytes() throws {
    let share = try Share()
    let names: [[UInt8]] = [
      Array("caf".utf8) + [0xe9] + Array(".mp4".utf8), [0xff, 0xfe] + Array(".mp4".utf8), Array("a\r".utf8),
      Array("new\nline.mp4".utf8), [UInt8](repeating: 0xfc, count: 251) + Array(".mp4".utf8), Array("é.mp4".utf8),
      [0x65, 0xcc, 0x81] + Array(".mp4".utf8), Array("'; DROP TABLE asset; --.mp4".utf8), Array("100%d.mp4".utf8),
    ]
    let folder = try #require(SharePath([0x4e, 0x6f, 0xeb, 0x6c]))
    var files: [FileID] = []
    for name in names { files.append(try share.put(folder.appending(FileName(name)), "good")) }
    for file in files { #expect(try share.ready(file).placeholder == nil) }
    try share.idle()
    #expect(Set(try share.reader().list().map(\.path)) == Set(names.map { folder.appending(FileName($0)) }))
    #expect(Set(share.recorder.pictures.map(\.path)).count == names.count)
    share.stop()
    try Files.rename(share.real(folder), to: share.real(path("plain")))
    try share.start()
    try share.idle()
    #expect(Set(try share.reader().list().map(\.path)) == Set(names.map { path("plain").appending(FileName($0)) }))
    #expect(share.jobs().count == names.count)
  }

  @Test func aFullCacheDiskKeepsDocumentsPending() throws {
    guard geteuid() == 0 else { return }
    let share = try Share(starting: false)
    let disk = share.folder.path.appending("disk")
    try Files.makeFolder(disk)
    guard (try? run(["/bin/mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", "\(disk)"])) != nil else {
      // A container without the right to mount: said here, so that nobody takes it for tested.
      print("skipped: no tmpfs can be mounted here")
      return
    }
    defer { _ = try? run(["/bin/umount", "-l", "\(disk)"]) }
    share.cache = disk.appending("cache")
    try share.start()
    let first = try share.put(path("first.mp4"), "good")
    _ = try share.ready(first)
    let filler = disk.appending("filler")
    let file = try Descriptor.createFile(filler)
    #expect(throws: Errno.noSpace) { while true { try file.write([UInt8](repeating: 1, count: 4096)) } }
    var files: [FileID] = []
    for number in 0..<4 { files.append(try share.put(path("\(number).mp4"), "good")) }
    try eventually("the report") { share.recorder.texts.contains { $0.contains("cannot be stored") } }
    try eventually("all four") { share.pipeline.status().summary?.pending == 4 }
    #expect(share.picture(files[0]) == .making(previous: nil))
    try Files.remove(filler)
    _ = consume file
    for file in files { _ = try share.ready(file) }
    try share.idle()
    // Once for each worker at most: the other may tell of a failure from before the first success.
    #expect(share.recorder.texts.filter { $0.contains("cannot be stored") }.count <= 2)
    #expect(share.recorder.texts.last { $0.contains(" be stored ") }?.contains("can be stored again") == true)
    share.stop()
  }

  @Test func aFullCatalogDiskLosesNothing() throws {
    guard geteuid() == 0 else { return }
    let share = try Share(starting: false)
    guard (try? Files.makeFolder(share.state)) != nil,
      (try? run(["/bin/mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", "\(share.state)"])) != nil
    else {
      print("skipped: no tmpfs can be mounted here")
      return
    }
    defer { _ = try? run(["/bin/umount", "-l", "\(share.state)"]) }
    try share.start()
    let filler = share.state.appending("filler")
    let file = try Descriptor.createFile(filler)
    #expect(throws: Errno.noSpace) { while true { try file.write([UInt8](repeating: 1, count: 4096)) } }
    var files: [FileID] = []
    for number in 0..<100 { files.append(try share.put(path("\(number).mp4"), "good")) }
    try eventually("the report") { share.recorder.texts.contains { $0.contains("cannot be written") } }
    #expect(share.picture(files[99]) == .making(previous: nil))
    try Files.remove(filler)
    _ = consume file
    for file in files { _ = try share.ready(file) }
    #expect(share.recorder.texts.contains { $0.contains("can be written again") })
    share.stop()
  }

  @Test func aCatalogDamagedWhileMountedIsBuiltAnew() throws {
    let share = try Share()
    for number in 0..<300 { try share.put(path("\(number).mp4"), "good") }
    try share.idle()
    share.stop()
    let file = share.state.appending(Catalog.fileName)
    var bytes = try Files.read(file, limit: 1 << 24)
    // The header and the first pages stay, so it is met only while it is used.
    for index in 20480..<bytes.count { bytes[index] = 0x5a }
    try Files.replace(file, with: bytes)
    try share.start(scanned: false)
    try eventually("all again", within: 60) {
      let summary = share.pipeline.status().summary
      return summary?.verdicts[.ready] == 300 && summary?.pending == 0
    }
    #expect(try Files.names(in: share.state).contains { "\($0)".contains("damaged") })
    #expect(share.recorder.texts.contains { $0.contains("damaged") })
  }

  /// For threads: what the share does, with its failures counted.
  final class Taker: @unchecked Sendable {
    // Sound since `put` uses nothing of the share that changes after its start.
    private let share: Share
    private let failed = Guarded(0)
    init(_ share: Share) { self.share = share }
    func put(_ name: String, _ content: String) {
      do { try share.put(path(name), content) } catch { failed.withLock { $0 += 1 } }
    }
    var failures: Int { failed.withLock { $0 } }
  }

  final class Flag: Sendable {
    private let state = Guarded((isSet: false, count: 0))
    func set() { state.withLock { $0.isSet = true } }
    func count() { state.withLock { $0.count += 1 } }
    var isSet: Bool { state.withLock { $0.isSet } }
    var counted: Int { state.withLock { $0.count } }
  }
}

/// What a foreign program reads; throws when it is locked out.
private func dump(_ database: FileName) throws {
  _ = try run(["/usr/bin/sqlite3", "\(database)", ".dump"])
}

/// Runs a program to its end.
/// - Returns: what it wrote.
@discardableResult
func run(_ arguments: [String]) throws -> String {
  try System.pipe { reading, writing throws(Errno) in
    let child = try Child.spawn(
      FileName(arguments[0]), arguments.map { FileName($0) }, descriptors: [1: writing.raw, 2: 2])
    _ = consume writing
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
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
