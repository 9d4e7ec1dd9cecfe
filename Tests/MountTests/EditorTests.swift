import Control
import FoundationEssentials
import Glibc
import Posix
import Testing

/// What programs do that save a document: its bookmark finds it, whatever way they take.
@Suite("Editors", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct EditorTests {
  private struct Answer: Decodable {
    let path: String?
    let token: String?
    let stale: Bool?
  }

  private static let exchange =
    "python3 -c \"import ctypes; assert ctypes.CDLL(None).renameat2(-100, b'.a.new', -100, b'a.txt', 2) == 0\""

  /// The ways of saving, each as a line for the shell.
  private static let ways = [
    "in place": "echo new > a.txt",
    "vim": "mv a.txt a.txt~ && echo new > a.txt && rm a.txt~",
    "vim itself": "vim.tiny -u NONE -es -c 'set writebackup backupcopy=no' -c 's/.*/new/' -c 'wq' a.txt",
    "Emacs, which keeps its backup": "mv a.txt a.txt~ && echo new > a.txt",
    "sed -i": "sed -i s/.*/new/ a.txt",
    "a hidden file over it": "echo new > .a.txt.tmp && mv .a.txt.tmp a.txt",
    "LibreOffice": "echo new > lu12abc.tmp && mv lu12abc.tmp a.txt",
    "an exchange": "echo new > .a.new && \(exchange) && rm .a.new",
    "an exchange while it is being written": "exec 9> .a.new; \(exchange) && rm .a.new; echo new >&9; exec 9>&-",
    "KDE": "echo new > a.txt.Xy12aB && mv a.txt.Xy12aB a.txt",
  ]

  @Test(arguments: Mode.possible) func aBookmarkSurvivesEverySave(mode: Mode) throws {
    try onShare(mode) { share in
      for (name, way) in Self.ways.sorted(by: { $0.key < $1.key }) {
        if name == "vim itself", try share.run("sh", "-c", "command -v vim.tiny > /dev/null") != 0 { continue }
        try share.shell("rm -f a.txt a.txt~ && echo old > a.txt")
        #expect(try share.sharefs(["wait", "\(share.folder)/a.txt"]) == 0)
        let made = try share.call(
          Share.sharefs, ["bookmark", "create", "--json", "--state", share.state, "\(share.folder)/a.txt"])
        var token = try #require(try JSONDecoder().decode(Answer.self, from: Data(made.output.utf8)).token)
        for round in 1...2 {
          #expect(try share.shell(way) == 0, "\(name)")
          #expect(try share.sharefs(["wait", "\(share.folder)/a.txt"]) == 0)
          let found = try share.call(
            Share.sharefs, ["bookmark", "resolve", "--json", "--state", share.state, token])
          let answer = try? JSONDecoder().decode(Answer.self, from: Data(found.output.utf8))
          #expect(found.code == 0 && answer?.path == "\(share.folder)/a.txt", "\(name), round \(round)")
          #expect(try share.output("cat", ["\(share.folder)/a.txt"]) == "new\n", "\(name)")
          token = answer?.token ?? token
        }
      }
    }
  }

  /// While nobody looks a name is no proof: another file in the document's place is told as that, also when the share has looked again.
  @Test(arguments: Mode.possible) func anotherFileInItsPlaceIsNotIt(mode: Mode) throws {
    try onShare(mode) { share in
      try share.shell("echo one > a.txt && echo two > b.txt")
      #expect(try share.sharefs(["wait", "\(share.folder)/a.txt", "\(share.folder)/b.txt"]) == 0)
      func create(_ name: String) throws -> String {
        let words = ["bookmark", "create", "--state", share.state, "\(share.folder)/\(name)"]
        return try String(share.output(Share.sharefs, words).dropLast())
      }
      func resolve(_ token: String) throws -> Int32 {
        try share.sharefs(["bookmark", "resolve", "--state", share.state, token])
      }
      let (taken, restored) = (try create("a.txt"), try create("b.txt"))
      try share.unmount()
      // The one is another document, the other the same one from a backup.
      try share.shell("rm a.txt && echo another > a.txt && cp b.txt c && rm b.txt && mv c b.txt")
      #expect(try resolve(taken) == 13 && resolve(restored) == 0)
      try share.mount()
      try share.waitUntilIdle()
      #expect(try resolve(taken) == 13 && resolve(restored) == 0)
    }
  }
}
