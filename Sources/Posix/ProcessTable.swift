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

  /// Every path that a process holds: open files, working folder, root, program, mappings. What we may not see is left out.
  public static func held(by process: pid_t) -> [FileName] {
    let base = FileName("/proc/\(process)")
    var paths = ["cwd", "root", "exe"].compactMap { try? Files.target(base.appending($0)) }
    let folder = base.appending("fd")
    for name in (try? Files.names(in: folder)) ?? [] {
      if let path = try? Files.target(folder.appending(name)) { paths.append(path) }
    }
    let maps = (try? Files.readStream(base.appending("maps"), limit: 64 << 20)) ?? []
    for line in maps.split(separator: UInt8(ascii: "\n")) {
      if let slash = line.firstIndex(of: UInt8(ascii: "/")) { paths.append(FileName(line[slash...])) }
    }
    return paths
  }
}
