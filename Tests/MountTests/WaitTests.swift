import Glibc
import Posix
import Testing

/// `sharefs wait`, as a script uses it.
@Suite("Wait", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct WaitTests {
  /// Before it exists, while it is being written, when it is done (openradar 29847288).
  @Test(arguments: Mode.possible) func itReturnsOnceTheDocumentIsWhole(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 4)
    try onShare(mode) { share in
      let early = try share.start(Share.sharefs, ["wait", "\(share.folder)/a.mp4"])
      let moved = try share.start(Share.sharefs, ["wait", "--json", "\(share.folder)/a.mp4"])
      try share.python(
        """
        data = open("\(clip)", "rb").read(); half = len(data) // 2
        f = os.open("a.mp4", os.O_CREAT | os.O_WRONLY); os.write(f, data[:half]); say("half")
        os.rename("a.mp4", "b.mp4"); say("renamed"); os.write(f, data[half:]); os.close(f)
        """
      ) { (word: String) throws in
        // It stays blocked for as long as the writer does.
        #expect(early.isRunning && moved.isRunning)
        if word == "half" { #expect(try share.sharefs(["wait", "--timeout", "0.3", "\(share.folder)/a.mp4"]) == 4) }
      }
      #expect(try early.wait() == 0)
      #expect(try moved.wait() == 0)
      #expect(try moved.output().hasPrefix("{\"path\":\"b.mp4\",\"asset\":"))
      #expect(try share.sharefs(["wait", "\(share.folder)/b.mp4"]) == 0)
      #expect(try share.sharefs(["wait", "--timeout", "0.2", "\(share.folder)/none.mp4"]) == 4)
    }
  }

  /// A copy that was killed is told as incomplete, with the reason.
  @Test(arguments: Mode.possible) func aKilledCopyIsIncomplete(mode: Mode) throws {
    let clip = try Fixtures.clip("green", seconds: 20, size: "640x360")
    try onShare(mode) { share in
      let waiting = try share.start(Share.sharefs, ["wait", "\(share.folder)/a.mp4"])
      try share.python(
        """
        data = open("\(clip)", "rb").read()
        child = os.fork()
        if child == 0:
            f = os.open("a.mp4", os.O_CREAT | os.O_WRONLY); os.write(f, data[:len(data) * 6 // 10]); os.write(3, b"cut"); time.sleep(60); os._exit(0)
        os.read(3, 64); os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
        """)
      #expect(try waiting.wait() == 3)
      #expect(try waiting.complaints().hasPrefix("sharefs: \(share.folder)/a.mp4 is incomplete: "))
      try share.unmount()
      #expect(try share.sharefs(["wait", "--state", share.state, "\(share.folder)/a.mp4"]) == 3)
    }
  }

  @Test(arguments: Mode.possible) func removedWholeAndUnmounted(mode: Mode) throws {
    let clip = try Fixtures.clip("blue")
    try onShare(mode) { share in
      try share.shell("cp \(clip) whole.mp4; echo hello > note.txt")
      let paths = ["whole.mp4", "note.txt"].map { "\(share.folder)/\($0)" }
      #expect(try share.sharefs(["wait"] + paths) == 0)
      let gone = try share.start(Share.sharefs, ["wait", "\(share.folder)/gone.mp4"])
      // Nobody sees when it begins to wait: it is removed again and again until it has.
      try eventually("it has seen the removal") {
        try share.shell("echo x > gone.mp4; rm gone.mp4")
        return !gone.isRunning
      }
      #expect(try gone.wait() == 2)
      try share.unmount()
      #expect(try share.sharefs(["wait", "--state", share.state] + paths) == 0)
      #expect(try share.sharefs(["wait", "--state", share.state, "\(share.folder)/none.mp4"]) == 2)
      // Somebody changed it meanwhile: nobody can say that this is whole.
      try share.shell("echo more >> note.txt")
      #expect(try share.sharefs(["wait", "--state", share.state, paths[1]]) == 4)
    }
  }
}
