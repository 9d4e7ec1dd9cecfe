import Glibc
import Testing

@testable import Posix

@Suite struct ChildTests {
  /// A program gets what it is given, also of what this one was itself started with and did not ask for.
  @Test func inheritsNothing() throws {
    let output = try Descriptor.memory("output")
    // As a shell leaves them: not close-on-exec, one below and one above the number that is asked for.
    let inherited = [dup2(output.raw, 63), dup2(output.raw, 65), dup2(output.raw, 200)]
    defer { for raw in inherited { close(raw) } }
    let child = try Child.spawn(
      FileName("/bin/ls"), ["ls", "/proc/self/fd"].map { FileName($0) }, descriptors: [1: output.raw, 64: output.raw])
    #expect(try child.wait() == .exited(0))
    // 3 is the folder that ls reads.
    #expect(String(decoding: try output.readAll(limit: 4096), as: UTF8.self) == "0\n1\n2\n3\n64\n")
  }
}
