import Contracts
import Glibc
import Posix
import Testing

@testable import Tree

/// Each way to write, with real processes, checked for "not before" and "right after".
@Suite("Write streams", .serialized, .enabled(if: TestMount.isPossible, "mounting needs root and /dev/fuse"))
struct StreamsTests {
  /// Runs the program; at each `say("not yet")` nothing may be settled, at each `say("now")` exactly one more version must be.
  private func check(_ passthrough: Bool, _ program: String, versions: Int = 1, of name: String = "f") throws {
    try onMount(passthrough: passthrough) { mount in
      var count = 0
      try mount.python(program) { word in
        mount.barrier()
        switch word {
        case "not yet": #expect(mount.recorder.settled(name).count == count, "settled while a writer was there")
        case "now":
          count += 1
          #expect(mount.recorder.settled(name).count == count, "not settled right after: \(mount.recorder.words)")
        case "forget": mount.recorder.forget()
        default: Issue.record("the unknown word \(word)")
        }
      }
      #expect(count == versions)
      mount.barrier()
      #expect(mount.recorder.settled(name).count == count, "\(mount.recorder.words)")
    }
  }

  @Test(arguments: [true, false]) func duplicate(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_WRONLY); b = os.dup(a)
      os.write(a, b"1"); os.close(a); say("not yet")
      os.write(b, b"2"); say("not yet"); os.close(b); say("now")
      """)
  }

  @Test(arguments: [true, false]) func inheritedDescriptor(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_WRONLY); r, w = os.pipe()
      if os.fork() == 0:
          os.close(w); os.read(r, 1); os.write(a, b"child"); os._exit(0)
      os.write(a, b"parent"); os.close(a); say("not yet")
      os.write(w, b"x"); os.wait(); say("now")
      """)
  }

  @Test(arguments: [true, false]) func descriptorInFlight(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_WRONLY); l, r = socket.socketpair()
      socket.send_fds(l, [b"x"], [a]); os.write(a, b"1"); os.close(a); say("not yet")
      _, fds, _, _ = socket.recv_fds(r, 1, 1); say("not yet")
      os.write(fds[0], b"2"); os.close(fds[0]); say("now")
      """)
  }

  @Test(arguments: [true, false]) func twoWriters(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_WRONLY); b = os.open("f", os.O_WRONLY | os.O_APPEND)
      os.write(a, b"1"); os.close(a); say("not yet")
      c = os.open("f", os.O_RDONLY); os.close(c); say("not yet")
      os.write(b, b"2"); os.close(b); say("now")
      """)
  }

  @Test(arguments: [true, false]) func mappingAfterClose(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_RDWR); os.ftruncate(a, 8192)
      libc = ctypes.CDLL(None, use_errno=True); libc.mmap.restype = ctypes.c_void_p
      p = libc.mmap(None, 8192, 3, 1, a, ctypes.c_long(0)); assert p != ctypes.c_void_p(-1).value
      os.close(a); say("not yet")
      ctypes.memset(p + 4096, 65, 10); say("not yet")
      libc.munmap(ctypes.c_void_p(p), 8192); say("now")
      assert open("f", "rb").read()[4096:4106] == b"A" * 10
      """)
  }

  @Test(arguments: [true, false]) func mappingReopened(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_RDWR); os.ftruncate(a, 4096)
      libc = ctypes.CDLL(None, use_errno=True); libc.mmap.restype = ctypes.c_void_p
      p = libc.mmap(None, 4096, 3, 1, a, ctypes.c_long(0)); os.close(a); say("not yet")
      b = os.open("f", os.O_WRONLY); os.write(b, b"x"); os.close(b); say("not yet")
      libc.munmap(ctypes.c_void_p(p), 4096); say("now")
      """)
  }

  /// What looks like a mapping may end without a word: fanotify's own descriptors are such writers, and every close is told a moment before it is done.
  @Test func endNobodyTellsOf() throws {
    let folder = try TestMount.temporaryFolder()
    let below = try Descriptor.open(folder, O_PATH | O_DIRECTORY)
    let mount = try TestMount(passthrough: true, at: folder)
    try mount.python(
      """
      a = os.open("f", os.O_CREAT | os.O_RDWR); os.write(a, b"1")
      file = b"/proc/%d/fd/\(below.raw)/f" % os.getppid()
      libc = ctypes.CDLL(None, use_errno=True)
      group = libc.fanotify_init(1, os.O_RDWR | os.O_CLOEXEC); assert group >= 0, ctypes.get_errno()
      assert libc.fanotify_mark(group, 1, ctypes.c_uint64(0x20), -100, file) == 0, ctypes.get_errno()
      os.close(os.open(file, os.O_WRONLY))
      # The size of one event: our own looks at the file are others.
      told = os.read(group, 24); writer = int.from_bytes(told[16:20], sys.byteorder); os.close(group)
      os.close(a); say("not yet"); os.close(writer); say("soon")
      """
    ) { word in
      if word == "soon" {
        #expect(mount.recorder.wait { $0.contains("settled f") }, "\(mount.recorder.words)")
      } else {
        mount.barrier()
        #expect(mount.recorder.settled("f").isEmpty)
      }
    }
    try mount.end()
    #expect(try TestMount.execute("rm", "-r", folder) == 0)
  }

  @Test(arguments: [true, false]) func readWriteWithoutMapping(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      for i in range(200):
          a = os.open("f", os.O_CREAT | os.O_RDWR); os.write(a, b"%d" % i); os.close(a); say("now")
      """, versions: 200)
  }

  @Test(arguments: [true, false]) func cutting(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_WRONLY); os.ftruncate(a, 5); say("not yet"); os.close(a); say("now")
      a = os.open("f", os.O_WRONLY); os.ftruncate(a, 3); os.close(a); say("now")
      os.truncate("f", 100); say("now")
      os.truncate("f", 100); say("not yet")
      open("f", "w").close(); say("now")
      """, versions: 4)
  }

  @Test(arguments: [true, false]) func appending(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      for i in range(3):
          a = os.open("f", os.O_CREAT | os.O_WRONLY | os.O_APPEND); os.write(a, b"line\\n"); say("not yet")
          os.close(a); say("now")
      assert open("f").read() == "line\\n" * 3
      """, versions: 3)
  }

  @Test(arguments: [true, false]) func killedWriter(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      r, w = os.pipe(); child = os.fork()
      if child == 0:
          a = os.open("f", os.O_CREAT | os.O_WRONLY); os.write(a, b"half"); os.write(w, b"x"); time.sleep(60)
      os.read(r, 1); say("not yet"); os.kill(child, signal.SIGKILL); os.wait(); say("now")
      """)
  }

  @Test(arguments: [true, false]) func withoutChange(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      a = os.open("f", os.O_CREAT | os.O_WRONLY); os.write(a, b"1"); os.close(a); say("now")
      for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
          os.close(os.open("f", flags)); say("not yet")
      os.utime("f"); os.utime("f", (1, 1)); os.chmod("f", 0o600); os.chown("f", 1, 1)
      os.setxattr("f", "user.x", b"1"); os.rename("f", "g"); os.rename("g", "f"); os.link("f", "h"); os.unlink("h"); say("not yet")
      subprocess.check_call(["touch", "f"]); say("not yet")
      a = os.open("f", os.O_WRONLY); os.utime("f", (5, 5)); os.fchmod(a, 0o644); os.rename("f", "g"); os.rename("g", "f")
      os.setxattr("f", "user.y", b"1"); os.close(a); say("not yet")
      """)
  }

  /// cp -p over a file with the same size and the same time: only the change time tells.
  @Test(arguments: [true, false]) func sameSizeAndTime(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      open("f", "w").write("red"); os.utime("f", (7, 7)); say("now")
      a = os.open("f", os.O_WRONLY); os.write(a, b"blu"); os.utime(a, (7, 7)); os.close(a); say("now")
      a = os.open("f", os.O_WRONLY | os.O_TRUNC); os.write(a, b"grn"); os.utime("f", (7, 7)); os.fchmod(a, 0o600); os.close(a); say("now")
      a = os.open("f", os.O_WRONLY); os.pwrite(a, b"x", 1); os.utime(a, (7, 7)); os.rename("f", "g"); os.rename("g", "f"); os.close(a)
      say("now")
      """, versions: 4)
  }

  @Test(arguments: [true, false]) func copiedInside(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      open("source", "w").write("x" * 100000)
      a = os.open("source", os.O_RDONLY); b = os.open("f", os.O_CREAT | os.O_WRONLY)
      assert os.copy_file_range(a, b, 50000) == 50000; say("not yet")
      os.unlink("source"); os.copy_file_range(a, b, 50000); os.close(b); say("now")
      assert open("f").read() == "x" * 100000
      b = os.open("f", os.O_WRONLY | os.O_TRUNC); os.sendfile(b, a, 0, 100000); say("not yet"); os.close(b); say("now")
      """, versions: 2)
  }

  @Test(arguments: [true, false]) func copiedByPrograms(passthrough: Bool) throws {
    try check(
      passthrough,
      """
      open("source", "w").write("x" * 3000000); subprocess.check_call(["cp", "source", "f"]); say("now")
      subprocess.check_call(["cp", "--reflink=auto", "source", "f"]); say("now")
      subprocess.check_call(["dd", "if=source", "of=f", "conv=notrunc", "bs=64k", "status=none"]); say("now")
      subprocess.check_call(["rsync", "-a", "--inplace", "--ignore-times", "--whole-file", "source", "f"]); say("now")
      subprocess.check_call("cat source > f", shell=True); say("now")
      subprocess.check_call(["cmp", "source", "f"])
      subprocess.check_call(["fallocate", "-l", "4000000", "f"]); say("now")
      """, versions: 6)
  }

  /// rsync, editors, browsers: a temporary name first, then the real one.
  @Test(
    arguments: [true, false],
    [".f.Xy12aB", ".goutputstream-ABCDEF", "f.part", "f.crdownload", "f.filepart", "f~", "f.TMP", ".f"])
  func temporaryName(passthrough: Bool, name: String) throws {
    try check(
      passthrough,
      """
      open("\(name)", "w").write("whole"); say("not yet"); os.rename("\(name)", "f"); say("now")
      open("\(name)", "w").write("other"); say("not yet"); os.rename("\(name)", "f"); say("now")
      a = os.open("\(name)", os.O_CREAT | os.O_WRONLY); os.write(a, b"x"); os.rename("\(name)", "f"); say("not yet")
      os.close(a); say("now")
      open("\(name)", "w").write("linked"); os.unlink("f"); os.link("\(name)", "f"); say("now")
      """, versions: 4)
  }

  @Test(arguments: [true, false]) func rsyncTwice(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      let source = try TestMount.temporaryFolder()
      try mount.run("sh", "-c", "for i in 1 2 3; do head -c 100000 /dev/urandom > \(source)/$i; done")
      #expect(try mount.run("rsync", "-a", source + "/", mount.folder + "/") == 0)
      mount.barrier()
      #expect(mount.recorder.settled.filter { !$0.hasPrefix(".") }.sorted() == ["1", "2", "3"])
      mount.recorder.forget()
      #expect(try mount.run("rsync", "-a", source + "/", mount.folder + "/") == 0)
      mount.barrier()
      #expect(mount.recorder.settled.isEmpty)
      try mount.run("rm", "-rf", source)
    }
  }

  @Test(arguments: [true, false]) func unlinkedAndRenamedWhileOpen(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python(
        """
        a = os.open("gone", os.O_CREAT | os.O_WRONLY); os.write(a, b"1"); os.unlink("gone"); os.close(a)
        os.mkdir("d"); b = os.open("old", os.O_CREAT | os.O_WRONLY); os.write(b, b"1"); os.rename("old", "d/new")
        os.rename("d", "e"); os.close(b)
        """)
      mount.barrier()
      #expect(mount.recorder.settled == ["e/new"])
      #expect(mount.recorder.words.contains("removed gone last"))
    }
  }

  @Test(arguments: [true, false]) func exchangedAndReplaced(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python("open('a', 'w').write('a'); open('b', 'w').write('bb')")
      mount.barrier()
      mount.recorder.forget()
      try mount.python(
        """
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.renameat2(-100, b"a", -100, b"b", 2) == 0
        assert libc.renameat2(-100, b"a", -100, b"b", 1) == -1
        os.rename("a", "b")
        """)
      mount.barrier()
      #expect(mount.recorder.words.filter { $0 != "touched" } == ["exchanged b a", "renamed a b replacing"])
    }
  }

  /// rsync's way: a hidden file gets its real name at the moment at which its stream ends, by a thread of its own where it was mapped.
  @Test(arguments: [true, false]) func renamesThatMeetTheEndOfAStream(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python(
        """
        def work(n):
            for i in range(500):
                a = os.open(".p%d-%d.AbCdEf" % (n, i), os.O_CREAT | os.O_RDWR); os.write(a, b"x" * 5000)
                m = mmap.mmap(a, 5000) if i % 2 else None
                os.close(a)
                if m: m[0] = 7; m.close()
                os.rename(".p%d-%d.AbCdEf" % (n, i), "p%d-%d" % (n, i))
        at_once(2, work)
        """)
      mount.barrier()
      var seen: [String: Int] = [:]
      for name in mount.recorder.settled where name.hasPrefix("p") { seen[name, default: 0] += 1 }
      #expect(seen.count == 1000 && seen.values.allSatisfy { $0 == 1 })
    }
  }

  /// 10,000 short streams from 4 processes; each knows what it did.
  @Test(arguments: [true, false]) func manyShortStreams(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python(
        """
        import random
        def work(n):
            r = random.Random(n)
            for i in range(2500):
                name = "p%d-%d" % (n, i % 50)
                known = os.path.exists(name)
                kind = r.randrange(4) if known else 0
                if kind == 0:
                    a = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC); os.write(a, b"%d" % r.getrandbits(60)); changes[name] = changes.get(name, 0) + 1
                elif kind == 1: a = os.open(name, os.O_WRONLY)
                elif kind == 2: a = os.open(name, os.O_RDWR); os.write(a, b"y%d" % i); changes[name] = changes.get(name, 0) + 1
                else: a = os.open(name, os.O_RDONLY)
                os.close(a)
            with open("/tmp/sharefs-streams-%d-%d" % (os.getppid(), n), "w") as f:
                for name in changes: f.write("%s %d\\n" % (name, changes[name]))
        changes = {}
        at_once(4, work)
        say("done"); import glob
        with open("expected~", "w") as f:
            for n in range(4):
                p = "/tmp/sharefs-streams-%d-%d" % (os.getpid(), n); f.write(open(p).read()); os.unlink(p)
        """)
      mount.barrier()
      var expected: [String: Int] = [:]
      for line in try mount.text("expected~").split(separator: "\n") {
        let parts = line.split(separator: " ")
        expected[String(parts[0])] = Int(parts[1])
      }
      var seen: [String: Int] = [:]
      for name in mount.recorder.settled where name.hasPrefix("p") { seen[name, default: 0] += 1 }
      #expect(expected.values.reduce(0, +) > 4000)
      #expect(seen == expected)
      // Streams of one document never overlap: each started one has ended before the next.
      var open: Set<String> = []
      for word in mount.recorder.words {
        let parts = word.split(separator: " ").map { String($0) }
        if parts[0] == "started" { #expect(open.insert(parts[1]).inserted) }
        if parts[0] == "settled" || parts[0] == "unchanged" { open.remove(parts[1]) }
      }
    }
  }
}
