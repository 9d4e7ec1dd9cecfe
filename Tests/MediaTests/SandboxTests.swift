import Glibc
import Posix
import Testing

@testable import sharefs_worker

/// Each in a process of its own, which is never seen again.
@Suite struct SandboxTests {
  @Test func nothingCanBeOpenedByName() async {
    await #expect(processExitsWith: .exitCode(EACCES)) { _exit(try inside { unsafe open("/etc/passwd", O_RDONLY) }) }
  }

  @Test func noSocketCanBeMade() async {
    await #expect(processExitsWith: .exitCode(EACCES)) {
      _exit(try inside { socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) })
    }
  }

  @Test func noProgramCanBeRun() async {
    await #expect(processExitsWith: .exitCode(EACCES)) { _exit(try inside(runProgram)) }
  }

  @Test func noOtherProcessCanBeSignalled() async {
    await #expect(processExitsWith: .exitCode(EACCES)) {
      let parent = getppid()
      _exit(try inside { kill(parent, 0) })
    }
  }

  @Test func noMemoryCanBeMadeExecutable() async {
    await #expect(processExitsWith: .exitCode(EACCES)) { _exit(try inside { map(4096, PROT_READ | PROT_EXEC) }) }
  }

  @Test func memoryIsLimited() async {
    await #expect(processExitsWith: .exitCode(ENOMEM)) { _exit(try inside { map(2 << 30, PROT_READ) }) }
  }

  @Test func filesCannotGrowWithoutEnd() async {
    await #expect(processExitsWith: .exitCode(EFBIG)) {
      let file = try Descriptor.memory("large").release()
      _exit(try inside { writeByte(file, 64 << 20) })
    }
  }

  /// What no library of ours asks for ends the process.
  @Test func otherCallsAreTheLastOnes() async {
    await #expect(processExitsWith: .signal(SIGSYS)) { _exit(try inside { CInt(umask(0)) }) }
  }

  @Test func noOtherProcessCanBeLookedInto() async {
    await #expect(processExitsWith: .signal(SIGSYS)) { _exit(try inside(readOtherProcess)) }
    await #expect(processExitsWith: .signal(SIGSYS)) { _exit(try inside(try tracing(parent: getppid()))) }
    await #expect(processExitsWith: .signal(SIGSYS)) {
      becomeUser()
      _exit(try inside(readOtherProcess))
    }
    await #expect(processExitsWith: .signal(SIGSYS)) {
      becomeUser()
      _exit(try inside(try tracing(parent: getppid())))
    }
  }

  /// Whatever is allocated: what is written to counts, and is refused before the machine suffers.
  @Test func memoryCannotBeEaten() async {
    await #expect(processExitsWith: .exitCode(ENOMEM)) {
      _exit(try inside(eat))
    }
  }

  /// The document comes for reading, and stays so.
  @Test func theDocumentCannotBeChanged() async {
    await #expect(processExitsWith: .exitCode(EBADF)) {
      let file = try Descriptor.open("/proc/self/exe", O_RDONLY).release()
      _exit(try inside { writeByte(file, 0) })
    }
  }

  @Test func anOrdinaryUsersWorkerStandsBehindTheSameWalls() async {
    await #expect(processExitsWith: .exitCode(0)) {
      becomeUser()
      _exit(try firstBreach())
    }
  }

  /// What is needed goes on: without this, all the others would pass where everything is refused.
  @Test func givenFilesCanBeReadAndWritten() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let file = try Descriptor.memory("small").release()
      _exit(try inside { writeByte(file, 1000) })
    }
  }
}

/// - Returns: 0 when the call was answered, or its error number.
private func inside(_ call: () -> CInt) throws -> CInt {
  _ = try Sandbox.enter()
  return call() < 0 ? errno : 0
}

private func becomeUser() {
  guard geteuid() != 0 || (setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0) else { _exit(99) }
}

/// ptrace, which Swift does not see, as its number of arguments may vary: looked up by its name.
private func tracing(parent: pid_t) throws -> () -> CInt {
  typealias Trace = @convention(c) (CInt, pid_t, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CLong
  let symbol = try unsafe #require(unsafe dlsym(nil, "ptrace"))
  let trace = unsafe unsafeBitCast(symbol, to: Trace.self)
  let attach: CInt = 16
  return { CInt(truncatingIfNeeded: trace(attach, parent, nil, nil)) }
}

private func readOtherProcess() -> CInt {
  CInt(truncatingIfNeeded: process_vm_readv(getppid(), nil, 0, nil, 0, 0))
}

private func eat() -> CInt {
  for _ in 0..<1024 {
    guard let part = unsafe malloc(1 << 20) else { return -1 }
    unsafe memset(part, 1, 1 << 20)
  }
  return 0
}

/// - Returns: the number of the first wall that does not stand as it should, from one on; else 0.
private func firstBreach() throws -> CInt {
  let large = try Descriptor.memory("large").release()
  let parent = getppid()
  _ = try Sandbox.enter()
  let walls: [(CInt, () -> CInt)] = [
    (EACCES, { unsafe open("/etc/passwd", O_RDONLY) }), (EACCES, { unsafe open("/tmp/x", O_WRONLY | O_CREAT, 0o600) }),
    (EACCES, { socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0) }), (EACCES, runProgram), (EACCES, { kill(parent, 0) }),
    (EACCES, { map(4096, PROT_READ | PROT_EXEC) }), (ENOMEM, { map(2 << 30, PROT_READ) }),
    (EFBIG, { writeByte(large, 64 << 20) }),
  ]
  for (number, wall) in walls.enumerated() where wall.1() >= 0 || errno != wall.0 { return CInt(number + 1) }
  return 0
}

private func runProgram() -> CInt {
  var nothing: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
  return unsafe execve("/bin/true", &nothing, &nothing)
}

private func map(_ length: Int, _ protection: CInt) -> CInt {
  unsafe mmap(nil, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0
}

private func writeByte(_ file: CInt, _ place: off_t) -> CInt {
  var byte: UInt8 = 1
  return unsafe CInt(pwrite(file, &byte, 1, place))
}
