import Foundation
import Testing

/// docs/troubleshooting.md quotes what the program says: whoever looks there for what he has read must find it.
@Suite struct TroubleshootingTests {
  private static let document = "docs/troubleshooting.md"

  /// Fewer letters than these say nothing: they stand in some line or other.
  private static let least = 8

  @Test func everyQuotedMessageIsSaidSomewhere() throws {
    var spoken: [String] = []
    for path in try House.files() where path.hasPrefix("Sources/") || path.hasPrefix("mount-scripts/") {
      for line in try House.lines(path) where line.contains("\"") && !line.drop(while: { $0 == " " }).hasPrefix("//") {
        spoken.append(line.replacingOccurrences(of: "\\\"", with: "\""))
      }
    }
    let messages = try Self.messages()
    #expect(messages.count > 100)
    for (number, message) in messages {
      let parts = Self.parts(message)
      #expect(
        parts.map(\.count).reduce(0, +) >= Self.least && spoken.contains { Self.says($0, parts) },
        "\(Self.document):\(number): nobody says \"\(message)\"")
    }
  }

  /// What stands in the first column of the tables, by line; one cell may hold several.
  private static func messages() throws -> [(Int, String)] {
    var messages: [(Int, String)] = []
    for (number, line) in try House.lines(document).enumerated() where line.hasPrefix("| ") {
      let cell = line.components(separatedBy: " | ")[0].dropFirst(2)
      if cell == "message" { continue }
      for message in String(cell).components(separatedBy: "<br>") { messages.append((number + 1, message)) }
    }
    return messages
  }

  /// What is the same in every case: `...` and `N` stand for what is not.
  private static func parts(_ message: String) -> [String] {
    message.replacingOccurrences(of: " N ", with: " ... ").components(separatedBy: "...").filter {
      !$0.allSatisfy { $0 == " " }
    }
  }

  /// Whether a line of source has these parts, one after another.
  private static func says(_ line: String, _ parts: [String]) -> Bool {
    var rest = line[...]
    for part in parts {
      guard let found = rest.range(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }

  @Test(arguments: [
    (#"throw Failure(.usage, "\(path) is in use, by \(who).")"#, "... is in use, by ...", true),
    (#"throw Failure(.usage, "\(path) is in use, by \(who).")"#, "... is not in use", false),
    (#"throw Failure(.usage, "by \(who) is in use.")"#, "... is in use, by ...", false),
    (#""(the same again, \(state.repeats) times)""#, "(the same again, N times)", true),
  ])
  func messagesAreRecognised(line: String, message: String, isSaid: Bool) {
    #expect(Self.says(line, Self.parts(message)) == isSaid)
  }
}
