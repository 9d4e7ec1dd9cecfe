import Glibc
import Posix
import Testing

/// A program that goes on while the test acts, run as the share's user.
final class BackgroundProgram: Sendable {
  private let child: Guarded<Child?>
  private let process: pid_t
  private let out: SharedDescriptor
  private let errors: SharedDescriptor

  init(_ words: [String]) throws {
    out = SharedDescriptor(try Descriptor.memory("output"))
    errors = SharedDescriptor(try Descriptor.memory("errors"))
    let child = try Child.spawn(
      FileName("/usr/bin/env"), words.map { FileName($0) }, descriptors: [1: out.raw, 2: errors.raw],
      folder: FileName("/"))
    process = child.process
    self.child = Guarded(child)
  }

  /// What a failed test leaves behind is ended, and waited for: tests that look at how a program of theirs ends are held up by another that has ended and
  /// is not taken note of.
  deinit {
    guard let child = child.withLock({ $0.take() }) else { return }
    child.kill()
    _ = try? child.wait()
  }

  func output() throws -> String { String(decoding: try out.descriptor.readAll(limit: 1 << 26), as: UTF8.self) }
  func complaints() throws -> String { String(decoding: try errors.descriptor.readAll(limit: 1 << 26), as: UTF8.self) }

  func signal(_ number: CInt) { kill(process, number) }

  /// Whether it has not ended; a zombie has.
  var isRunning: Bool {
    let line = (try? Files.readStream(FileName("/proc/\(process)/stat"), limit: 65536)) ?? []
    let rest = line.lastIndex(of: UInt8(ascii: ")")).map { line[($0 + 1)...] } ?? []
    return rest.dropFirst().first.map { $0 != UInt8(ascii: "Z") } ?? false
  }

  /// Whether a command has found its share and turned to the daemon: it has a socket, and was given none.
  var isConnected: Bool {
    // Until exec(2) is over, those of this process are still open in it; it gets its name a moment after they were closed.
    let name = try? Files.readStream(FileName("/proc/\(process)/comm"), limit: 64)
    guard name == Array("sharefs\n".utf8) else { return false }
    let folder = FileName("/proc/\(process)/fd")
    return ((try? Files.names(in: folder)) ?? []).contains { name in
      (try? Files.target(folder.appending(name)))?.description.hasPrefix("socket:") ?? false
    }
  }

  /// Waits for its end.
  /// - Returns: its exit code, or the signal that killed it, negative.
  func wait() throws -> Int32 {
    try eventually("the program has ended", seconds: 60) { !isRunning }
    guard let child = child.withLock({ $0.take() }) else { return .min }
    switch try child.wait() {
    case .exited(let code): return code
    case .killed(let signal): return -signal
    }
  }

  func end() throws {
    signal(SIGTERM)
    _ = try wait()
  }
}

extension Share {
  /// Begins a program and does not wait for it.
  func start(_ program: String, _ arguments: [String]) throws -> BackgroundProgram {
    try BackgroundProgram(words + [program] + arguments)
  }
}
