public import CLinux
import Glibc

/// Another process, held by a descriptor so that its number cannot come to mean somebody else.
public struct ProcessHandle: ~Copyable, Sendable {
  private let descriptor: Descriptor
  public let process: pid_t

  /// - Returns: ESRCH when it has gone.
  public init(_ process: pid_t) throws(Errno) {
    descriptor = Descriptor(owning: try check { clinux_open_process(process) })
    self.process = process
  }

  /// Waits for its end.
  /// - Returns: false when the time came first.
  public func waitForEnd(until deadline: Clock.Instant) throws(Errno) -> Bool {
    var all = [Awaited(descriptor.raw)]
    return try Awaited.wait(&all, until: deadline)
  }
}

/// What /proc shows of the processes that we may look into.
public enum ProcessTable {
  public static var own: pid_t { getpid() }

  public static func all() throws(Errno) -> [pid_t] {
    try Files.names(in: FileName("/proc")).compactMap { $0.text.flatMap { pid_t($0) } }
  }

  public static func name(of process: pid_t) -> String? {
    guard var bytes = try? Files.readStream(FileName("/proc/\(process)/comm"), limit: 4096) else { return nil }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return escaped(bytes)
  }

  /// The words that a process was started with; empty when it has gone.
  public static func words(of process: pid_t) -> [FileName] {
    var bytes = (try? Files.readStream(FileName("/proc/\(process)/cmdline"), limit: 1 << 20)) ?? []
    if bytes.last == 0 { bytes.removeLast() }
    return bytes.split(separator: 0, omittingEmptySubsequences: false).map { FileName($0) }
  }

  /// Something that a process holds: an open file, its working folder, its root, its program, a mapping.
  public struct Held: Sendable {
    public let path: FileName
    /// The id of the mount through which it was reached, as in /proc/self/mountinfo. It tells a file of a mount from the one below it, which has the same path.
    /// Nil for a mapping.
    public let mount: Int?
    /// The file system of a mapping, as in the third field of mountinfo.
    public let device: String?

    /// - Parameters:
    ///   - mount: a mount's id.
    ///   - device: that mount's file system, such as `0:45`.
    public func isIn(mount: Int, device: String) -> Bool { self.mount == mount || self.device == device }
  }

  /// Everything that a process holds, without a question to the file systems that it lies in. What we may not see is left out.
  public static func held(by process: pid_t) -> [Held] {
    let base = FileName("/proc/\(process)")
    var all: [Held] = []
    for name in ["cwd", "root", "exe"].map({ base.appending($0) }) {
      // O_PATH through the link of /proc: no one looks the path up, and a dead or stopped file system is not asked.
      guard let path = try? Files.target(name), let place = try? Descriptor.open(name, O_PATH) else { continue }
      all.append(Held(path: path, mount: mount(FileName("/proc/self/fdinfo/\(place.raw)")), device: nil))
    }
    let folder = base.appending("fd")
    for name in (try? Files.names(in: folder)) ?? [] {
      guard let path = try? Files.target(folder.appending(name)) else { continue }
      all.append(Held(path: path, mount: mount(base.appending("fdinfo").appending(name)), device: nil))
    }
    let maps = (try? Files.readStream(base.appending("maps"), limit: 64 << 20)) ?? []
    for line in maps.split(separator: UInt8(ascii: "\n")) {
      // address, permissions, offset, device, inode, path
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count == 6, let slash = fields[5].firstIndex(of: UInt8(ascii: "/")) else { continue }
      let numbers = fields[3].split(separator: UInt8(ascii: ":")).compactMap {
        Int(String(decoding: $0, as: UTF8.self), radix: 16)
      }
      guard numbers.count == 2 else { continue }
      all.append(Held(path: FileName(fields[5][slash...]), mount: nil, device: "\(numbers[0]):\(numbers[1])"))
    }
    return all
  }

  /// The `mnt_id` of a descriptor's page in /proc.
  private static func mount(_ page: FileName) -> Int? {
    let text = (try? Files.readStream(page, limit: 1 << 16)) ?? []
    let line = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "mnt_id:".utf8) }
    return line.flatMap { Int(String(decoding: $0.dropFirst(7).drop { $0 <= 0x20 }, as: UTF8.self)) }
  }
}
