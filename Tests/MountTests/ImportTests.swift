import FoundationEssentials
import Glibc
import Posix
import Testing

/// `sharefs import`, and what its URLs lead to; `check` and what it repairs.
@Suite("Import", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct ImportTests {
  private struct Line: Decodable {
    struct Problem: Decodable {
      let domain: String
      let code: Int
      let name: String
      let failureReason: String
      let recoverySuggestion: String

      private enum CodingKeys: String, CodingKey {
        case domain, code, name
        case failureReason = "failure_reason"
        case recoverySuggestion = "recovery_suggestion"
      }
    }

    let file: String
    let url: String?
    let path: String?
    let error: Problem?
  }

  private func take(_ share: Share, _ words: [String]) throws -> (code: Int32, lines: [Line]) {
    let state = share.isMounted ? [] : ["--state", share.state]
    let result = try share.call(Share.sharefs, ["import", "--json", "--to", share.folder] + state + words)
    return (
      result.code,
      try result.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    )
  }

  @Test(arguments: Mode.possible) func whatIsWholeComesInAndIsFoundByItsURL(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 2)
    try onShare(mode) { share in
      try share.run("sh", "-c", "cp '\(clip)' '\(share.base)/clip.mp4'; cp '\(clip)' '\(share.base)/moved.mp4'")
      let events = try EventLog(share)
      let first = try take(share, ["\(share.base)/clip.mp4"])
      #expect(first.code == 0 && first.lines.count == 1)
      let url = try #require(first.lines.first?.url)
      #expect(url.hasPrefix("sharefs://share-") && url.hasSuffix("/asset/1?ext=MP4"))
      #expect(first.lines.first?.path == "\(share.folder)/clip.mp4")
      // A name that is taken gets a number; nothing is overwritten.
      let second = try take(share, ["--move", "\(share.base)/clip.mp4", "\(share.base)/moved.mp4"])
      #expect(second.code == 0)
      #expect(second.lines.map(\.path) == ["\(share.folder)/clip 2.mp4", "\(share.folder)/moved.mp4"])
      #expect(try share.run("test", "-e", "\(share.base)/moved.mp4") != 0)
      #expect(events.all.filter { $0.event == "closed" }.map(\.path) == ["clip.mp4", "clip 2.mp4", "moved.mp4"])
      // By its URL it is found after a rename and a remount.
      try share.shell("mkdir d && mv clip.mp4 d/other.mp4")
      try share.unmount()
      try share.mount()
      try share.waitUntilIdle()
      func cat(_ words: [String]) throws -> Int32 {
        try share.run("sh", "-c", "'\(Share.sharefs)' cat \(words.joined(separator: " ")) | cmp - '\(clip)'")
      }
      #expect(try cat(["'\(url)'"]) == 0)
      #expect(try share.output(Share.sharefs, ["info", url]).hasPrefix("d/other.mp4\n"))
      try share.unmount()
      #expect(try cat(["--state", share.state, "'\(url)'"]) == 0)
      // A share that is not mounted takes files too.
      let offline = try take(share, [clip])
      #expect(offline.code == 0 && offline.lines.first?.url?.contains("/asset/4") == true)
      try share.mount()
      try share.waitUntilIdle()
      #expect(try share.list().count == 4)
    }
  }

  @Test(arguments: Mode.possible) func whatIsRefusedLeavesNothing(mode: Mode) throws {
    let clip = try Fixtures.clip("green", seconds: 2)
    try onShare(mode) { share in
      try share.shell("cp '\(clip)' inside.mp4")
      try share.run(
        "sh", "-c",
        "cd '\(share.base)'; head -c $(($(stat -c %s '\(clip)') / 2)) '\(clip)' > cut.mp4; head -c 5000 /dev/urandom > noise.mp4; echo x > closed.txt; chmod 000 closed.txt; mkdir folder"
      )
      let base = share.base
      let cases: [([String], Int32, String)] = [
        (["\(base)/cut.mp4"], 3, "incomplete"), (["\(base)/noise.mp4"], 3, "invalid_data"),
        (["--type", "image", clip], 3, "wrong_type"), (["\(share.folder)/inside.mp4"], 1, "source_inside_share"),
        (["\(base)/none.mp4"], 2, "no_such_file"), (["\(base)/folder"], 2, "not_a_file"),
        (["sharefs://other-00000000/asset/1"], 1, "url_of_another_share"),
      ]
      for (words, code, name) in cases {
        let (exit, lines) = try take(share, words)
        #expect(exit == code && lines.first?.error?.name == name, "\(words)")
        let error = try #require(lines.first?.error)
        #expect(error.domain == "sharefs.import" && error.failureReason.hasSuffix("."))
        #expect(error.recoverySuggestion.hasSuffix("."))
      }
      if mode == .user {
        let (exit, lines) = try take(share, ["\(base)/closed.txt"])
        #expect(exit == 5 && lines.first?.error?.name == "no_permission")
      }
      // The others come in all the same.
      let mixed = try take(share, ["\(base)/cut.mp4", "--type", "public.movie", clip])
      #expect(mixed.code == 3 && mixed.lines.filter { $0.url != nil }.count == 1)
      #expect(
        try Set(share.output("ls", ["-A", share.folder]).split(separator: "\n").map(String.init))
          == [".thumbs", "inside.mp4", FileName(clip).lastComponent.description])
    }
  }

  /// Killed in the middle of a copy, it leaves nothing.
  @Test(arguments: Mode.possible) func aKilledImportLeavesNothing(mode: Mode) throws {
    try onShare(mode) { share in
      // More than can be copied before it is killed, and no disk is filled by it.
      try share.run("truncate", "-s", "20G", "\(share.base)/large.bin")
      let importing = try share.start(
        Share.sharefs, ["import", "--progress", "--to", share.folder, "\(share.base)/large.bin"])
      try eventually("it copies", seconds: 60) { try importing.complaints().contains("large.bin") }
      importing.signal(SIGKILL)
      #expect(try importing.wait() == -SIGKILL)
      try share.waitUntilIdle()
      #expect(try share.output("ls", ["-A", share.folder]) == ".thumbs\n")
      #expect(try share.list().isEmpty)
    }
  }

  /// `cat` waits for the writer, and tells when one came in between.
  @Test(arguments: Mode.possible) func catDeliversOneVersion(mode: Mode) throws {
    try onShare(mode) { share in
      try share.python(
        """
        import threading
        f = os.open("a.txt", os.O_CREAT | os.O_WRONLY); os.write(f, b"half")
        cat = subprocess.Popen(["\(Share.sharefs)", "cat", "--state", "\(share.state)", "a.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE); time.sleep(0.3)
        assert cat.poll() is None, (cat.returncode, cat.communicate()); os.write(f, b" and half"); os.close(f)
        assert cat.communicate()[0] == b"half and half" and cat.returncode == 0
        # Its reader stops in the middle, and somebody writes.
        open("b.txt", "wb").write(b"x" * (4 << 20))
        cat = subprocess.Popen(["\(Share.sharefs)", "cat", "--state", "\(share.state)", "b.txt"], stdout=subprocess.PIPE); assert cat.stdout.read(1) == b"x"
        f = os.open("b.txt", os.O_WRONLY); os.pwrite(f, b"y", 0); os.close(f)
        cat.stdout.read(); assert cat.wait() == 6, cat.returncode
        assert subprocess.run(["\(Share.sharefs)", "cat", "--state", "\(share.state)", "none.txt"], stderr=subprocess.DEVNULL).returncode == 2
        """)
    }
  }

  /// Where the daemon's card is not found, a share that is mounted is not taken for one that nobody writes to.
  @Test func cardsThatAreElsewhereAreMissed() throws {
    try onShare(.user) { share in
      try share.python(
        """
        os.environ["XDG_RUNTIME_DIR"] = "/nowhere"
        f = os.open("a.txt", os.O_CREAT | os.O_WRONLY); os.write(f, b"half")
        for verb in ["cat", "wait", "list"]:
            told = subprocess.run(["\(Share.sharefs)", verb, "--state", "\(share.state)", "a.txt"], capture_output=True)
            assert told.stdout == b"" and told.returncode not in (0, 4), told
            assert b"is mounted, but its daemon cannot be found" in told.stderr, told
        """)
    }
  }

  /// What does not agree is told and put right, mounted or not.
  @Test(arguments: Mode.possible) func checkFindsAndRepairs(mode: Mode) throws {
    let clip = try Fixtures.clip("blue")
    try onShare(mode) { share in
      try share.shell("cp '\(clip)' a.mp4 && cp '\(clip)' b.mp4")
      try share.waitUntilIdle()
      let command = ["check", "--json", "--state", share.state, share.folder]
      #expect(try share.call(Share.sharefs, command).output == "" && share.sharefs(command) == 0)
      try share.run(
        "sh", "-c",
        "cd '\(share.state)/cache' && rm 0*/*.png && for shelf in 0*; do touch -d '2 minutes ago' $shelf/orphan; done")
      let lost = try share.call(Share.sharefs, command)
      #expect(lost.code == 7 && lost.output.contains("{\"finding\":\"lost_thumbnail\",\"path\":\"a.mp4\"}"))
      #expect(lost.output.contains("\"orphan_thumbnail\""))
      #expect(try share.sharefs(command + ["--repair"]) == 0)
      #expect(try share.colour(".thumbs/a.mp4.png") == "blue")
      try share.unmount()
      try share.shell("rm a.mp4 && cp b.mp4 c.mp4 && echo >> b.mp4")
      let away = try share.call(Share.sharefs, command)
      for finding in ["missing\",\"path\":\"a.mp4", "uncatalogued\",\"path\":\"c.mp4", "changed\",\"path\":\"b.mp4"] {
        #expect(away.output.contains(finding))
      }
      #expect(try away.code == 7 && share.sharefs(command + ["--repair"]) == 0 && share.sharefs(command) == 0)
      try share.mount()
      try share.waitUntilIdle()
      #expect(try share.list().map(\.path) == ["b.mp4", "c.mp4"])
      #expect(try share.sharefs(["rescan", share.folder]) == 0)
    }
  }
}
