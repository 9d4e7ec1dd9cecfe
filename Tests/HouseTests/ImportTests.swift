import Testing

/// Who may import whom: ARCHITECTURE.md tells why.
@Suite struct ImportTests {
  /// Modules of ours and of the C libraries, by the room that may import them.
  private static let allowed: [String: Set<String>] = [
    "Posix": ["CLinux"],
    "Contracts": ["Posix"],
    "Fuse": ["CFuse", "CLinux", "Posix"],
    "Tree": ["Fuse", "Contracts", "Posix"],
    "Media": ["CLibAV", "CPicture", "Contracts", "Posix"],
    "Catalog": ["CSQLite", "Contracts", "Posix"],
    "Pipeline": ["Catalog", "Contracts", "Posix"],
    "Gallery": ["Catalog", "Contracts", "Posix"],
    "Control": ["Posix", "FoundationEssentials"],
    "sharefs": [
      "Tree", "Fuse", "Pipeline", "Catalog", "Gallery", "Control", "Contracts", "Posix", "FoundationEssentials",
    ],
    "sharefs-worker": ["Media", "Contracts", "Posix", "CLinux"],
  ]

  /// Parts of the toolchain that cost no start time. The C library and Linux's headers are there for their types and constants; calls
  /// are another matter, see below.
  private static let everywhere: Set<String> = ["Glibc", "CLinux", "Synchronization"]

  /// Rooms at the kernel's edge.
  private static let edge: Set<String> = ["Posix", "Fuse", "sharefs-worker"]

  @Test func linuxIsCalledAtTheEdgeOnly() throws {
    // Put together, so that this line is none itself.
    let mark = "clinux" + "_"
    for path in try House.files() where path.hasPrefix("Sources/") && path.hasSuffix(".swift") {
      if Self.edge.contains(String(path.split(separator: "/")[1])) { continue }
      for (number, line) in try House.lines(path).enumerated() where line.contains(mark) {
        Issue.record("\(path):\(number + 1): a call of Linux's own; give it a typed wrapper in Posix")
      }
    }
  }

  @Test func everyImportIsOneThatItsRoomMayHave() throws {
    for path in try House.files() where path.hasPrefix("Sources/") && path.hasSuffix(".swift") {
      let room = String(path.split(separator: "/")[1])
      let allowed = try #require(
        Self.allowed[room], "\(path): the room \(room) is not in the list of who may import whom")
      for (number, line) in try House.lines(path).enumerated() {
        guard let module = Self.imported(line) else { continue }
        #expect(
          allowed.contains(module) || Self.everywhere.contains(module),
          "\(path):\(number + 1): \(room) must not import \(module)")
      }
    }
  }

  /// The module of a line such as `public import struct Posix.Errno`.
  private static func imported(_ line: String) -> String? {
    var words = line.split(separator: " ").map(String.init)[...]
    while let first = words.first,
      ["public", "internal", "package", "private", "fileprivate"].contains(first) || first.hasPrefix("@")
    {
      words.removeFirst()
    }
    guard words.popFirst() == "import" else { return nil }
    if let kind = words.first,
      ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"].contains(kind)
    {
      words.removeFirst()
    }
    return words.first.map { String($0.prefix { $0 != "." }) }
  }

  @Test(arguments: [
    ("import Posix", "Posix"), ("public import Glibc", "Glibc"), ("@testable import sharefs", "sharefs"),
    ("import struct Foundation.Data", "Foundation"), ("// import nothing", nil), ("importance()", nil),
  ])
  func importsAreRecognised(line: String, module: String?) { #expect(Self.imported(line) == module) }
}
