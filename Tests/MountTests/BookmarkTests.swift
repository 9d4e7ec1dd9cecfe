import Control
import FoundationEssentials
import Glibc
import Posix
import Testing

/// Bookmarks, and accesses by them.
@Suite("Bookmarks", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct BookmarkTests {
  private struct Answer: Decodable {
    let path: String?
    let stale: Bool?
    let token: String?
    let access: String?
  }

  private func ask(_ share: Share, _ words: String...) throws -> (code: Int32, answer: Answer?) {
    let result = try share.call(Share.sharefs, ["bookmark"] + words + ["--json", "--state", share.state])
    return (result.code, try? JSONDecoder().decode(Answer.self, from: Data(result.output.utf8)))
  }

  private func create(_ share: Share, _ path: String, _ options: String...) throws -> String {
    let words = ["bookmark", "create", "--json", "--state", share.state] + options + ["\(share.folder)/\(path)"]
    let output = try share.call(Share.sharefs, words)
    #expect(output.code == 0)
    return try #require(try JSONDecoder().decode(Answer.self, from: Data(output.output.utf8)).token)
  }

  @Test(arguments: Mode.possible) func theyFollowTheirDocuments(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.shell("mkdir d && cp \(clip) d/a.mp4 && echo one > d/note.txt")
      try share.waitUntilIdle()
      var token = try create(share, "d/a.mp4")
      let note = try create(share, "d/note.txt")
      #expect(token.utf8.count == 41)
      func expect(_ path: String, stale: Bool, _ location: SourceLocation = #_sourceLocation) throws {
        let (code, answer) = try ask(share, "resolve", token)
        #expect(code == 0 && answer?.path == "\(share.folder)/\(path)", sourceLocation: location)
        #expect(answer?.stale == stale && (answer?.token != nil) == stale, sourceLocation: location)
        token = answer?.token ?? token
      }
      try expect("d/a.mp4", stale: false)
      try share.shell("mv d/a.mp4 d/b.mp4")
      try expect("d/b.mp4", stale: true)
      try expect("d/b.mp4", stale: false)
      try share.shell("mv d e && mkdir f && mv e/b.mp4 f/")
      try share.waitUntilIdle()
      try expect("f/b.mp4", stale: true)
      // An editor writes beside it and renames over it.
      try share.shell("echo two > e/.note.tmp && mv e/.note.tmp e/note.txt")
      try share.waitUntilIdle()
      #expect(try ask(share, "resolve", note).answer?.path == "\(share.folder)/e/note.txt")
      // While nobody looks: the same inode elsewhere, then the same content in another file.
      try share.unmount()
      try share.shell("mv f/b.mp4 moved.mp4")
      try expect("moved.mp4", stale: true)
      try share.mount()
      try share.waitUntilIdle()
      try expect("moved.mp4", stale: false)
      try share.unmount()
      try share.shell("cp moved.mp4 copy.mp4 && rm moved.mp4")
      try expect("copy.mp4", stale: true)
      try share.mount()
      try share.waitUntilIdle()
      try expect("copy.mp4", stale: false)
      // Only the hash of a token is kept.
      let secret = String(token.prefix(32))
      #expect(try share.run("grep", "-rqa", secret, share.state) == 1)
    }
  }

  /// A folder of many documents gets another name while one is being looked at: same ids, same bookmarks, thumbnails at once, nothing decoded again (immich
  /// 18933).
  @Test(arguments: Mode.possible) func aMovedFolderIsTheSameLibrary(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.shell("mkdir d other && for i in $(seq 50); do cp \(clip) d/$i.mp4; done; echo side > d/1.xmp")
      try share.waitUntilIdle()
      let before = try share.list()
      #expect(before.count == 51)
      let tokens = try [1, 25, 50].map { ($0, try create(share, "d/\($0).mp4")) }
      let log = try EventLog(share)
      try share.shell("cp \(clip) d/late.mp4 && mv d d2 && mv d2/50.mp4 other/")
      for (number, token) in tokens {
        let path = number == 50 ? "other/50.mp4" : "d2/\(number).mp4"
        #expect(try ask(share, "resolve", token).answer?.path == "\(share.folder)/\(path)")
        #expect(try share.colour(".thumbs/\(path).png") == "red")
      }
      #expect(try share.sharefs(["wait", "\(share.folder)/d2/late.mp4"]) == 0)
      try share.waitUntilIdle()
      let after = try share.list()
      #expect(Set(before.map(\.id)).isSubset(of: Set(after.map(\.id))) && after.count == 52)
      try eventually("the moves are told") { log.all.filter { $0.event == "renamed" }.count >= 52 }
      // Only the late one was looked at.
      #expect(Set(log.all.filter { $0.event == "ready" }.compactMap(\.asset)).count == 1)
      #expect(try share.output("cat", ["\(share.folder)/d2/1.xmp"]) == "side\n")
    }
  }

  @Test(arguments: Mode.possible) func eachFailureHasItsCode(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    try onShare(mode) { share in
      try share.shell("cp \(clip) a.mp4 && cp \(clip) b.mp4 && echo text > c.txt")
      try share.waitUntilIdle()
      let (gone, taken, removed) = (try create(share, "a.mp4"), try create(share, "c.txt"), try create(share, "b.mp4"))
      #expect(try ask(share, "remove", removed).code == 0)
      #expect(try ask(share, "resolve", removed).code == 10)
      #expect(try ask(share, "resolve", String(repeating: "0", count: 32) + removed.suffix(9)).code == 10)
      #expect(try ask(share, "resolve", removed.prefix(33) + "deadbeef").code == 14)
      #expect(try ask(share, "resolve", "nonsense").code == 10)
      // Never by the name alone onto another file.
      try share.shell("rm c.txt && echo other > c.txt && rm a.mp4 b.mp4")
      try share.waitUntilIdle()
      #expect(try ask(share, "resolve", taken).code == 13)
      #expect(try ask(share, "resolve", gone).code == 11)
      #expect(try ask(share, "create", "\(share.folder)/none.mp4").code == 2)
      let note = try create(share, "c.txt")
      if mode == .user {
        // Root may ask the daemon, and has no right to what is another's.
        var client = try Client.connect(to: FileName(share.state + "/control.sock"))
        let refused = #expect(throws: Client.Failure.self) {
          try client.ask(.bookmark(.resolve(String(note.prefix(32)))), for: BookmarkAnswer.self, within: 10)
        }
        #expect(refused == .refused(Refusal(.notYours, "The bookmark is another user's.")))
        try share.shell("chmod 000 c.txt")
        #expect(try ask(share, "resolve", note).code == 12)
      }
      let daemon = try share.status().pid
      try share.run("kill", "-STOP", "\(daemon)")
      let began = Clock.now()
      #expect(try ask(share, "resolve", note).code == 4)
      #expect(Clock.now() - began < Clock.seconds(5))
      try share.run("kill", "-CONT", "\(daemon)")
    }
  }

  @Test(arguments: Mode.possible) func anAccessReachesItsDocumentAndNothingElse(mode: Mode) throws {
    let clip = try Fixtures.clip("blue")
    try onShare(mode) { share in
      try share.shell(
        "mkdir d && cp \(clip) d/a.mp4 && echo secret > other.txt && ln -s ../other.txt d/out && echo in > d/in.txt")
      try share.waitUntilIdle()
      let reading = try create(share, "d/a.mp4", "--read-only")
      let begun = try ask(share, "start", reading)
      let path = try #require(begun.answer?.path)
      let access = try #require(begun.answer?.access)
      let folder = try #require(FileName(path).parent)
      #expect(begun.code == 0 && path.hasPrefix("\(share.folder)/.scoped/") && path.hasSuffix("/a.mp4"))
      #expect(try share.run("cmp", path, clip) == 0)
      #expect(try share.shell("echo x > '\(path)' 2>/dev/null") != 0)
      #expect(try share.output("ls", ["-A", "\(share.folder)/.scoped"]).isEmpty)
      #expect(try share.output("ls", ["-A", folder.description]) == "a.mp4\n")
      #expect(try share.run("test", "-e", "\(folder)/../other.txt") != 0)
      #expect(try !share.names("").contains(".scoped"))
      // What is open when it ends goes on, nothing new begins.
      try share.python(
        """
        f = os.open("\(path)", os.O_RDONLY); say("stop")
        assert os.pread(f, 1 << 20, 0) == open("\(clip)", "rb").read(); os.close(f)
        """
      ) { (word: String) throws in
        #expect(try ask(share, "stop", access).code == 0)
      }
      #expect(try share.run("test", "-e", path) != 0)
      #expect(try ask(share, "stop", access).code == 16)
      #expect(try ask(share, "start", String(repeating: "1", count: 32) + reading.suffix(9)).code == 10)

      // A folder, to be written to, without its links; for a while.
      let writing = try create(share, "d")
      let whole = try #require(try ask(share, "start", writing, "--for", "2").answer?.path)
      #expect(try share.output("ls", ["-A", whole]) == "a.mp4\nin.txt\n")
      #expect(try share.shell("test ! -e '\(whole)/out' && echo more >> '\(whole)/in.txt'") == 0)
      #expect(try share.output("cat", ["\(share.folder)/d/in.txt"]) == "in\nmore\n")
      try eventually("its time is over") { try share.run("test", "-e", whole) != 0 }
    }
  }

  /// A sandbox that has a folder bound gets what is in it, and by no name anything else.
  @Test(
    .enabled(if: Mode.possible.count == 3 && Files.mayAccess(FileName("/usr/bin/bwrap"), X_OK), "it needs bubblewrap"),
    arguments: [Mode.passthrough, .nopassthrough])
  func aSandboxStaysInItsFolder(mode: Mode) throws {
    try onShare(mode) { share in
      try share.shell(
        "mkdir -p d/sub && echo in > d/sub/in.txt && echo secret > secret.txt && ln -s ../secret.txt d/link && ln -s .. d/up"
          + " && ln -s '\(share.folder)/secret.txt' d/whole && ln -s / d/top && mkfifo d/pipe")
      try share.waitUntilIdle()
      let begun = try ask(share, "start", try create(share, "d"))
      let path = try #require(begun.answer?.path)
      let script = """
        cd /given && cat sub/in.txt && ls -A && ls -A sub && ls -A ..
        for way in link up up/secret.txt whole top top/etc/hostname pipe ../secret.txt sub/../../secret.txt .thumbs ../.scoped; do
          test ! -e $way || echo reached $way
        done
        ln -s ../secret.txt made 2>/dev/null && echo made; mkdir made 2>/dev/null && echo made; mv sub/in.txt .. 2>/dev/null && echo moved
        ln sub/in.txt made 2>/dev/null && echo linked; echo more >> sub/in.txt
        """
      let result = try share.call(
        "bwrap",
        [
          "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/lib", "/lib", "--symlink",
          "usr/bin", "/bin",
        ]
          + ["--dev", "/dev", "--bind", path, "/given", "--unshare-all", "sh", "-c", script])
      #expect(result.output == "in\nsub\nin.txt\nbin\ndev\ngiven\nlib\nlib64\nusr\n", "\(result.output)")
      #expect(try share.output("cat", ["\(share.folder)/d/sub/in.txt"]) == "in\nmore\n")
    }
  }

  /// A sandbox that sees only this path reads the document, until the access ends.
  @Test(
    .enabled(if: Mode.possible.count == 3 && Files.mayAccess(FileName("/usr/bin/bwrap"), X_OK), "it needs bubblewrap"),
    arguments: [Mode.passthrough, .nopassthrough])
  func aSandboxReadsWhatItWasGiven(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.run("cp", clip, "\(share.folder)/a.mp4")
      try share.waitUntilIdle()
      let begun = try ask(share, "start", try create(share, "a.mp4", "--read-only"))
      let (path, access) = (try #require(begun.answer?.path), try #require(begun.answer?.access))
      let script =
        "sha256sum < /given && test ! -e \(share.folder) && echo inside && read line && { cat /given > /dev/null 2>&1 || echo over; }"
      let result = try share.call(
        "sh",
        [
          "-c",
          """
          mkfifo '\(share.base)/go'
          bwrap --ro-bind /usr /usr --symlink usr/lib64 /lib64 --symlink usr/lib /lib --symlink usr/bin /bin --proc /proc --dev /dev \
            --ro-bind '\(path)' /given --unshare-all sh -c '\(script)' < '\(share.base)/go' > '\(share.base)/out' 2>&1 &
          exec 9> '\(share.base)/go'
          until grep -q inside '\(share.base)/out'; do kill -0 $! || exit 9; done
          '\(Share.sharefs)' bookmark stop --state '\(share.state)' '\(access)' && echo >&9; wait $!
          """,
        ])
      let output = try share.output("cat", ["\(share.base)/out"])
      let hash = try share.output("sh", ["-c", "sha256sum < '\(clip)'"])
      #expect(result.code == 0 && output.hasPrefix(hash) && output.hasSuffix("inside\nover\n"), "\(output)")
    }
  }
}
