import CLinux
import Glibc
import Posix

/// Times filesystem operations in a folder and prints a line for each: its name, and how many a second. A line `drop` asks for dropped caches,
/// and for a line when that is done.
///
///     filesystem-operations FOLDER data|files MEGABYTES|FILES
///
/// `Benchmarks/filesystem` runs it on several filesystems in turn.
@main struct Operations {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let size = Int(arguments[3]), size > 0 else {
      print("filesystem-operations FOLDER data|files MEGABYTES|FILES")
      exit(2)
    }
    guard unsafe chdir(arguments[1]) == 0 else { throw Errno.last }
    switch arguments[2] {
    case "data": try data(megabytes: size)
    default: try files(count: size)
    }
  }

  /// Runs once and tells the rate.
  private static func rate(_ name: String, _ count: Int, _ body: () throws(Errno) -> Void) throws(Errno) {
    let start = Clock.now()
    try body()
    print(name, Double(count) * 1e9 / Double(Clock.now() - start))
  }

  // MARK: - Data

  private static func data(megabytes: Int) throws(Errno) {
    let size = megabytes << 20
    let large = [UInt8](repeating: 0x5a, count: 1 << 20)
    let small = [UInt8](repeating: 0xa5, count: 4096)
    let name = FileName("large")
    try rate("write_1m_fsync", megabytes) { () throws(Errno) in
      let file = try Descriptor.open(name, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
      for _ in 0..<megabytes { try file.write(large) }
      try file.synchronize()
    }
    try rate("write_4k", size >> 13) { () throws(Errno) in
      let file = try Descriptor.open(name, O_WRONLY)
      for _ in 0..<(size >> 13) { try file.write(small) }
    }
    let file = try Descriptor.open(name, O_RDWR)
    try file.synchronize()
    dropCaches()
    try rate("read_1m_cold", megabytes) { () throws(Errno) in try read(file, large.count, megabytes) }
    try rate("read_1m_warm", megabytes * 2) { () throws(Errno) in
      for _ in 0..<2 { try read(file, large.count, megabytes) }
    }
    let places = offsets(50_000, below: size)
    var room = small
    let raw = file.raw
    try rate("read_4k_random", places.count) { () throws(Errno) in
      for place in places {
        guard unsafe pread(raw, &room, room.count, off_t(place)) == room.count else { throw Errno.last }
      }
    }
    try rate("write_4k_random", places.count) { () throws(Errno) in
      for place in places {
        guard unsafe pwrite(raw, small, small.count, off_t(place)) == small.count else { throw Errno.last }
      }
    }
    try Files.remove(name)
  }

  private static func read(_ file: borrowing Descriptor, _ size: Int, _ count: Int) throws(Errno) {
    var room = [UInt8](repeating: 0, count: size)
    let raw = file.raw
    for index in 0..<count {
      let got = unsafe pread(raw, &room, size, off_t(index * size))
      guard got == size else { throw got < 0 ? Errno.last : .io }
    }
  }

  /// The same on every filesystem.
  private static func offsets(_ count: Int, below size: Int) -> [Int] {
    var state: UInt64 = 0x9e37_79b9_7f4a_7c15
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % (size >> 12) << 12
    }
  }

  // MARK: - Names

  private static func files(count: Int) throws(Errno) {
    let names = (0..<count).map { FileName("file\($0).txt") }
    try Files.makeFolders(FileName("folder"), mode: 0o755)
    guard unsafe chdir("folder") == 0 else { throw Errno.last }
    let text = [UInt8]("hello\n".utf8)
    try rate("create", count) { () throws(Errno) in
      for name in names { try Descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644).write(text) }
    }
    try rate("open", count) { () throws(Errno) in for name in names { _ = try Descriptor.open(name, O_RDONLY) } }
    try list()
    try rate("list_warm", count) { () throws(Errno) in try list() }
    dropCaches()
    try rate("stat_cold", count) { () throws(Errno) in for name in names { _ = try Files.status(name) } }
    try rate("rename", count) { () throws(Errno) in for name in names { try Files.rename(name, to: renamed(name)) } }
    try rate("unlink", count) { () throws(Errno) in for name in names { try Files.remove(renamed(name)) } }
    var status = statvfs()
    try rate("round_trip", 5000) { () throws(Errno) in for _ in 0..<5000 { unsafe statvfs(".", &status) } }
  }

  private static func renamed(_ name: FileName) -> FileName { FileName(Array("x".utf8) + name.bytes) }

  /// As `ls -l`.
  private static func list() throws(Errno) {
    let folder = try Descriptor.open(".", O_RDONLY | O_DIRECTORY)
    let raw = folder.raw
    var listing = Directory(folder)
    while let line = try listing.next() { _ = try FileStatus.of(line.name, in: raw) }
  }

  /// Whoever started us may be allowed to, and answers with a line.
  private static func dropCaches() {
    print("drop")
    fflush(nil)
    _ = readLine()
  }
}
