import Posix
import Testing

@testable import sharefs

/// The help texts are part of the contract: a change of one shows in the change of its snapshot. `UPDATE_SNAPSHOTS=1` writes them anew.
@Suite struct HelpTests {
  private func compare(_ text: String, _ name: String) throws {
    let folder = try #require(FileName(#filePath).parent).appending("Snapshots")
    let file = folder.appending("\(name).txt")
    if System.environment("UPDATE_SNAPSHOTS") != nil { try Files.replace(file, with: Array(text.utf8), mode: 0o644) }
    let kept = String(decoding: try Files.read(file, limit: 1 << 20), as: UTF8.self)
    if text == kept { return }
    let difference = kept.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let now = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var lines: [String] = []
    for change in now.difference(from: difference) {
      switch change {
      case .remove(let offset, let line, _): lines.append("-\(offset + 1): \(line)")
      case .insert(let offset, let line, _): lines.append("+\(offset + 1): \(line)")
      }
    }
    Issue.record(
      "\(name).txt differs; UPDATE_SNAPSHOTS=1 swift test --filter HelpTests writes it anew\n\(lines.joined(separator: "\n"))"
    )
  }

  @Test func ofTheCommand() throws { try compare(Help.all, "sharefs") }

  @Test(arguments: Verb.allCases) func ofAVerb(verb: Verb) throws {
    try compare(Help.of(verb), "sharefs-\(verb.rawValue)")
  }

  @Test(arguments: Verb.allCases) func everyVerbTellsItsExitCodes(verb: Verb) {
    let help = Help.of(verb)
    #expect(verb.exitCodes.first == .done && verb.exitCodes.contains(.usage))
    for code in verb.exitCodes { #expect(help.contains("\n  \(code.rawValue)")) }
    #expect(Help.all.contains("  \(verb.rawValue) "))
  }

  @Test func theCommandTellsAllExitCodes() {
    for code in ExitCode.allCases { #expect(Help.all.contains("\n  \(code.rawValue)")) }
  }

  @Test(arguments: Verb.allCases) func everyVerbIsDocumented(verb: Verb) throws {
    let tests = try #require(FileName(#filePath).parent?.parent?.parent)
    let manual = String(decoding: try Files.read(tests.appending("docs/cli.md"), limit: 1 << 20), as: UTF8.self)
    #expect(manual.contains("\n## sharefs \(verb.rawValue)\n"))
    for option in verb.options where !option.summary.isEmpty { #expect(manual.contains("--\(option.long)")) }
  }

  @Test func everyMountOptionIsDocumented() throws {
    let root = try #require(FileName(#filePath).parent?.parent?.parent)
    let manual = String(decoding: try Files.read(root.appending("docs/cli.md"), limit: 1 << 20), as: UTF8.self)
    for option in MountOptions.known where !option.name.contains(",") { #expect(manual.contains("`\(option.name)")) }
  }

  @Test func linesFitATerminal() {
    for verb in Verb.allCases {
      for line in Help.of(verb).split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
    }
  }
}
