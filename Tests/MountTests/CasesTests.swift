import Control
import Glibc
import Posix
import Testing

/// Public bug reports against other programs of the trade, each with its whole kind, on the built program in every mode.
@Suite("Cases", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct CasesTests {
  /// A file that arrives slowly is nobody's before it is whole (immich 18023).
  @Test(arguments: Mode.possible) func slowCopy(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 20, size: "640x360")
    try onShare(mode) { share in
      let events = try EventLog(share)
      var looks = 0
      try share.python(
        """
        data = open("\(clip)", "rb").read(); step = len(data) // 8 + 1
        f = os.open("a.mp4", os.O_CREAT | os.O_WRONLY)
        for i in range(0, len(data), step): os.write(f, data[i:i + step]); say("part")
        os.close(f); say("whole")
        """
      ) { (word: String) throws in
        if word == "part" {
          looks += 1
          #expect(try share.list().isEmpty)
          #expect(try !share.exists(".thumbs/a.mp4.png"))
          #expect(try share.names(".thumbs") == ["CACHEDIR.TAG", ".nomedia", "index.html"])
          #expect(try share.document("a.mp4").state == .writing)
          #expect(events.count("closed", "a.mp4") == 0)
        } else {
          #expect(try share.document("a.mp4").state != .writing)
          #expect(try share.colour(".thumbs/a.mp4.png") == "red")
        }
      }
      #expect(looks == 8)
      try eventually("one verdict is announced") { events.count("ready", "a.mp4") == 1 }
      #expect(events.count("closed", "a.mp4") == 1)
      #expect(try share.row("a.mp4")?.verdict == "ready")
    }
  }

  /// Temporary names are left alone until they get their real one (paperless-ng 462).
  @Test(arguments: Mode.possible) func temporaryNames(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    try onShare(mode) { share in
      let events = try EventLog(share)
      let names = [
        "a.mp4.filepart", ".b.mp4.Xy12aB", ".goutputstream-ABCDEF", "d.mp4.part", "e.mp4.crdownload", "f.mp4.tmp",
      ]
      for (index, name) in names.enumerated() {
        try share.run("cp", clip, "\(share.folder)/\(name)")
        #expect(try share.document(name).state == .ignored)
        try share.run("mv", "\(share.folder)/\(name)", "\(share.folder)/\(index).mp4")
        #expect(try share.colour(".thumbs/\(index).mp4.png") == "green")
      }
      try share.waitUntilIdle()
      #expect(try share.list().map { $0.path }.sorted() == (0..<names.count).map { "\($0).mp4" })
      for index in 0..<names.count {
        try eventually("\(index).mp4 is announced") { events.count("ready", "\(index).mp4") == 1 }
        #expect(events.count("closed", "\(index).mp4") == 1)
      }
      #expect(!events.all.contains { $0.event != "renamed" && names.contains($0.path) })
    }
  }

  /// Several closes of one content are one content (paperless-ngx 494).
  @Test(arguments: Mode.possible) func severalCloses(mode: Mode) throws {
    let clip = try Fixtures.clip("blue")
    try onShare(mode) { share in
      let events = try EventLog(share)
      try share.python(
        """
        data = open("\(clip)", "rb").read()
        os.close(os.open("a.mp4", os.O_CREAT | os.O_WRONLY)); say("look")
        f = os.open("a.mp4", os.O_WRONLY); os.write(f, data); os.close(f); say("whole")
        os.close(os.open("a.mp4", os.O_RDWR)); os.close(os.open("a.mp4", os.O_WRONLY | os.O_APPEND))
        subprocess.check_call(["touch", "a.mp4"]); os.utime("a.mp4", (1, 1)); os.chmod("a.mp4", 0o600)
        """
      ) { (word: String) throws in
        if word == "whole" { #expect(try share.colour(".thumbs/a.mp4.png") == "blue") }
      }
      try share.waitUntilIdle()
      let version = try share.row("a.mp4")?.version
      #expect(try share.document("a.mp4").state == .settled)
      try eventually("its verdict is announced") { events.count("ready", "a.mp4") == 1 }
      #expect(try share.row("a.mp4")?.version == version)
      #expect(events.count("ready", "a.mp4") == 1)
    }
  }

  /// Our own pictures never become documents, neither here nor in a share that a share was copied into (immich 7980).
  @Test(arguments: Mode.possible) func picturesAreNoDocuments(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.shell("mkdir -p trip && cp '\(clip)' a.mp4 && cp '\(clip)' trip/b.mp4")
      try share.waitUntilIdle()
      #expect(try share.run("rsync", "-a", share.folder + "/", share.base + "/out/") == 0)
      #expect(try share.run("cmp", share.base + "/out/trip/b.mp4", clip) == 0)
      #expect(try share.colour(".thumbs/a.mp4.png") == "red")
      try onShare(mode) { second in
        // The copy of the view is refused, all else arrives.
        #expect(try second.run("cp", "-r", share.folder + "/.", second.folder + "/") == 1)
        try second.waitUntilIdle()
        #expect(try second.list().map { $0.path } == ["a.mp4", "trip/b.mp4"])
      }
      #expect(try share.run("find", share.folder) == 0 && share.run("du", "-s", share.folder) == 0)
      #expect(try share.shell("touch .thumbs/x 2>/dev/null") != 0)
      #expect(try share.shell("rm -rf .thumbs") == 0)
      #expect(try share.shell("mkdir trip/.thumbs && cp '\(clip)' trip/.thumbs/c.mp4") == 0)
      try eventually("the view is back", seconds: 15) { try share.exists(".thumbs/trip/b.mp4.png") }
      try share.waitUntilIdle()
      #expect(try share.list().map { $0.path } == ["a.mp4", "trip/b.mp4"])
    }
  }

  /// Names are bytes (DroppedNeedle 230).
  @Test(arguments: Mode.possible) func namesAreBytes(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    try onShare(mode) { share in
      let events = try EventLog(share)
      try share.python(
        #"""
        data = open("CLIP", "rb").read()
        os.mkdir(b"No\xebl")
        names = [b"caf\xe9.mp4", b"\xff\xfe.mp4", b"No\xebl/v.mp4", b"a\r", b"new\nline.mp4", b"x" * 251 + b".mp4", b"back\\slash.mp4",
                 "e\u0301.mp4".encode(), "\u00e9.mp4".encode(), b"-i.mp4", b"a:b.mp4", b"concat:a|b.mp4", b"100%d.mp4", b"plain.mp4"]
        for name in names:
            open(name, "wb").write(data); assert open(name, "rb").read() == data
            os.rename(name, name + b"2") if len(name) < 200 else None; os.rename(name + b"2", name) if len(name) < 200 else None
        for name in names:
            folder, _, last = name.rpartition(b"/")
            where = b".thumbs/" + (folder + b"/" if folder else b"")
            if len(last) <= 251: assert open(where + last + b".png", "rb").read(4) == b"\x89PNG", name
            else: say("long"); assert [n for n in os.listdir(where) if n.startswith(b"x" * 200) and len(n) <= 255], os.listdir(where)
        os.unlink(b"a\r"); assert b"a\r.png" not in os.listdir(b".thumbs")
        """#.replacing("CLIP", with: clip)
      ) { _ in try share.waitUntilIdle() }
      try share.waitUntilIdle()
      let rows = try share.list()
      #expect(rows.count == 13)
      #expect(rows.allSatisfy { $0.verdict == "ready" })
      #expect(rows.contains { $0.path == "caf\\xe9.mp4" } && rows.contains { $0.path == "plain.mp4" })
      try eventually("all are announced") { Set(events.all.filter { $0.event == "ready" }.map { $0.path }).count >= 13 }
    }
  }

  /// An overwritten file shows its new picture, also with the same size and time (owncloud 27699).
  @Test(arguments: Mode.possible) func overwritten(mode: Mode) throws {
    let (red, blue, green) = (try Fixtures.clip("red"), try Fixtures.clip("blue"), try Fixtures.clip("green"))
    try onShare(mode) { share in
      let same = share.base + "/same"
      // All of one size and one time.
      try share.shell(
        """
        mkdir \(same); size=$(stat -c %s '\(red)' '\(blue)' '\(green)' | sort -n | tail -1)
        for c in red blue green; do cp "\(Fixtures.folder)/$c-1-160x90.mp4" \(same)/$c.mp4; truncate -s $((size + 8)) \(same)/$c.mp4; \
        touch -d '2001-02-03 04:05:06' \(same)/$c.mp4; done
        """)
      func look(_ colour: String, _ how: String) throws {
        #expect(try share.shell(how) == 0, "\(how)")
        #expect(try share.colour(".thumbs/a.mp4.png") == colour, "after \(how)")
        #expect(
          try share.output("stat", ["-c", "%Y", share.folder + "/.thumbs/a.mp4.png"])
            == share.output("stat", ["-c", "%Y", share.folder + "/a.mp4"]))
      }
      try look("red", "cp -p \(same)/red.mp4 a.mp4")
      let first = try share.row("a.mp4")
      try look("blue", "cp -p \(same)/blue.mp4 a.mp4")
      try look("green", "cp -p \(same)/green.mp4 .new && mv -f .new a.mp4")
      try look("red", "dd if=\(same)/red.mp4 of=a.mp4 conv=notrunc status=none && touch -d '2001-02-03 04:05:06' a.mp4")
      try look("blue", "rsync -a --ignore-times \(same)/blue.mp4 a.mp4")
      try look("green", "rsync -a --ignore-times --inplace \(same)/green.mp4 a.mp4")
      try look("red", "rm a.mp4 && cp -p \(same)/red.mp4 a.mp4")
      try look("blue", "cp -p \(same)/blue.mp4 b.mp4 && mv b.mp4 a.mp4")
      #expect(try share.list().count == 1)
      #expect(first != nil)
    }
  }

  /// An asset's id lasts over rewrite and rename; a rename of a folder makes no new pictures.
  @Test(arguments: Mode.possible) func identityLasts(mode: Mode) throws {
    let (red, blue) = (try Fixtures.clip("red"), try Fixtures.clip("blue"))
    try onShare(mode) { share in
      try share.shell("mkdir d && for i in 1 2 3 4 5 6 7 8 9; do cp '\(red)' d/$i.mp4; done")
      try share.waitUntilIdle()
      let before = Dictionary(uniqueKeysWithValues: try share.list().map { ($0.path, $0) })
      let events = try EventLog(share)
      try share.shell("mv d e && mv e/1.mp4 one.mp4 && mkdir f && mv e/2.mp4 f/ && mv e f/")
      for path in [".thumbs/one.mp4.png", ".thumbs/f/2.mp4.png", ".thumbs/f/e/9.mp4.png"] {
        #expect(try share.colour(path) == "red")
      }
      #expect(try !share.exists(".thumbs/d") && !share.exists(".thumbs/e"))
      try share.waitUntilIdle()
      func same(_ old: String, _ new: String) throws {
        let row = try share.row(new)
        #expect(row?.id == before[old]?.id && row?.version == before[old]?.version, "\(old) \(new)")
      }
      try same("d/1.mp4", "one.mp4")
      try same("d/2.mp4", "f/2.mp4")
      for index in 3...9 { try same("d/\(index).mp4", "f/e/\(index).mp4") }
      #expect(!events.all.contains { $0.event == "thumbnail" || $0.event == "closed" })
      // Rewritten in place, and by a temporary file over it.
      try share.shell("cat '\(blue)' > one.mp4 && cp '\(blue)' f/.2.mp4.tmp && mv f/.2.mp4.tmp f/2.mp4")
      #expect(try share.colour(".thumbs/one.mp4.png") == "blue")
      #expect(try share.colour(".thumbs/f/2.mp4.png") == "blue")
      #expect(try share.row("one.mp4")?.id == before["d/1.mp4"]?.id)
      #expect(try share.row("f/2.mp4")?.id == before["d/2.mp4"]?.id)
      // And over a remount, with moves and changes that nobody saw.
      try share.unmount()
      try share.shell("mv f/e g && mv one.mp4 two.mp4 && rm g/3.mp4 && cp '\(red)' new.mp4 && cat '\(red)' > f/2.mp4")
      #expect(try share.list().count == 9)
      try share.mount()
      try share.waitUntilIdle()
      #expect(try share.row("two.mp4")?.id == before["d/1.mp4"]?.id)
      #expect(try share.row("g/9.mp4")?.id == before["d/9.mp4"]?.id)
      #expect(try share.row("g/9.mp4")?.version == before["d/9.mp4"]?.version)
      #expect(try share.row("f/2.mp4")?.id == before["d/2.mp4"]?.id)
      #expect(try share.row("g/3.mp4") == nil)
      #expect(try share.colour(".thumbs/f/2.mp4.png") == "red")
      #expect(try share.colour(".thumbs/new.mp4.png") == "red")
      #expect(try share.colour(".thumbs/two.mp4.png") == "blue")
    }
  }

  /// A closed duplicate is not the end (rclone 3381), nor does anything overtake a close (boxfs2 15).
  @Test(arguments: Mode.possible) func closesInOrder(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      let events = try EventLog(share)
      try share.python(
        """
        data = open("\(clip)", "rb").read()
        f = os.open("a.mp4", os.O_CREAT | os.O_WRONLY); d = os.dup(f); os.write(f, data[:1000]); os.close(d); say("open")
        os.write(f, data[1000:]); os.close(f); say("closed")
        subprocess.check_call("(head -c 2000 '\(clip)'; tail -c +2001 '\(clip)') > b.mp4", shell=True); say("shell")
        for i in range(1000):
            f = os.open("x%d.mp4" % i, os.O_CREAT | os.O_WRONLY); os.write(f, b"x"); os.close(f); os.unlink("x%d.mp4" % i)
        for i in range(50):
            f = os.open("y", os.O_CREAT | os.O_WRONLY | os.O_TRUNC); os.write(f, data); os.close(f); os.rename("y", "z.mp4"); os.utime("z.mp4", (i, i))
        f = os.open("c.mp4", os.O_CREAT | os.O_WRONLY); g = os.open("c.mp4", os.O_WRONLY); os.write(f, data); os.close(f); say("second"); os.close(g)
        """
      ) { (word: String) throws in
        switch word {
        case "open": #expect(try share.document("a.mp4").state == .writing && events.count("closed", "a.mp4") == 0)
        case "closed": #expect(try share.colour(".thumbs/a.mp4.png") == "red")
        case "shell": #expect(try share.colour(".thumbs/b.mp4.png") == "red")
        default: #expect(try share.document("c.mp4").writers == 1)
        }
      }
      #expect(try share.colour(".thumbs/z.mp4.png") == "red")
      #expect(try share.colour(".thumbs/c.mp4.png") == "red")
      try share.waitUntilIdle()
      #expect(try share.list().map { $0.path } == ["a.mp4", "b.mp4", "c.mp4", "z.mp4"])
      #expect(
        try share.names(".thumbs") == [
          "CACHEDIR.TAG", ".nomedia", "index.html", "a.mp4.png", "b.mp4.png", "c.mp4.png", "z.mp4.png",
        ])
    }
  }

  /// Copies inside of the mount are copies (bazil/fuse 176).
  @Test(arguments: Mode.possible) func copiesInside(mode: Mode) throws {
    let clip = try Fixtures.clip("blue", seconds: 5, size: "640x360")
    try onShare(mode) { share in
      try share.run("cp", clip, share.folder + "/a.mp4")
      for (name, how) in [
        ("b.mp4", "cp a.mp4 b.mp4"), ("c.mp4", "cp --reflink=auto a.mp4 c.mp4"),
        ("d.mp4", "cp --sparse=always a.mp4 d.mp4"),
        (
          "e.mp4",
          "python3 -c 'import os; a = os.open(\"a.mp4\", 0); b = os.open(\"e.mp4\", 65); n = os.stat(a).st_size; "
            + "os.copy_file_range(a, b, n // 2); os.copy_file_range(a, b, n)'"
        ),
        (
          "f.mp4",
          "python3 -c 'import os; a = os.open(\"a.mp4\", 0); b = os.open(\"f.mp4\", 65); n = os.stat(a).st_size; os.unlink(\"a.mp4\"); "
            + "i = 0\nwhile i < n: i += os.sendfile(b, a, i, n)'"
        ),
      ] {
        #expect(try share.shell(how) == 0, "\(how)")
        #expect(try share.run("cmp", clip, share.folder + "/" + name) == 0)
        #expect(try share.colour(".thumbs/\(name).png") == "blue", "\(name)")
      }
    }
  }

  /// After kill -9 the share mounts again by itself, and what was half is not whole (libfuse 41).
  @Test(arguments: Mode.possible) func daemonKilled(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 20, size: "640x360")
    try onShare(mode) { share in
      try share.shell("for i in 1 2 3; do cp '\(clip)' $i.mp4; done")
      try share.waitUntilIdle()
      let before = try share.list()
      try share.shell("cp '\(clip)' 4.mp4 && cp '\(clip)' 5.mp4 && head -c 30000 '\(clip)' > half.mp4")
      kill(try share.status().pid, SIGKILL)
      try eventually("the mount is dead") { try !share.exists("1.mp4") }
      try share.mount()
      try share.waitUntilIdle()
      let after = try share.list()
      #expect(after.map { $0.path } == ["1.mp4", "2.mp4", "3.mp4", "4.mp4", "5.mp4", "half.mp4"])
      #expect(Array(after.prefix(3)).map { $0.id } == before.map { $0.id })
      #expect(after.last?.verdict == "incomplete")
      for name in ["1", "4", "5"] { #expect(try share.colour(".thumbs/\(name).mp4.png") == "red") }
      #expect(try share.run("cmp", clip, share.folder + "/5.mp4") == 0)
      #expect(try share.output("sqlite3", [share.state + "/catalog.sqlite", "pragma integrity_check"]) == "ok\n")
    }
  }

  /// A killed copy is told apart from a whole file.
  @Test(arguments: Mode.possible) func killedCopy(mode: Mode) throws {
    let clip = try Fixtures.clip("green", seconds: 20, size: "640x360")
    try onShare(mode) { share in
      try share.python(
        """
        data = open("\(clip)", "rb").read(); r, w = os.pipe(); child = os.fork()
        if child == 0:
            f = os.open("a.mp4", os.O_CREAT | os.O_WRONLY); os.write(f, data[:len(data) * 6 // 10]); os.write(w, b"x"); time.sleep(60)
        os.read(r, 1); os.kill(child, signal.SIGKILL); os.wait()
        """)
      #expect(try share.exists(".thumbs/a.mp4.png"))
      try share.waitUntilIdle()
      #expect(try share.row("a.mp4")?.verdict == "incomplete")
    }
  }

  /// Times stay as they were set (seaweedfs 9363); a second rsync finds nothing to do, and --delete leaves the view in peace.
  @Test(arguments: Mode.possible) func rsyncTwice(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      let source = share.base + "/source"
      try share.shell("mkdir -p \(source)/trip && cp '\(clip)' \(source)/a.mp4 && cp '\(clip)' \(source)/trip/b.mp4")
      try share.shell("touch -d '2001-02-03 04:05:06.123456789' \(source)/a.mp4 \(source)/trip/b.mp4")
      for _ in 1...2 {
        #expect(try share.run("rsync", "-a", "--delete", source + "/", share.folder + "/") == 0)
        #expect(try share.colour(".thumbs/trip/b.mp4.png") == "red" || !share.exists(".thumbs"))
      }
      try eventually("the view is back", seconds: 15) { try share.exists(".thumbs/trip/b.mp4.png") }
      try share.waitUntilIdle()
      #expect(try share.output("rsync", ["-ain", source + "/", share.folder + "/"]) == "")
      #expect(try share.output("stat", ["-c", "%y", share.folder + "/a.mp4"]).contains("04:05:06.123456789"))
      #expect(try share.colour(".thumbs/a.mp4.png") == "red")
    }
  }
}
