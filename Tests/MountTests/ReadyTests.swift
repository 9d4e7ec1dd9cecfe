import Glibc
import Posix
import Testing

/// `.ready`: what is in it is whole.
@Suite("Ready", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct ReadyTests {
  /// What is being written, cut off, damaged or temporary is not there; it comes when it is ready, and goes when somebody writes it.
  @Test(arguments: Mode.possible) func itHoldsWhatIsWhole(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 4)
    try onShare(mode) { share in
      try share.python(
        """
        data = open("\(clip)", "rb").read(); half = len(data) // 2; os.mkdir("d")
        f = os.open("d/a.mp4", os.O_CREAT | os.O_WRONLY); os.write(f, data[:half])
        assert os.listdir(".ready/d") == [] and not os.path.exists(".ready/d/a.mp4")
        os.write(f, data[half:]); os.close(f)
        # Who opens right after a copy finds it.
        assert open(".ready/d/a.mp4", "rb").read() == data and os.listdir(".ready/d") == ["a.mp4"]
        real, ready = os.stat("d/a.mp4"), os.stat(".ready/d/a.mp4")
        assert (real.st_size, real.st_mode, real.st_uid, real.st_mtime_ns) == (ready.st_size, ready.st_mode, ready.st_uid, ready.st_mtime_ns)
        assert os.path.samefile("d/a.mp4", ".ready/d/a.mp4")
        m = mmap.mmap(os.open(".ready/d/a.mp4", os.O_RDONLY), 0, access=mmap.ACCESS_READ); assert m[:] == data; m.close()
        open("d/cut.mp4", "wb").write(data[:half]); open(".hidden.mp4", "wb").write(data); os.symlink("a.mp4", "d/link.mp4")
        open("note.txt", "w").write("hello")
        assert open(".ready/note.txt").read() == "hello" and not os.path.exists(".ready/d/cut.mp4")
        assert sorted(os.listdir(".ready")) == ["d", "note.txt"] and os.listdir(".ready/d") == ["a.mp4"]
        assert not os.path.exists(".ready/.hidden.mp4") and not os.path.lexists(".ready/d/link.mp4")
        # Never stale: what is written is seen, through a handle from before too, and the name is gone meanwhile.
        old = os.open(".ready/d/a.mp4", os.O_RDONLY); assert os.pread(old, 4, 0) == data[:4]
        w = os.open("d/a.mp4", os.O_RDWR); os.pwrite(w, b"XXXX", 0)
        assert os.pread(old, 4, 0) == b"XXXX" and not os.path.exists(".ready/d/a.mp4")
        os.pwrite(w, data[:4], 0); os.close(w)
        assert open(".ready/d/a.mp4", "rb").read() == data and os.pread(old, 4, 0) == data[:4]; os.close(old)
        os.rename("d/a.mp4", "d/b.mp4"); assert os.listdir(".ready/d") == ["b.mp4"] and not os.path.exists(".ready/d/a.mp4")
        os.rename("d", "e"); assert open(".ready/e/b.mp4", "rb").read() == data and not os.path.exists(".ready/d")
        os.unlink("e/b.mp4"); assert os.listdir(".ready/e") == []
        """)
    }
  }

  @Test(arguments: Mode.possible) func nobodyWritesThere(mode: Mode) throws {
    let clip = try Fixtures.clip("green")
    try onShare(mode) { share in
      try share.python(
        """
        def refused(*errors):
            def call(f, *a):
                try: f(*a)
                except OSError as e: assert e.errno in errors, (f, a, e)
                else: assert False, (f, a)
            return call
        open("a.mp4", "wb").write(open("\(clip)", "rb").read()); assert os.path.exists(".ready/a.mp4")
        no = refused(errno.EROFS)
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC): no(os.open, ".ready/a.mp4", flags)
        no(os.open, ".ready/b", os.O_CREAT | os.O_WRONLY); no(os.mkdir, ".ready/d"); no(os.unlink, ".ready/a.mp4")
        no(os.rename, ".ready/a.mp4", "x"); no(os.rename, "a.mp4", ".ready/x"); no(os.symlink, "x", ".ready/l")
        no(os.truncate, ".ready/a.mp4", 0); no(os.chmod, ".ready/a.mp4", 0o600); no(os.utime, ".ready/a.mp4", (1, 1)); refused(errno.EEXIST)(os.mkdir, ".ready")
        no(os.rmdir, ".ready")
        refused(errno.EROFS, errno.EXDEV)(os.link, ".ready/a.mp4", "l")
        assert ".ready" not in os.listdir(".") and open("a.mp4", "rb").read() == open("\(clip)", "rb").read()
        """)
    }
  }

  @Test(arguments: Mode.possible) func itIsListedOrOffOnRequest(mode: Mode) throws {
    try onShare(mode, options: ["ready=listed"]) { (share: Share) throws in
      #expect(try share.names("").contains(".ready"))
      #expect(try share.run("find", share.folder) == 0)
    }
    try onShare(mode, options: ["ready=off"]) { (share: Share) throws in
      #expect(try !share.exists(".ready") && share.shell("mkdir .ready && rmdir .ready") == 0)
    }
  }

  /// A watcher of a folder sees documents come when they are ready and go when they are not.
  @Test(arguments: Mode.possible) func watchersAreTold(mode: Mode) throws {
    let clip = try Fixtures.clip("blue")
    try onShare(mode) { share in
      let watcher = try share.start(
        "python3",
        [
          "-c",
          """
          import ctypes, os, struct, sys
          libc = ctypes.CDLL(None, use_errno=True); fd = libc.inotify_init()
          assert libc.inotify_add_watch(fd, b"\(share.folder)/.ready", 0x100 | 0x200) >= 0
          print("watching", flush=True)
          while True:
              data = os.read(fd, 65536); i = 0
              while i < len(data):
                  wd, mask, cookie, n = struct.unpack_from("iIII", data, i)
                  print("CREATE" if mask & 0x100 else "DELETE", data[i + 16:i + 16 + n].rstrip(b"\\0").decode(), flush=True); i += 16 + n
          """,
        ])
      func seen() throws -> [String] { try watcher.output().split(separator: "\n").map(String.init) }
      try eventually("it watches") { try seen() == ["watching"] }
      try share.run("cp", clip, "\(share.folder)/a.mp4")
      try eventually("it appears") { try seen().last == "CREATE a.mp4" }
      try share.shell("head -c $(($(stat -c %s \(clip)) / 2)) \(clip) > cut.mp4; echo more >> a.mp4")
      try eventually("it goes and comes") {
        try seen().dropFirst() == ["CREATE a.mp4", "DELETE a.mp4", "CREATE a.mp4"]
      }
      try share.shell("mv a.mp4 b.mp4")
      try eventually("it moves") { try seen().dropFirst(4) == ["DELETE a.mp4", "CREATE b.mp4"] }
      try share.shell("rm b.mp4")
      try eventually("it goes") { try seen().last == "DELETE b.mp4" }
      try watcher.end()
    }
  }

  /// Its permissions are those of the documents.
  @Test(.enabled(if: Mode.possible.count == 3)) func othersSeeWhatTheyMaySee() throws {
    for mode in [Mode.passthrough, .nopassthrough] {
      try onShare(mode) { share in
        try share.shell(
          "echo open > open.txt; echo secret > secret.txt; chmod 600 secret.txt; mkdir -m 700 d; echo x > d/x.txt")
        #expect(
          try share.sharefs(["wait"] + ["open.txt", "secret.txt", "d/x.txt"].map { "\(share.folder)/\($0)" }) == 0)
        let other = ["--reuid=65534", "--regid=65534", "--clear-groups", "cat"]
        func read(_ name: String) throws -> Int32 {
          try share.call("setpriv", other + ["\(share.folder)/.ready/\(name)"]).code
        }
        #expect(try read("open.txt") == 0)
        #expect(try read("secret.txt") != 0)
        #expect(try read("d/x.txt") != 0)
      }
    }
  }
}
