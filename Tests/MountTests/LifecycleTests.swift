import Control
import Glibc
import Posix
import Testing

/// Beginning, ending and coming back, on the built program in every mode.
@Suite("Lifecycle", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct LifecycleTests {
  /// A signal ends it cleanly with exit 0, also while a file is open, and nothing is left running.
  @Test(arguments: Mode.possible, [SIGTERM, SIGINT]) func signals(mode: Mode, signal: CInt) throws {
    let share = try Share(mode, mounted: false)
    try share.run("mkdir", share.folder)
    try share.python(
      """
      os.chdir("/")
      p = subprocess.Popen(["\(Share.sharefs)", "mount", "--foreground", "--state", "\(share.state)", "\(share.folder)"]
                           + \(mode == .nopassthrough ? "['-o', 'nopassthrough']" : "[]"), stderr=subprocess.DEVNULL)
      while not os.path.ismount("\(share.folder)"): assert p.poll() is None; time.sleep(0.01)
      f = open("\(share.folder)/open.txt", "w"); f.write("x"); f.flush()
      p.send_signal(\(signal)); assert p.wait(20) == 0, p.returncode
      assert not os.path.ismount("\(share.folder)")
      """)
    #expect(try share.run("pgrep", "-f", share.state) == 1, "something is left running")
    #expect(try share.run("test", "-e", share.folder + "/open.txt") == 0)
    try share.end()
  }

  /// What waits for its picture when the share ends gets it after the next mount.
  @Test(arguments: Mode.possible) func pendingIsKept(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    try onShare(mode) { share in
      try share.shell("for i in $(seq 60); do cp '\(clip)' $i.mp4; done")
      try share.unmount()
      #expect(try share.run("test", "-e", share.folder + "/.thumbs") == 1)
      try share.mount()
      try share.waitUntilIdle()
      let rows = try share.list()
      #expect(rows.count == 60 && rows.allSatisfy { $0.verdict == "ready" })
      #expect(try share.names(".thumbs").count == 63)
    }
  }

  @Test(arguments: Mode.possible) func refusals(mode: Mode) throws {
    try onShare(mode) { share in
      #expect(try share.sharefs(["mount", "--state", share.base + "/other", share.folder]) == 32)
      #expect(try share.sharefs(["mount", share.base + "/none", share.base + "/point"]) == 32)
      try share.run("mkdir", share.base + "/full", share.base + "/source")
      try share.run("touch", share.base + "/full/x")
      #expect(try share.sharefs(["mount", share.base + "/source", share.base + "/full"]) == 32)
      #expect(try share.sharefs(["mount", share.base + "/full/x"]) == 32)
      try share.run("mkdir", share.base + "/source/inside")
      #expect(try share.sharefs(["mount", share.base + "/source", share.base + "/source/inside"]) == 32)
      #expect(try share.sharefs(["mount", "-o", "bogus", share.base + "/source"]) != 0)
      #expect(try share.sharefs(["umount", share.base + "/source"]) == 2)
      try share.python(
        """
        f = open("busy.txt", "w"); say("busy")
        """
      ) { (word: String) throws in #expect(try share.sharefs(["umount", share.folder]) == 32) }
    }
  }

  /// Who is said to use a mount does: by an open file, a working folder or a mapping. Who holds the folder below it, under the same paths, as the
  /// share's workers do, is not named and keeps nothing.
  @Test(arguments: Mode.possible) func holders(mode: Mode) throws {
    let share = try Share(mode, mounted: false)
    try share.run("mkdir", share.folder)
    try share.run("cp", "/bin/sleep", share.folder + "/below")
    try share.python(
      """
      below = [open("below", "rb"), os.open(".", os.O_RDONLY)]
      kept = mmap.mmap(below[0].fileno(), 0, prot=mmap.PROT_READ)
      command = ["\(Share.sharefs)", "mount", "--state", "\(share.state)"] + \(mode == .nopassthrough ? "['-o', 'nopassthrough']" : "[]")
      subprocess.run(command + ["\(share.folder)"], check=True)
      def umount():
          return subprocess.run(["\(Share.sharefs)", "umount", "\(share.folder)"], stderr=subprocess.PIPE, cwd="/")
      holding = {
          "file": "f = open('below', 'rb')",
          "folder": "os.chdir('.')",
          "mapping": "f = open('below', 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); f.close()",
      }
      for name, act in holding.items():
          program = "import os, mmap, sys; os.chdir('\(share.folder)'); " + act
          program += "; " + ("" if name == "folder" else "os.chdir('/'); ") + "print('ready', flush=True); sys.stdin.read()"
          p = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
          assert p.stdout.readline() == b"ready\\n"
          told = umount()
          text = told.stderr.decode()
          assert told.returncode == 32 and f"(process {p.pid})" in text, (name, text)
          assert f"(process {os.getpid()})" not in text and text.count("(process") == 1, (name, text)
          p.stdin.close(); p.wait()
      told = umount()
      assert told.returncode == 0, told.stderr
      """)
    #expect(!share.isMounted)
    try share.end()
  }

  /// umount(8) does not wait for the daemon's end; whoever mounts again at once is served all the same.
  @Test(arguments: Mode.possible) func mountedAgainAtOnce(mode: Mode) throws {
    try onShare(mode) { share in
      for turn in 0..<5 {
        try share.shell("for i in $(seq 20); do echo $i > \(turn)-$i.txt; done")
        let umount = mode == .user ? "fusermount3 -u" : "umount"
        try eventually("nobody visits the mount") {
          try share.run("sh", "-c", "\(umount) '\(share.folder)' 2>/dev/null") == 0
        }
        try share.mount()
      }
    }
  }

  /// The two-folder form shows the source elsewhere; what is written here is there.
  @Test(arguments: Mode.possible) func twoFolders(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    let share = try Share(mode, mounted: false)
    let (source, point) = (share.base + "/source", share.base + "/point")
    try share.run("mkdir", source, point)
    try share.run("cp", clip, source + "/before.mp4")
    let options = mode == .nopassthrough ? ["-o", "nopassthrough"] : []
    #expect(try share.sharefs(["mount", "--state", share.state] + options + [source, point]) == 0)
    try share.run("cp", clip, point + "/a.mp4")
    #expect(try share.run("cmp", source + "/a.mp4", clip) == 0)
    for name in ["before", "a"] {
      #expect(try share.output("head", ["-c", "4", "\(point)/.thumbs/\(name).mp4.png"]).hasSuffix("PNG"))
    }
    try share.run("rm", source + "/a.mp4")
    try eventually("a removal behind the mount is seen") { try share.run("test", "-e", point + "/a.mp4") == 1 }
    #expect(try share.sharefs(["umount", point]) == 0)
    #expect(try share.run("test", "-e", source + "/.thumbs") == 1)
    try share.end()
  }

  @Test(arguments: Mode.possible) func readOnly(mode: Mode) throws {
    let clip = try Fixtures.clip("blue")
    let share = try Share(mode, options: ["ro"], mounted: false)
    try share.run("mkdir", share.folder)
    try share.run("cp", clip, share.folder + "/a.mp4")
    try share.mount()
    #expect(try share.shell("touch x 2>/dev/null") != 0)
    #expect(try share.colour(".thumbs/a.mp4.png") == "blue")
    try share.end()
  }

  /// Cache and catalog can be lost: the pictures come again, and a damaged catalog is kept aside.
  @Test(arguments: Mode.possible) func lostState(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.run("cp", clip, share.folder + "/a.mp4")
      #expect(try share.colour(".thumbs/a.mp4.png") == "red")
      try share.waitUntilIdle()
      try share.run("sh", "-c", "rm -rf '\(share.state)'/cache/*")
      try eventually("the lost picture is made again") { try share.colour(".thumbs/a.mp4.png") == "red" }
      try share.unmount()
      try share.run(
        "sh", "-c",
        "head -c 20000 /dev/urandom > '\(share.state)/catalog.sqlite'; rm -f '\(share.state)'/catalog.sqlite-*")
      try share.mount()
      #expect(try share.colour(".thumbs/a.mp4.png") == "red")
      try share.waitUntilIdle()
      #expect(try share.list().map { $0.path } == ["a.mp4"])
      #expect(try share.status().lastErrors.contains { $0.text.contains("damaged") })
    }
  }

  /// A user's mount is that user's; a folder of the user's that has the view's name is shown, and the view steps aside.
  @Test(arguments: Mode.possible) func ownThumbsFolder(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    let share = try Share(mode, mounted: false)
    try share.run("mkdir", "-p", share.folder + "/.thumbs")
    try share.run("sh", "-c", "echo mine > '\(share.folder)/.thumbs/own.txt'")
    try share.mount()
    try share.run("cp", clip, share.folder + "/a.mp4")
    #expect(try share.output("cat", [share.folder + "/.thumbs/own.txt"]) == "mine\n")
    #expect(try share.colour(".thumbs-sharefs/a.mp4.png") == "green")
    #expect(try share.status().lastErrors.contains { $0.text.contains(".thumbs-sharefs") })
    if mode == .user && geteuid() == 0 {
      #expect(unsafe access(share.folder + "/a.mp4", F_OK) != 0, "root looks into a user's mount without being let in")
    }
    try share.end()
  }
}
