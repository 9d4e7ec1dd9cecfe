import Control
import Posix
import Testing

/// The two-folder form: what others change in the source folder, without the mount, is seen and catalogued.
@Suite("Source folder", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct SourceTests {
  private func onSource(_ mode: Mode, _ body: (Share, _ source: String, _ point: String) throws -> Void) throws {
    let share = try Share(mode, mounted: false)
    let (source, point) = (share.base + "/source", share.base + "/share")
    try share.run("mkdir", source, point)
    let options = mode == .nopassthrough ? ["-o", "nopassthrough"] : []
    try #require(try share.sharefs(["mount", "--state", share.state] + options + [source, point]) == 0)
    do { try body(share, source, point) } catch {
      try share.end()
      throw error
    }
    try share.end()
  }

  private func paths(_ share: Share) throws -> [String] { try share.list().map(\.path).sorted() }

  @Test(arguments: Mode.possible) func changesBehindTheMount(mode: Mode) throws {
    let (red, blue) = (try Fixtures.clip("red"), try Fixtures.clip("blue"))
    try onSource(mode) { share, source, point in
      try share.run("cp", red, source + "/a.mp4")
      try eventually("a copy into the source is catalogued") { try share.row("a.mp4")?.verdict == "ready" }
      #expect(try share.colour(".thumbs/a.mp4.png") == "red")
      let id = try #require(try share.row("a.mp4")).id

      // New folders are watched too, with what they brought along.
      try share.run("sh", "-c", "mkdir -p '\(source)/x/y' && cp '\(red)' '\(source)/x/y/b.mp4'")
      try eventually("a copy into a new folder is catalogued") { try share.row("x/y/b.mp4")?.verdict == "ready" }
      try share.run("sh", "-c", "mkdir -p '\(share.base)/aside/z' && cp '\(red)' '\(share.base)/aside/z/c.mp4'")
      try share.run("mv", share.base + "/aside", source + "/aside")
      try eventually("a folder that was moved in is catalogued") { try share.row("aside/z/c.mp4")?.verdict == "ready" }
      try share.run("cp", red, source + "/aside/z/d.mp4")
      try eventually("and watched") { try share.row("aside/z/d.mp4")?.verdict == "ready" }

      // Rewritten, renamed, in a folder that is renamed: the same asset.
      try share.run("cp", blue, source + "/a.mp4")
      try eventually("a new version is seen") { try share.colour(".thumbs/a.mp4.png") == "blue" }
      try share.run("mv", source + "/a.mp4", source + "/x/e.mp4")
      try eventually("a rename is seen") { try share.row("x/e.mp4")?.id == id && share.row("a.mp4") == nil }
      try share.run("mv", source + "/x", source + "/w")
      try eventually("a folder's rename is seen") { try share.row("w/e.mp4")?.id == id && share.row("x/e.mp4") == nil }
      #expect(try share.colour(".thumbs/w/e.mp4.png") == "blue")

      try share.run("rm", "-r", source + "/aside", source + "/w/y")
      try eventually("removals are seen") { try paths(share) == ["w/e.mp4"] }
      try share.run("mv", source + "/w", share.base + "/w")
      try eventually("a folder that was moved out is gone") { try paths(share) == [] }
      #expect(try share.run("test", "-e", point + "/w") == 1)
    }
  }

  /// A document that is being written in the source is not taken for whole.
  @Test(arguments: Mode.possible) func slowWriterBehindTheMount(mode: Mode) throws {
    let clip = try Fixtures.clip("green", seconds: 5, size: "640x360")
    try onSource(mode) { share, source, _ in
      try share.python(
        """
        data = open("\(clip)", "rb").read()
        f = open("\(source)/slow.mp4", "wb"); f.write(data[:len(data) // 2]); f.flush()
        subprocess.run(["cp", "\(clip)", "\(source)/other.mp4"], check=True)
        say("half"); f.write(data[len(data) // 2:]); f.close(); say("whole")
        """
      ) { (word: String) throws in
        if word == "half" {
          // The events come in order: once the later one is done, the earlier was looked at.
          try eventually("the other one is done") { try share.row("other.mp4")?.verdict == "ready" }
          #expect(try share.row("slow.mp4") == nil)
        } else {
          try eventually("it is whole") { try share.row("slow.mp4")?.verdict == "ready" }
        }
      }
      #expect(try share.row("slow.mp4")?.version == 1)
    }
  }

  /// A writer whose close nobody tells of: fanotify's own descriptors are such. To us it is the same as a close that is told a moment before it is done.
  @Test(arguments: Mode.possible.filter { $0 != .user }) func writerNobodyTellsOf(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    try onSource(mode) { share, source, _ in
      try share.python(
        """
        f = open("\(source)/secret.mp4", "wb")
        libc = ctypes.CDLL(None, use_errno=True)
        group = libc.fanotify_init(1, os.O_RDWR | os.O_CLOEXEC); assert group >= 0, ctypes.get_errno()
        assert libc.fanotify_mark(group, 1, ctypes.c_uint64(0x20), -100, b"\(source)/secret.mp4") == 0, ctypes.get_errno()
        os.close(os.open("\(source)/secret.mp4", os.O_WRONLY))
        # The size of one event: our own looks at the file are others.
        told = os.read(group, 24); writer = int.from_bytes(told[16:20], sys.byteorder); os.close(group)
        f.write(open("\(clip)", "rb").read()); f.close()
        subprocess.run(["cp", "\(clip)", "\(source)/other.mp4"], check=True)
        say("written"); os.close(writer); say("closed")
        """
      ) { (word: String) throws in
        if word == "written" {
          try eventually("the other one is done") { try share.row("other.mp4")?.verdict == "ready" }
          #expect(try share.row("secret.mp4") == nil)
        } else {
          try eventually("its end was noticed") { try share.row("secret.mp4")?.verdict == "ready" }
        }
      }
      #expect(try share.row("secret.mp4")?.version == 1)
    }
  }

  /// Changes of metadata are no new versions, and what waits for the document still finds it whole.
  @Test(arguments: Mode.possible) func metadataBehindTheMount(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onSource(mode) { share, source, point in
      func staysWhole(_ name: String, after change: String) throws {
        try share.python("os.chdir('\(source)'); \(change)")
        #expect(try share.sharefs(["wait", "--timeout", "30", "\(point)/\(name)"]) == 0, "\(change)")
        #expect(try share.row(name)?.version == 1, "\(change)")
      }
      try share.run("cp", clip, source + "/a.mp4")
      try eventually("it is catalogued") { try share.row("a.mp4")?.verdict == "ready" }
      let id = try #require(try share.row("a.mp4")).id
      try staysWhole("a.mp4", after: "os.chmod('a.mp4', 0o600)")
      try staysWhole("a.mp4", after: "os.utime('a.mp4', (1, 1))")
      try staysWhole("a.mp4", after: "os.setxattr('a.mp4', 'user.sharefs-test', b'1')")
      try staysWhole("a.mp4", after: "os.chmod('\(point)/a.mp4', 0o644); os.utime('\(point)/a.mp4', (2, 2))")
      try share.run("ln", source + "/a.mp4", source + "/b.mp4")
      try eventually("the link is catalogued") { try share.row("b.mp4")?.id == id }
      try staysWhole("b.mp4", after: "os.unlink('a.mp4')")
      try eventually("the first name is gone") { try share.row("a.mp4") == nil }
      try staysWhole("b.mp4", after: "os.chmod('b.mp4', 0o600)")
      // What could not be read is looked at when it can be.
      if mode == .user {
        try share.run("sh", "-c", "umask 777; cp '\(clip)' '\(source)/closed.mp4'")
        try eventually("it cannot be read") { try share.row("closed.mp4")?.verdict == "unsupported" }
        try share.run("chmod", "600", source + "/closed.mp4")
        try eventually("it can be read") { try share.row("closed.mp4")?.verdict == "ready" }
        try share.run("sh", "-c", "mkdir -m 0 '\(source)/room' && cp '\(clip)' '\(source)/d.mp4'")
        try eventually("a later one is done") { try share.row("d.mp4")?.verdict == "ready" }
        try share.run("sh", "-c", "chmod 700 '\(source)/room' && cp '\(clip)' '\(source)/room/c.mp4'")
        try eventually("a folder that was opened is watched") { try share.row("room/c.mp4")?.verdict == "ready" }
      }
    }
  }

  /// A download is finished when its mark goes.
  @Test(arguments: Mode.possible) func markedDownload(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onSource(mode) { share, source, _ in
      for (name, end) in [("a.mp4", "rm"), ("b.mp4", "mv -t '\(share.base)'")] {
        try share.run("sh", "-c", "echo > '\(source)/\(name).aria2' && cp '\(clip)' '\(source)/\(name)'")
        // The events come in order.
        try share.run("cp", clip, source + "/after-" + name)
        try eventually("a later one is done") { try share.row("after-" + name)?.verdict == "ready" }
        #expect(try share.row(name) == nil)
        try share.run("sh", "-c", "\(end) '\(source)/\(name).aria2'")
        try eventually("it is catalogued") { try share.row(name)?.verdict == "ready" }
      }
    }
  }

  /// More at once than can be told: nothing is missed.
  @Test func overflow() throws {
    let mode = try #require(Mode.possible.first)
    try onSource(mode) { share, source, _ in
      let queue =
        Int(
          String(
            decoding: try Files.readStream(FileName("/proc/sys/fs/inotify/max_queued_events"), limit: 64), as: UTF8.self
          )
          .filter(\.isNumber)) ?? 16384
      let count = queue / 2 + 1000
      let daemon = try share.status().pid
      try share.python(
        """
        os.kill(\(daemon), signal.SIGSTOP)
        try:
            os.makedirs("\(source)/new/deep")
            for i in range(\(count)): open(f"\(source)/{i}.txt", "w").close()
            open("\(source)/new/deep/last.txt", "w").write("x")
        finally: os.kill(\(daemon), signal.SIGCONT)
        """)
      try eventually("all are catalogued", seconds: 120) {
        try share.status().scan == .done && share.list().count == count + 1
      }
      // What came while nobody could be told is watched.
      try share.run("sh", "-c", "echo x > '\(source)/new/deep/after.txt'")
      try eventually("the new folders are watched") { try share.row("new/deep/after.txt") != nil }
    }
  }
}
