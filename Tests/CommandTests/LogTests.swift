import Contracts
import Control
import Posix
import Testing

@testable import sharefs

/// The log takes the standard error output for itself: so in a process of its own.
@Suite struct LogTests {
  @Test func aRepeatedMessageIsFoldedAndErrorsAreKept() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let file = folder.path.appending("log")
      let log = try Log(.file(file), verbose: false)
      log.report(.debug, "left out")
      log.report(.info, "mounted")
      for _ in 0..<1000 { log.report(.error, "The disk is full.") }
      log.report(.warning, "something else")
      let lines = String(decoding: try Files.read(file, limit: 1 << 20), as: UTF8.self).split(separator: "\n")
      precondition(lines.count == 4)
      precondition(lines[0].hasSuffix(" mounted") && lines[1].hasSuffix(" error: The disk is full."))
      precondition(lines[2].hasSuffix("(the same again, 999 times)") && lines[3].hasSuffix("warning: something else"))
      precondition(log.complaints.map(\.text) == ["The disk is full.", "something else"])
    }
  }

  @Test func theFileStaysBelowItsLimitAndTwentyErrorsAreKept() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let file = folder.path.appending("log")
      let log = try Log(.file(file), verbose: false)
      let long = String(repeating: "x", count: 1000)
      for number in 0..<2500 { log.report(.error, "\(number) \(long)") }
      let newest = FileName(Array(file.bytes) + Array(".1".utf8))
      let sizes = (try Files.status(file).size, try Files.status(newest).size)
      precondition(sizes.0 < 1 << 20 && sizes.1 < (1 << 20) + 2000)
      precondition(log.complaints.count == 20 && log.complaints[19].text.hasPrefix("2499 "))
    }
  }
}
