import Control
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
        // One that begins after the rename waits for another document.
        try eventually("both listen") { early.isConnected && moved.isConnected }
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

  /// What is written for the first time is followed through renames of its folders, and a path in a folder that is not there yet is waited for.
  @Test(arguments: Mode.possible) func foldersComeAndMove(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 4)
    try onShare(mode) { share in
      let later = try share.start(Share.sharefs, ["wait", "--json", "\(share.folder)/not/yet/a.mp4"])
      try share.python(
        """
        data = open("\(clip)", "rb").read(); half = len(data) // 2; os.makedirs("d/e"); os.mkdir("x")
        f = os.open("d/e/b.mp4", os.O_CREAT | os.O_WRONLY); os.write(f, data[:half])
        waits = subprocess.Popen(["\(Share.sharefs)", "wait", "--json", "d/e/b.mp4"], stdout=subprocess.PIPE)
        # Nobody sees when it has begun: it has when a line on the socket speaks of a second watcher's place.
        def listens():
            try: return "sharefs" in open("/proc/%d/comm" % waits.pid).read() and any(
                "socket:" in os.readlink("/proc/%d/fd/%s" % (waits.pid, n)) for n in os.listdir("/proc/%d/fd" % waits.pid))
            except FileNotFoundError: return False
        while not listens(): time.sleep(0.01)
        time.sleep(0.3); os.rename("d", "moved"); time.sleep(0.1); os.rename("moved/e", "x/e"); os.rename("x/e/b.mp4", "x/e/c.mp4"); time.sleep(0.3)
        assert waits.poll() is None; os.write(f, data[half:]); os.close(f)
        out = waits.communicate(timeout=30)[0]; assert waits.returncode == 0 and out.startswith(b'{"path":"x/e/c.mp4","asset":'), (waits.returncode, out)
        # The other one comes with the folders that it stands in.
        os.makedirs("aside/yet"); g = os.open("aside/yet/a.mp4", os.O_CREAT | os.O_WRONLY); os.write(g, data[:half]); say("half")
        os.rename("aside", "not"); os.write(g, data[half:]); os.close(g)
        """
      ) { (word: String) throws in #expect(later.isRunning) }
      #expect(try later.wait() == 0)
      #expect(try later.output().hasPrefix("{\"path\":\"not/yet/a.mp4\",\"asset\":"))
    }
  }

  /// A daemon that is stopped, killed, or restarted meanwhile.
  @Test(arguments: Mode.possible) func theDaemonGoesAndComes(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    let share = try Share(mode)
    let path = "\(share.folder)/a.mp4"
    try share.shell("cp \(clip) whole.mp4")
    try share.waitUntilIdle()
    let daemon = try share.status().pid
    // Stopped: both end in time, and say so.
    try share.run("kill", "-STOP", "\(daemon)")
    for words in [["wait", "--timeout", "1", path], ["cat", "--timeout", "1", "\(share.folder)/whole.mp4"]] {
      let began = Clock.now()
      #expect(try share.sharefs(words) == 4)
      #expect(Clock.now() - began < Clock.seconds(8))
    }
    try share.run("kill", "-CONT", "\(daemon)")
    // Restarted: it goes on waiting.
    let waiting = try share.start(Share.sharefs, ["wait", path])
    try eventually("it listens") { waiting.isConnected }
    try share.unmount()
    try share.mount()
    try share.run("cp", clip, path)
    let code = try waiting.wait()
    let complaints = try waiting.complaints()
    #expect(code == 0, "\(complaints)")
    // Killed while somebody writes: what is there cannot be known.
    let again = try share.status().pid
    try share.python(
      """
      f = os.open("whole.mp4", os.O_RDWR); os.pwrite(f, b"half", 0); g = os.open("new.mp4", os.O_CREAT | os.O_WRONLY); os.write(g, b"half")
      waits = [subprocess.Popen(["\(Share.sharefs)", "wait", "--state", "\(share.state)", "\(share.folder)/" + name], stderr=subprocess.PIPE)
               for name in ("whole.mp4", "new.mp4")]
      time.sleep(0.5); assert [w.poll() for w in waits] == [None, None]; say("kill")
      for w in waits: told = w.communicate(timeout=30)[1]; assert w.returncode == 4 and b"killed" in told, (w.returncode, told)
      os.chdir("/")
      """
    ) { (word: String) throws in _ = try share.run("kill", "-9", "\(again)") }
    try eventually("the daemon has gone") { try share.run("kill", "-0", "\(again)") != 0 }
    #expect(try share.sharefs(["cat", "--state", share.state, "\(share.folder)/whole.mp4"]) == 4)
    try share.mount()
    #expect(try share.sharefs(["wait", "\(share.folder)/whole.mp4"]) == 3)
    try share.end()
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
        try share.shell("exec 9> gone.mp4; rm gone.mp4")
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
