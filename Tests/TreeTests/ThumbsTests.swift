import Contracts
import Posix
import Testing

@testable import Tree

@Suite("The .thumbs view", .serialized, .enabled(if: TestMount.isPossible, "mounting needs root and /dev/fuse"))
struct ThumbsTests {
  /// A document whose picture is made.
  private func add(_ mount: TestMount, _ name: String, _ picture: String, version: Int64 = 1) throws {
    try mount.run("sh", "-c", "printf x > '\(mount.folder)/\(name)'")
    mount.pictures.ready(try mount.inode(name), version: version, picture)
  }

  @Test(arguments: [true, false]) func mirrors(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.run("mkdir", "-p", mount.folder + "/trip/day1", mount.folder + "/empty/below", mount.folder + "/.git")
      try add(mount, "a.mp4", "A")
      try add(mount, "trip/day1/b.mov", "BB")
      try add(mount, ".git/c", "C")
      try mount.run("sh", "-c", "printf x > '\(mount.folder)/d.mp4.part'; ln -s a.mp4 '\(mount.folder)/l.mp4'")
      #expect(try mount.names("") == [".thumbs", "a.mp4", "trip", "empty", ".git", "d.mp4.part", "l.mp4"])
      #expect(try mount.names(".thumbs") == ["CACHEDIR.TAG", ".nomedia", "a.mp4.png", "trip"])
      #expect(try mount.names(".thumbs/trip") == ["day1"])
      #expect(try mount.names(".thumbs/trip/day1") == ["b.mov.png"])
      #expect(try mount.text(".thumbs/trip/day1/b.mov.png") == "BB")
      #expect(try mount.text(".thumbs/CACHEDIR.TAG").hasPrefix("Signature: 8a477f597d28d172789f06886806bc55"))
      try mount.run("mv", mount.folder + "/trip", mount.folder + "/journey")
      #expect(try mount.text(".thumbs/journey/day1/b.mov.png") == "BB")
      #expect(throws: Errno.noEntry) { try mount.text(".thumbs/trip/day1/b.mov.png") }
      for name in [".git/c.png", "d.mp4.part.png", "l.mp4.png", "a.mp4", "x.png"] {
        #expect(throws: Errno.noEntry, "\(name)") { try mount.text(".thumbs/" + name) }
      }
    }
  }

  @Test func trueAttributes() throws {
    try onMount(passthrough: true) { mount in
      try add(mount, "a.mp4", "picture")
      try mount.run("chown", "1234:567", mount.folder + "/a.mp4")
      try mount.run("chmod", "604", mount.folder + "/a.mp4")
      try mount.run("touch", "-d", "2001-02-03 04:05:06.789", mount.folder + "/a.mp4")
      let document = try FileStatus.of(path: mount.folder + "/a.mp4")
      let picture = try FileStatus.of(path: mount.folder + "/.thumbs/a.mp4.png")
      #expect(picture.size == 7 && picture.blocks == 8 && picture.permissions == 0o604)
      #expect(picture.user == 1234 && picture.group == 567 && picture.modified == document.modified)
      #expect(try FileStatus.of(path: mount.folder + "/.thumbs/a.mp4.png").inode == picture.inode)
      #expect(try FileStatus.of(path: mount.folder + "/.thumbs").permissions == 0o700)
      try mount.run("chmod", "0600", mount.folder + "/a.mp4")
      try mount.run("chmod", "0777", mount.folder)
      #expect(
        try mount.run("setpriv", "--reuid=65534", "--clear-groups", "cat", mount.folder + "/.thumbs/a.mp4.png") != 0)
      #expect(try FileStatus.of(path: mount.folder + "/.thumbs").permissions == 0o755)
    }
  }

  /// A lookup right after the close waits for the picture; no thread does.
  @Test(arguments: [true, false]) func readAfterClose(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python(
        """
        open("a.mp4", "w").write("x"); say("written")
        r, w = os.pipe(); children = []
        for i in range(20):
            if os.fork() == 0:
                assert open(".thumbs/a.mp4.png").read() == "PNG"; os._exit(0)
        os.listdir("."); say("waiting")
        for i in range(20): assert os.wait()[1] == 0
        """
      ) { word in
        let inode = try mount.inode("a.mp4")
        if word == "written" { mount.pictures.making(inode) }
        if word == "waiting" {
          let deadline = Clock.now() + Clock.seconds(5)
          while mount.pictures.waiting == 0, Clock.now() < deadline {}
          #expect(mount.pictures.waiting > 0)
          mount.pictures.ready(inode, version: 1, "PNG")
        }
      }
    }
  }

  /// Who lists right after a copy sees what was copied, in new folders too.
  @Test func listingAfterClose() throws {
    try onMount(passthrough: true) { mount in
      try mount.python(
        """
        os.makedirs("d/e"); open("d/e/a.mp4", "w").write("x"); open("b.mp4", "w").write("x"); say("written")
        if os.fork() == 0:
            assert sorted(os.listdir(".thumbs")) == [".nomedia", "CACHEDIR.TAG", "b.mp4.png", "d"], os.listdir(".thumbs")
            assert os.listdir(".thumbs/d/e") == ["a.mp4.png"]; os._exit(0)
        say("listing"); assert os.wait()[1] == 0
        """
      ) { (word: String) throws in
        let inodes = [try mount.inode("d/e/a.mp4"), try mount.inode("b.mp4")]
        if word == "written" { for inode in inodes { mount.pictures.making(inode) } }
        if word == "listing" {
          let deadline = Clock.now() + Clock.seconds(0.7)
          while mount.pictures.waiting == 0, Clock.now() < deadline {}
          for inode in inodes { mount.pictures.ready(inode, version: 1, "P") }
        }
      }
    }
  }

  @Test func unknownDocumentsAreAskedFor() throws {
    try onMount(passthrough: true) { mount in
      try mount.run("sh", "-c", "printf x > '\(mount.folder)/a.mp4'")
      let inode = try mount.inode("a.mp4")
      mount.recorder.forget()
      try mount.python(
        """
        if os.fork() == 0:
            assert open(".thumbs/a.mp4.png").read() == "P"; os._exit(0)
        say("asked"); assert os.wait()[1] == 0
        """
      ) { _ in
        #expect(mount.recorder.wait { $0 == ["seen a.mp4"] })
        mount.pictures.ready(inode, version: 1, "P")
      }
    }
  }

  /// Whoever waits for a picture can be interrupted, and killed.
  @Test func waitCanBeInterrupted() throws {
    try onMount(passthrough: true) { mount in
      try mount.run("sh", "-c", "printf x > '\(mount.folder)/a.mp4'")
      mount.pictures.making(try mount.inode("a.mp4"))
      try mount.python(
        """
        for number in (signal.SIGTERM, signal.SIGKILL):
            p = subprocess.Popen(["cat", ".thumbs/a.mp4.png"])
            say("started"); p.send_signal(number); assert p.wait() == -number
        """
      ) { _ in
        let deadline = Clock.now() + Clock.seconds(5)
        while mount.pictures.waiting == 0, Clock.now() < deadline {}
        #expect(mount.pictures.waiting == 1)
      }
      let deadline = Clock.now() + Clock.seconds(5)
      while mount.pictures.waiting != 0, Clock.now() < deadline {}
      #expect(mount.pictures.waiting == 0)
    }
  }

  @Test(arguments: [true, false]) func freshContent(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try add(mount, "a.mp4", "red")
      let inode = try mount.inode("a.mp4")
      let before = try FileStatus.of(path: mount.folder + "/.thumbs/a.mp4.png")
      #expect(try mount.text(".thumbs/a.mp4.png") == "red")
      mount.pictures.ready(inode, version: 2, "blue!")
      #expect(try mount.text(".thumbs/a.mp4.png") == "blue!")
      #expect(try FileStatus.of(path: mount.folder + "/.thumbs/a.mp4.png").size == 5)
      mount.pictures.ready(inode, version: 3, "green")
      #expect(try mount.text(".thumbs/a.mp4.png") == "green")
      #expect(try FileStatus.of(path: mount.folder + "/.thumbs/a.mp4.png").inode == before.inode)
    }
  }

  @Test func oldPictureWhileWriting() throws {
    try onMount(passthrough: true) { mount in
      try add(mount, "a.mp4", "old")
      try mount.python(
        """
        a = os.open("a.mp4", os.O_WRONLY); os.write(a, b"yy"); say("open")
        b = os.open("b.mp4", os.O_WRONLY | os.O_CREAT); os.write(b, b"yy"); say("new")
        """
      ) { word in
        if word == "open" {
          mount.pictures.making(try mount.inode("a.mp4"))
          #expect(try mount.text(".thumbs/a.mp4.png") == "old")
        } else {
          #expect(throws: Errno.noEntry) { try mount.text(".thumbs/b.mp4.png") }
          #expect(try mount.names(".thumbs") == ["CACHEDIR.TAG", ".nomedia", "a.mp4.png"])
        }
      }
    }
  }

  @Test(arguments: [true, false]) func refusesChanges(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try add(mount, "a.mp4", "P")
      try mount.run("mkdir", mount.folder + "/d")
      try add(mount, "d/b.mp4", "Q")
      try mount.python(
        """
        import errno
        def refused(call, *arguments):
            try: call(*arguments)
            except OSError as e: assert e.errno in (errno.EROFS, errno.EPERM), (call, arguments, e)
            else: raise AssertionError((call, arguments))
        t = ".thumbs/"
        refused(os.open, t + "x", os.O_CREAT | os.O_WRONLY); refused(os.open, t + "a.mp4.png", os.O_WRONLY)
        refused(os.open, t + "a.mp4.png", os.O_RDWR); refused(os.truncate, t + "a.mp4.png", 0)
        refused(os.mkdir, t + "x"); refused(os.symlink, "a", t + "x"); refused(os.mkfifo, t + "x"); refused(os.mknod, t + "x")
        refused(os.rename, t + "a.mp4.png", t + "x"); refused(os.rename, t + "a.mp4.png", "x"); refused(os.rename, "a.mp4", t + "x")
        refused(os.link, t + "a.mp4.png", "x"); refused(os.link, "a.mp4", t + "x"); refused(os.rename, ".thumbs", "y")
        refused(os.rename, t + "d", "e")
        os.chmod(t + "a.mp4.png", 0o777); os.chown(t + "a.mp4.png", 5, 5); os.utime(t + "a.mp4.png", (1, 1)); os.chmod(t + "d", 0o700)
        assert os.stat(t + "a.mp4.png").st_uid == 0 and os.stat(t + "a.mp4.png").st_mtime > 5
        assert os.listxattr(t + "a.mp4.png") == []
        try: os.mkdir(".thumbs")
        except FileExistsError: pass
        """)
      // Nothing of it has come to the user's folder.
      #expect(try mount.names("") == [".thumbs", "a.mp4", "d"])
    }
  }

  /// Deleting succeeds, and what was deleted is away for a while; then it is back, and the document was never touched.
  @Test func deletionHides() throws {
    try onMount(passthrough: true) { mount in
      try add(mount, "a.mp4", "P")
      try mount.run("mkdir", mount.folder + "/d")
      try add(mount, "d/b.mp4", "Q")
      #expect(try mount.run("rm", "-r", mount.folder + "/.thumbs/d") == 0)
      #expect(try mount.names(".thumbs") == ["CACHEDIR.TAG", ".nomedia", "a.mp4.png"])
      #expect(throws: Errno.noEntry) { try mount.text(".thumbs/d/b.mp4.png") }
      #expect(try mount.run("rm", "-rf", mount.folder + "/.thumbs") == 0)
      #expect(try mount.names("") == ["a.mp4", "d"])
      #expect(try mount.run("mkdir", mount.folder + "/.thumbs") != 0)
      let deadline = Clock.now() + HiddenNames.duration + Clock.seconds(2)
      while Clock.now() < deadline, (try? mount.text(".thumbs/d/b.mp4.png")) != "Q" {}
      #expect(try mount.text(".thumbs/d/b.mp4.png") == "Q")
      #expect(try mount.names(".thumbs") == ["CACHEDIR.TAG", ".nomedia", "a.mp4.png", "d"])
    }
  }

  @Test(arguments: [true, false]) func names(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python(
        #"""
        names = [b"caf\xe9.mp4", b"\xff\xfe.mp4", b"a\r", b"new\nline.mp4", b"-i.mp4", b"a:b.mp4", b'"q\'.mp4', b"x" * 255, b"y" * 251,
                 b"z" * 252, "é".encode() * 127, "e\u0301.mp4".encode(), "\u00e9.mp4".encode(), b"clip.mp4"]
        for name in names: open(name, "wb").write(name)
        os.mkdir(b"No\xebl"); open(b"No\xebl/v\xff.mp4", "w").write("1"); os.mkdir(b"clip.mp4.png"); open(b"clip.mp4.png/in.mp4", "w").write("1")
        say("made")
        t = os.fsencode(".thumbs"); shown = set(os.listdir(t)); assert len(shown) == len(names) + 4, shown
        for name in names:
            short = [s for s in shown if b"~" in s and s.startswith(name[:200])]
            if len(name) > 251 or name == b"clip.mp4": thumb, = short; assert len(thumb) <= 255
            else: thumb = name + b".png"; assert thumb in shown
            assert open(t + b"/" + thumb, "rb").read() == b"P%d" % os.stat(name).st_ino
        assert os.listdir(t + b"/No\xebl") == [b"v\xff.mp4.png"]
        assert os.listdir(t + b"/clip.mp4.png") == [b"in.mp4.png"]
        """#
      ) { _ in
        for folder in ["", "No\\xebl", "clip.mp4.png"] {
          let path =
            folder == "No\\xebl"
            ? FileName(Array(mount.folder.utf8) + Array("/No".utf8) + [0xeb] + Array("l".utf8))
            : FileName(mount.folder + "/" + folder)
          var directory = Directory(try Descriptor.open(path, 0))
          while let line = try directory.next() {
            if line.kind == .regular { mount.pictures.ready(line.inode, version: 1, "P\(line.inode)") }
          }
        }
      }
    }
  }

  @Test func hiddenAndOff() throws {
    for mode in [TreeSettings.Thumbs.hidden, .off] {
      let mount = try TestMount(passthrough: true, thumbs: mode)
      defer { #expect(throws: Never.self) { try mount.end() } }
      try add(mount, "a.mp4", "P")
      #expect(try mount.names("") == ["a.mp4"])
      if mode == .hidden {
        #expect(try mount.text(".thumbs/a.mp4.png") == "P")
      } else {
        #expect(throws: Errno.noEntry) { try mount.text(".thumbs/a.mp4.png") }
        #expect(try mount.run("mkdir", mount.folder + "/.thumbs") == 0)
      }
    }
  }

  /// A watcher of the view sees what the daemon makes, changes and takes away.
  @Test(arguments: [true, false]) func watchersAreTold(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.run("sh", "-c", "printf x > '\(mount.folder)/a.mp4'")
      let inode = try mount.inode("a.mp4")
      let status = try FileStatus.of(path: mount.folder + "/a.mp4")
      let document = Document(file: status.id(root: status.device), path: SharePath("a.mp4")!)
      let first = Picture(asset: Int64(inode), version: 1, placeholder: nil, size: 1)
      let second = Picture(asset: Int64(inode), version: 2, placeholder: nil, size: 1)
      try mount.python(
        """
        p = subprocess.Popen(["inotifywait", "-q", "-m", "--format", "%e %f", "-e", "create,attrib,delete", ".thumbs"],
                             stdout=subprocess.PIPE, text=True)
        # Its first watch is there when it can be seen in /proc.
        def watches():
            try: return any("inotify" in open("/proc/%d/fdinfo/%s" % (p.pid, n)).read() for n in os.listdir("/proc/%d/fdinfo" % p.pid))
            except OSError: return False
        while not watches(): time.sleep(0.01)
        seen = []
        for word in ("appears", "changes", "vanishes"):
            say(word); seen.append(p.stdout.readline().strip())
        p.kill(); p.wait()
        assert seen == ["CREATE a.mp4.png", "ATTRIB a.mp4.png", "DELETE a.mp4.png"], seen
        """
      ) { word in
        switch word {
        case "appears":
          mount.pictures.ready(inode, version: 1, "1")
          mount.tree.pictureChanged(of: document, old: nil, new: first)
        case "changes":
          mount.pictures.ready(inode, version: 2, "2")
          mount.tree.pictureChanged(of: document, old: first, new: second)
        default:
          try mount.run("rm", mount.folder + "/a.mp4")
          mount.tree.pictureChanged(of: document, old: second, new: nil)
        }
      }
      #expect(try mount.names("") == [".thumbs"])
    }
  }
}
