import Control
import FoundationEssentials
import Glibc
import Posix
import Testing

/// What scripts may rely on: the manual names all that `--json` says, and nobody but the share's user and root is answered.
@Suite("Contract", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct ContractTests {
  /// Any JSON, of which only the names matter.
  private struct Names: Decodable {
    var all: Set<String> = []

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      if let box = try? decoder.container(keyedBy: Key.self) {
        for key in box.allKeys {
          all.insert(key.stringValue)
          all.formUnion(try box.decode(Names.self, forKey: key).all)
        }
      } else if var list = try? decoder.unkeyedContainer() {
        while !list.isAtEnd { all.formUnion(try list.decode(Names.self).all) }
      }
    }
  }

  private func names(_ output: String) throws -> Set<String> {
    var all: Set<String> = []
    for line in output.split(separator: "\n") {
      all.formUnion(try JSONDecoder().decode(Names.self, from: Data(line.utf8)).all)
    }
    return all
  }

  /// The manual's part on one verb, and what it says of JSON in general.
  private func manual(_ verb: String) throws -> String {
    let root = try #require(FileName(#filePath).parent?.parent?.parent)
    let text = String(decoding: try Files.read(root.appending("docs/cli.md"), limit: 1 << 20), as: UTF8.self)
    let parts = text.split(separator: "\n## ").map(String.init)
    func part(_ title: String) throws -> String { try #require(parts.first { $0.hasPrefix("\(title)\n") }) }
    return try part("JSON") + part("sharefs \(verb)") + (verb == "list" ? part("sharefs info") : "")
  }

  /// Every verb that has `--json`, on files of every kind, whole and not, under names of all sorts.
  @Test func theManualNamesWhatIsSaid() throws {
    let clip = try Fixtures.clip("red", seconds: 2)
    try onShare(Mode.possible[0]) { share in
      let state = ["--json", "--state", share.state]
      let watch = try share.start(Share.sharefs, ["watch", "--json", "--since", "0", share.folder])
      try share.python(
        """
        data = open("\(clip)", "rb").read()
        open(b"caf\\xe9.mp4", "wb").write(data); open("cut.mp4", "wb").write(data[:len(data) // 2]); open("note.txt", "w").write("hello")
        subprocess.check_call(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=d=1", "-f", "lavfi", "-i", "sine=d=1", "both.mp4"])
        subprocess.check_call(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=d=1", "-frames:v", "1", "a.jpg"])
        os.rename(b"caf\\xe9.mp4", b"caf\\xea.mp4"); open("gone.txt", "w").write("x"); os.unlink("gone.txt")
        """)
      try share.waitUntilIdle()
      let whole = "\(share.folder)/both.mp4"
      func output(_ words: [String]) throws -> String { try share.output(Share.sharefs, words) }
      struct Told: Decodable {
        let token: String?
        let access: String?
      }
      let made = try output(["bookmark", "create"] + state + [whole])
      let token = try #require(try JSONDecoder().decode(Told.self, from: Data(made.utf8)).token)
      try share.shell("mv both.mp4 moved.mp4")
      try share.run("sh", "-c", "echo x > '\(share.base)/in.txt'; head -c 9 /dev/urandom > '\(share.base)/in.mp4'")
      let said: [(verb: String, output: String)] = [
        ("status", try output(["status", "--json", share.folder])),
        ("list", try output(["list"] + state + [share.folder])),
        ("info", try output(["info"] + state + ["\(share.folder)/moved.mp4"])),
        ("wait", try output(["wait"] + state + ["\(share.folder)/moved.mp4", "\(share.folder)/cut.mp4"])),
        (
          "import",
          try output(["import", "--to", share.folder] + state + ["\(share.base)/in.txt", "\(share.base)/in.mp4"])
        ),
        ("bookmark", made), ("bookmark", try output(["bookmark", "resolve"] + state + [token])),
        ("bookmark", try output(["bookmark", "list"] + state + [share.folder])),
        ("bookmark", try output(["bookmark", "start"] + state + [token])),
        ("types", try output(["types", "--json"])), ("watch", try watch.output()),
        (
          "check",
          try share.output(
            "sh",
            [
              "-c",
              "rm '\(share.state)'/cache/0*/*.png; '\(Share.sharefs)' check --json --state '\(share.state)' '\(share.folder)'",
            ])
        ),
      ]
      for (verb, output) in said {
        let text = try manual(verb)
        let names = try names(output)
        #expect(!names.isEmpty, "\(verb) said nothing")
        for name in names {
          let plain = name.hasSuffix("_bytes") ? String(name.dropLast(6)) : name
          #expect(text.contains("`\(plain)`"), "\(verb) says \(name)")
        }
      }
      try watch.end()
    }
  }

  /// Another user gets nothing out of a share's daemon, also where the folder of its socket stands open.
  @Test(.enabled(if: Mode.possible.count == 3, "it needs root"), arguments: [Mode.passthrough, .user])
  func anotherUserIsRefused(mode: Mode) throws {
    try onShare(mode) { share in
      try share.shell("echo x > a.txt")
      try share.waitUntilIdle()
      let token = try share.output(
        Share.sharefs, ["bookmark", "create", "--state", share.state, "\(share.folder)/a.txt"])
      // Somebody who is neither root nor the share's user.
      let other =
        ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent", "XDG_RUNTIME_DIR=\(share.base)/run"]
        + ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
      func call(_ words: [String]) throws -> Int32 { try BackgroundProgram(other + words).wait() }
      for words in [
        ["status", share.folder], ["watch", share.folder], ["rescan", share.folder], ["list", share.folder],
        ["bookmark", "create", "\(share.folder)/a.txt"], ["import", "--to", share.folder, "/etc/hostname"],
        ["umount", share.folder],
      ] {
        #expect(try call([Share.sharefs] + words) == 5, "\(words)")
      }
      #expect(try call([Share.sharefs, "bookmark", "resolve", String(token.dropLast())]) == 14)
      let ask = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
        s.sendall(b'{"op":"stop"}\\n'); print(s.makefile().readline(), end="")
        """
      #expect(try call(["python3", "-c", ask, "\(share.state)/control.sock"]) == 1)
      try share.run("chmod", "-R", "a+rwX", share.state)
      let open = try BackgroundProgram(other + ["python3", "-c", ask, "\(share.state)/control.sock"])
      _ = try open.wait()
      let answer = try open.output()
      #expect(answer.isEmpty || answer.contains("not_allowed"))
      #expect(try share.document("a.txt").state == .settled)
    }
  }
}
