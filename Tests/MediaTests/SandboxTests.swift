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
