import Testing

/// The rarer calls: lists of access, inode flags, locks at death, positions in listings, unbuffered data.
extension ParityTests {
  @Test(arguments: [true, false]) func accessLists(passthrough: Bool) throws {
    try same(
      """
      def acl(*entries): return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)
      NONE = 0xffffffff
      default = acl((1, 7, NONE), (2, 6, 4005), (4, 5, NONE), (8, 4, 4006), (16, 7, NONE), (32, 0, NONE))
      os.mkdir("d"); attempt("default", os.setxattr, "d", "system.posix_acl_default", default)
      os.umask(0o077); open("d/f", "w").close(); os.mkdir("d/sub"); os.mkfifo("d/p"); os.close(os.open("d/x", os.O_CREAT, 0o640)); os.symlink("f", "d/l")
      for n in ("d/f", "d/sub", "d/p", "d/x", "d/l"): tell(n, facts(n)); attempt("acl", os.getxattr, n, "system.posix_acl_access", follow_symlinks=False)
      attempt("inherited", os.getxattr, "d/sub", "system.posix_acl_default"); os.chmod("d/f", 0o604); attempt("acl", os.getxattr, "d/f", "system.posix_acl_access")
      open("g", "w").close(); attempt("set", os.setxattr, "g", "system.posix_acl_access", acl((1, 6, NONE), (2, 0, 4005), (4, 4, NONE), (16, 4, NONE), (32, 4, NONE))); tell(facts("g"))
      attempt("wrong", os.setxattr, "g", "system.posix_acl_access", b"nonsense"); attempt("file", os.setxattr, "g", "system.posix_acl_default", default)
      def try_as(uid):
          pid = os.fork()
          if pid == 0:
              os.setgroups([]); os.setgid(uid); os.setuid(uid)
              try: open("g").close(); os._exit(0)
              except OSError as e: os._exit(e.errno)
          return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
      os.chmod(".", 0o755); tell("refused", try_as(4005), "let in", try_as(4007)); attempt("remove", os.removexattr, "g", "system.posix_acl_access"); tell(try_as(4005))
      for size in (4000, 65536, 65537): attempt("size", os.setxattr, "g", "user.large", b"b" * size)
      attempt("name", os.setxattr, "g", "user." + "n" * 251, b""); attempt("kind", os.setxattr, "g", "nonsense.n", b""); attempt("short", os.getxattr, "g", "user.none")
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func inodeFlags(passthrough: Bool) throws {
    try same(
      """
      GET, SET, APPEND, IMMUTABLE, NODUMP = 0x80086601, 0x40086602, 0x20, 0x10, 0x40
      OURS = APPEND | IMMUTABLE | NODUMP
      def all(f): b = bytearray(8); fcntl.ioctl(f, GET, b); return struct.unpack("l", b)[0]
      def get(f): return all(f) & OURS
      # The others stay: without its extents ext4 would lay a file out anew, which it cannot always do.
      def put(f, flags): fcntl.ioctl(f, SET, struct.pack("l", all(f) & ~OURS | flags))
      open("a", "w").write("text"); f = os.open("a", os.O_RDONLY); tell(get(f)); attempt("set", put, f, NODUMP); tell(get(f))
      # The change time is the change's, and the kernel believes no older one.
      before = os.stat("a").st_ctime_ns; time.sleep(0.02); put(f, 0); tell(os.stat("a").st_ctime_ns > before); put(f, NODUMP)
      attempt("append", put, f, APPEND); attempt("write", os.open, "a", os.O_WRONLY); attempt("cut", os.open, "a", os.O_WRONLY | os.O_APPEND | os.O_TRUNC)
      g = os.open("a", os.O_WRONLY | os.O_APPEND); tell(os.write(g, b"more")); attempt("sync", os.fsync, g); attempt("truncate", os.truncate, "a", 0); attempt("unlink", os.unlink, "a"); os.close(g)
      attempt("immutable", put, f, IMMUTABLE); attempt("write", os.open, "a", os.O_WRONLY | os.O_APPEND); attempt("chmod", os.chmod, "a", 0o600)
      attempt("rename", os.rename, "a", "b"); attempt("link", os.link, "a", "c"); attempt("utime", os.utime, "a"); tell(open("a").read())
      attempt("free", put, f, 0); tell(get(f)); open("a", "w").write("x"); os.unlink("a")
      """, passthrough: passthrough)
  }

  /// A program that asks for the mode alone (`stat -c %a`) sees at once that a write has taken the set-id bits.
  @Test(arguments: [true, false]) func setIDBitsGo(passthrough: Bool) throws {
    try same(
      """
      os.chmod(".", 0o777)
      def mode(): return subprocess.check_output(["stat", "-c", "%a", "a"]).decode()
      def write(flags, early):
          open("a", "w").write("text"); os.chown("a", 4001, 4002); os.chmod("a", 0o6777); tell(mode()); pid = os.fork()
          if pid == 0:
              os.setgroups([]); os.setgid(4001); os.setuid(4001); m = mmap.mmap(-1, 4096)
              f = os.open("a", os.O_RDWR | flags)
              if early: os.chmod("a", 0o6777)
              os.writev(f, [m]); seen = mode(); os.close(f); os._exit(int(seen, 8) >> 9)
          tell(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), mode())
      for flags in (0, os.O_DIRECT, os.O_APPEND, os.O_TRUNC):
          for early in (False, True): write(flags, early)
      """, passthrough: passthrough)
  }

  /// Without execution by the group the bit means something else, and goes only where who writes is not in the group.
  @Test(arguments: [true, false]) func setGroupIDWithoutExecution(passthrough: Bool) throws {
    try same(
      """
      os.chmod(".", 0o777)
      def mode(): return oct(os.stat("a").st_mode & 0o7777)
      def cut(): os.truncate("a", 1)
      def anew(): os.close(os.open("a", os.O_WRONLY | os.O_TRUNC))
      def write(): f = os.open("a", os.O_WRONLY); os.write(f, b"x"); os.close(f)
      for group in (4001, 4002, 0):
          for bits in (0o2666, 0o6666, 0o6766, 0o6676):
              for change in (cut, anew, write):
                  open("a", "w").write("text"); os.chown("a", 4001, group); os.chmod("a", bits); tell(group, change.__name__, mode()); pid = os.fork()
                  if pid == 0:
                      os.setgroups([]); os.setgid(4001); os.setuid(4001); change(); os._exit(0)
                  os.waitpid(pid, 0); tell(mode()); os.unlink("a")
              open("a", "w").write("text"); os.chown("a", 4001, group); os.chmod("a", bits); os.chown("a", 0, -1); tell(group, "chown", mode()); os.unlink("a")
      """, passthrough: passthrough)
  }

  /// The kernel asks for them before a first write; a file that was just made may have got some meanwhile.
  @Test(arguments: [true, false]) func capabilitiesStayUntilAWrite(passthrough: Bool) throws {
    try same(
      """
      import struct
      cap = struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)
      def seen():
          try: return os.getxattr("a", "security.capability") == cap
          except OSError as e: return e.errno
      f = os.open("a", os.O_CREAT | os.O_WRONLY, 0o755); tell(seen()); os.setxattr("a", "security.capability", cap); tell(seen())
      os.write(f, b"x"); tell(seen()); os.setxattr("a", "security.capability", cap); tell(seen()); os.close(f); tell(seen())
      f = os.open("a", os.O_WRONLY); tell(seen()); os.write(f, b"y"); tell(seen()); os.close(f); tell(seen())
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func locksEnd(passthrough: Bool) throws {
    try same(
      """
      open("a", "w").write("x" * 100)
      def holder(take):
          r, w = os.pipe(); pid = os.fork()
          if pid == 0:
              g = os.open("a", os.O_RDWR); take(g); os.write(w, b"1"); signal.pause(); os._exit(0)
          os.read(r, 1); return pid
      f = os.open("a", os.O_RDWR)
      for take in (lambda g: fcntl.flock(g, fcntl.LOCK_EX), lambda g: fcntl.lockf(g, fcntl.LOCK_EX)):
          for again in (lambda: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB), lambda: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)):
              pid = holder(take); attempt("held", again); os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
              end = time.monotonic() + 10
              while True:
                  try: again(); tell("free"); break
                  except OSError:
                      if time.monotonic() > end: raise
              fcntl.flock(f, fcntl.LOCK_UN); fcntl.lockf(f, fcntl.LOCK_UN)
      # Who waits gets it when the holder dies.
      pid = holder(lambda g: fcntl.lockf(g, fcntl.LOCK_EX)); waiter = os.fork()
      if waiter == 0:
          g = os.open("a", os.O_RDWR); fcntl.lockf(g, fcntl.LOCK_EX); os._exit(7)
      os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0); tell("woken", os.waitstatus_to_exitcode(os.waitpid(waiter, 0)[1]))
      # Locks of the open file itself, shared by what is inherited.
      h = os.open("a", os.O_RDWR); lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0); fcntl.fcntl(f, 37, lock); attempt("other", fcntl.fcntl, h, 37, lock); os.close(f); tell(len(fcntl.fcntl(h, 37, lock)))
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func positions(passthrough: Bool) throws {
    try same(
      """
      libc.opendir.restype = ctypes.c_void_p; libc.readdir.restype = ctypes.c_void_p; libc.telldir.restype = ctypes.c_long
      def name(entry): return ctypes.string_at(entry + 19)
      os.mkdir("d")
      for i in range(300): open("d/%d" % i, "w").close()
      for round in range(2):
          d = ctypes.c_void_p(libc.opendir(b"d")); seen = []
          while True:
              place = libc.telldir(d); entry = libc.readdir(d)
              if not entry: break
              seen.append((place, name(entry)))
          tell(len(seen), len(set(n for _, n in seen)))
          for place, n in seen[::-1][::7] + seen[::5]:
              libc.seekdir(d, ctypes.c_long(place)); assert name(libc.readdir(d)) == n, n
          libc.rewinddir(d); tell(name(libc.readdir(d)) == seen[0][1])
          # What was not yet read and goes is not seen; what stays is.
          half = libc.telldir(d); [os.unlink("d/%d" % i) for i in range(300) if i % 2 == 0]; libc.rewinddir(d); left = set()
          while True:
              entry = libc.readdir(d)
              if not entry: break
              left.add(name(entry))
          tell(sorted(left) == sorted([b".", b".."] + [b"%d" % i for i in range(300) if i % 2])); libc.closedir(d)
          for i in range(300): open("d/%d" % i, "w").close()
      e = os.open("d", os.O_RDONLY); tell(len(os.listdir(e))); open("d/new", "w").close(); tell(len(os.listdir(e))); os.rename("d/new", "d/other"); tell("other" in os.listdir(e), "new" in os.listdir(e))
      subprocess.check_call(["rm", "-r", "d"]); attempt("removed", os.listdir, e)
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func unbuffered(passthrough: Bool) throws {
    try same(
      """
      m = mmap.mmap(-1, 1 << 16); m.write(bytes(range(256)) * 256)
      f = os.open("a", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o644); tell(os.writev(f, [m])); tell(os.fstat(f).st_size)
      r = mmap.mmap(-1, 1 << 16); tell(os.preadv(f, [r], 0), r[:] == m[:]); tell(os.preadv(f, [r], 1 << 15), os.preadv(f, [r], 1 << 16))
      g = os.open("a", os.O_RDWR); os.pwrite(g, b"buffered", 4096); tell(os.preadv(f, [r], 0), r[4096:4104]); os.pwritev(f, [memoryview(m)[:4096]], 4096); tell(os.pread(g, 4, 4096))
      view = mmap.mmap(g, 8192); view[0:6] = b"mapped"; view.flush(); tell(os.preadv(f, [memoryview(r)[:4096]], 0), r[:6])
      tell(fcntl.fcntl(f, fcntl.F_GETFL) & os.O_DIRECT != 0)
      """, passthrough: passthrough)
  }
}
