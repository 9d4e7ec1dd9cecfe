import Foundation
import Testing

@Suite struct OrderTests {
  @Test func noFileIsLongerThanAnIdea() throws {
    for path in try House.files() where ["swift", "c", "h", "sh"].contains(path.split(separator: ".").last ?? "") {
      let count = try House.lines(path).count - 1
      #expect(count <= 400, "\(path): \(count) lines; past 400 it is two ideas")
    }
  }

  @Test func nothingNamesTheMachineItWasWrittenOn() throws {
    // Put together here, so that this file does not name them itself.
    let forbidden = ["/" + "work/", "/tmp/" + "wt/", "/home/" + "user/"]
    for path in try House.files() {
      for (number, line) in try House.lines(path).enumerated() {
        for name in forbidden where line.contains(name) { Issue.record("\(path):\(number + 1): it names \(name)") }
      }
    }
  }

  /// `changelog/unreleased/NAME.md`: a first line `Kind: what changed`, an empty line, then why it matters to a user.
  @Test func everyChangelogEntryIsWellFormed() throws {
    let kinds = ["Feature", "Change", "Fix", "Security", "Speed"]
    let entries = try House.files().filter { $0.hasPrefix("changelog/") && !$0.hasSuffix("README.md") }
    #expect(!entries.isEmpty)
    for path in entries {
      #expect(path.hasSuffix(".md"), "\(path): an entry is an .md file")
      let lines = try House.lines(path)
      let kind = lines[0].split(separator: ":").first.map(String.init) ?? ""
      #expect(
        kinds.contains(kind) && lines[0].count > kind.count + 10, "\(path):1: begin with one of \(kinds) and a colon")
      #expect(lines[0].count <= 100, "\(path):1: at most 100 letters")
      #expect(lines.count > 3 && lines[1].isEmpty && !lines[2].isEmpty, "\(path):2: an empty line, then some sentences")
      #expect(lines.last == "", "\(path): it ends with a line's end")
    }
  }

  @Test func scriptsCanBeRun() throws {
    for path in ["mount-scripts/quickstart", "Tests/run", ".ci/run"] {
      #expect(FileManager.default.isExecutableFile(atPath: House.root.appending(path: path).path), "\(path)")
    }
  }
}
