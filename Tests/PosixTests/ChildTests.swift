import Glibc
import Testing

@testable import Posix

@Suite struct ChildTests {
  /// A program gets what it is given, also of what this one was itself started with and did not ask for.
  @Test func inheritsNothing() throws {
    let output = try Descriptor.memory("output")
    // As a shell leaves them: not close-on-exec, one below and one above the number that is asked for. Other tests have theirs open.
    let below = try check { fcntl(output.raw, F_DUPFD, 3) }
    let number = below + 1
    let above = try check { fcntl(output.raw, F_DUPFD, number + 1) }
    defer {
      close(below)
      close(above)
    }
    let child = try Child.spawn(
      FileName("/bin/ls"), ["ls", "/proc/self/fd"].map { FileName($0) },
      descriptors: [1: output.raw, number: output.raw])
    #expect(try child.wait() == .exited(0))
    let numbers = String(decoding: try output.readAll(limit: 4096), as: UTF8.self).split(separator: "\n").map {
      Int($0)!
    }
    // Beside them stands the folder that ls reads, in the lowest place that is free.
    #expect(numbers.sorted() == [0, 1, 2, Int(number) == 3 ? 4 : 3, Int(number)].sorted())
  }
}
