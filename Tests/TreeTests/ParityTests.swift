import Glibc
import Posix
import Testing

@testable import Tree

/// What a program sees in the mount is what it sees in the plain folder: the same calls, results and error numbers.
@Suite(
  "Parity with the plain folder", .serialized, .enabled(if: TestMount.isPossible, "mounting needs root and /dev/fuse"))
struct ParityTests {
  /// Runs the program in a plain folder and in a mount; what `tell` says must be the same.
  func same(_ program: String, passthrough: Bool) throws {
    let prelude = """
      import os, sys, errno, fcntl, mmap, stat, struct, subprocess, ctypes, time, signal, socket
      libc = ctypes.CDLL(None, use_errno=True)
      lines = []
      def tell(*words): lines.append(" ".join(str(w) for w in words))
      def attempt(name, call, *arguments, **named):
          try: result = call(*arguments, **named)
          except OSError as e: result = errno.errorcode[e.errno]
          tell(name, result); return result
      def facts(path, follow=False):
          s = os.stat(path, follow_symlinks=follow)
          return (oct(s.st_mode), s.st_nlink if not stat.S_ISDIR(s.st_mode) else "-", s.st_uid, s.st_gid, s.st_size if not stat.S_ISDIR(s.st_mode) else "-", s.st_rdev)
      os.umask(0o022)

      """
    let plain = try TestMount.temporaryFolder()
    defer { _ = try? TestMount.execute("rm", "-rf", plain) }
    func run(in folder: String) throws -> String {
      let out = try Descriptor.memory("out")
      let child = try Child.spawn(
        FileName("/usr/bin/python3"),
        (["python3", "-c", prelude + program + "\nos.write(1, '\\n'.join(lines).encode())"] as [String]).map {
          FileName($0)
        },
        descriptors: [1: out.raw, 2: 2], folder: FileName(folder))
      let ending = try child.wait()
      #expect(ending == .exited(0))
      return String(decoding: try out.readAll(limit: 1 << 20), as: UTF8.self)
    }
    let expected = try run(in: plain)
    #expect(expected.count > 20)
    try onMount(passthrough: passthrough) { mount in
      let got = try run(in: mount.folder)
      let (left, right) = (expected.split(separator: "\n"), got.split(separator: "\n"))
      for (one, other) in zip(left, right) where one != other { Issue.record("plain: \(one), mount: \(other)") }
      #expect(left.count == right.count)
    }
  }

  @Test(arguments: [true, false]) func names(passthrough: Bool) throws {
    try same(
      """
      open("a", "w").write("a"); os.mkdir("d"); os.symlink("a", "l"); os.symlink("nowhere", "broken"); os.mkfifo("p")
      os.mknod("dev", 0o600 | stat.S_IFCHR, os.makedev(1, 3)); os.mknod("n", 0o640 | stat.S_IFREG)
      for n in sorted(os.listdir(".")):
          if n != ".thumbs": tell(n, facts(n))
      for n in ("l", "broken"): tell(os.readlink(n))
      attempt("link", os.link, "a", "b"); tell(facts("a")); attempt("link", os.link, "a", "d"); attempt("link", os.link, "d", "x"); attempt("link", os.link, "none", "x")
      attempt("mkdir", os.mkdir, "d"); attempt("mkdir", os.mkdir, "a/x"); attempt("rmdir", os.rmdir, "a"); attempt("unlink", os.unlink, "d")
      open("d/inside", "w").close(); attempt("rmdir", os.rmdir, "d"); attempt("rename", os.rename, "a", "d"); attempt("rename", os.rename, "d", "a")
      attempt("rename", os.rename, "d", "d/x"); attempt("rename", os.rename, "none", "x"); attempt("same", os.rename, "a", "b"); tell(os.path.exists("a"))
      for flags in (1, 2, 3, 4, 8):
          for pair in ((b"a", b"d"), (b"a", b"none"), (b"l", b"n")):
              r = libc.renameat2(-100, pair[0], -100, pair[1], flags); tell("renameat2", flags, pair, r, errno.errorcode.get(ctypes.get_errno()) if r else "")
      os.mkdir("e"); attempt("over", os.rename, "e", "e2"); attempt("long", os.mkdir, "x" * 256); attempt("deep", os.stat, "y/" * 3000)
      attempt("open", os.open, "l2", os.O_NOFOLLOW | os.O_CREAT | os.O_EXCL, 0o600); os.symlink("loop", "loop"); attempt("loop", os.stat, "loop")
      attempt("nofollow", os.open, "loop", os.O_NOFOLLOW); attempt("dir", os.open, "n", os.O_DIRECTORY); attempt("isdir", os.open, "e2", os.O_WRONLY)
      attempt("excl", os.open, "n", os.O_CREAT | os.O_EXCL); os.unlink("loop"); attempt("gone", os.unlink, "loop")
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func attributes(passthrough: Bool) throws {
    try same(
      """
      f = os.open("a", os.O_CREAT | os.O_RDWR, 0o6777); tell(facts("a")); os.write(f, b"x" * 5000)
      for mode in (0o4755, 0o2755, 0o1644, 0, 0o777): attempt("chmod", os.chmod, "a", mode); tell(facts("a"))
      attempt("chown", os.chown, "a", 1000, 1001); tell(facts("a")); os.fchmod(f, 0o6755); attempt("chown", os.fchown, f, -1, 5); tell(facts("a"))
      os.utime("a", ns=(1234567890123456789, 987654321987654321)); s = os.stat("a"); tell(s.st_atime_ns, s.st_mtime_ns)
      os.symlink("a", "l"); os.utime("l", (5, 6), follow_symlinks=False); tell(os.lstat("l").st_mtime, os.stat("a").st_mtime_ns)
      os.chown("l", 7, 8, follow_symlinks=False); tell(facts("l"))
      for size in (0, 10, 100000): os.truncate("a", size); tell(os.stat("a").st_size)
      attempt("trunc", os.truncate, "none", 0); attempt("trunc", os.truncate, ".", 0)
      attempt("set", os.setxattr, "a", "user.one", b"1"); attempt("get", os.getxattr, "a", "user.one"); attempt("none", os.getxattr, "a", "user.two")
      attempt("create", os.setxattr, "a", "user.one", b"2", os.XATTR_CREATE); attempt("replace", os.setxattr, "a", "user.x", b"2", os.XATTR_REPLACE)
      attempt("list", os.listxattr, "a"); attempt("remove", os.removexattr, "a", "user.one"); attempt("remove", os.removexattr, "a", "user.one")
      attempt("big", os.setxattr, "a", "user.big", b"b" * 2000); attempt("trusted", os.setxattr, "a", "trusted.t", b"t"); attempt("list", os.listxattr, "a")
      for name in ("trusted.l", "user.l", "security.l"): attempt("link", os.setxattr, "l", name, b"l", follow_symlinks=False)
      attempt("get", os.getxattr, "l", "trusted.l", follow_symlinks=False); attempt("list", os.listxattr, "l", follow_symlinks=False); attempt("other", os.listxattr, "a")
      attempt("remove", os.removexattr, "l", "trusted.l", follow_symlinks=False); attempt("list", os.listxattr, "l", follow_symlinks=False)
      tell(os.access("a", os.R_OK), os.access("none", os.R_OK)); os.mkdir("d", 0o7777); tell(facts("d"))
      os.chmod("d", 0o2775); os.chown("d", 0, 55); os.chmod("d", 0o2775); os.mkdir("d/sub"); open("d/file", "w").close(); tell(facts("d/sub"), facts("d/file"))
      v = os.statvfs("."); tell(v.f_blocks, v.f_bsize, v.f_namemax, v.f_files)
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func data(passthrough: Bool) throws {
    try same(
      """
      f = os.open("a", os.O_CREAT | os.O_RDWR); tell(os.pwrite(f, b"x" * 10000, 5000), os.fstat(f).st_size)
      tell(os.pread(f, 100, 4990).count(0), os.read(f, 3), os.lseek(f, 0, 2)); tell(os.pread(f, 10, 14995), os.pread(f, 10, 20000))
      g = os.open("a", os.O_WRONLY | os.O_APPEND); os.write(g, b"end"); os.pwrite(g, b"append", 0); tell(os.pread(f, 20, 14995))
      h = os.open("hole", os.O_CREAT | os.O_RDWR); os.ftruncate(h, 1 << 20); os.pwrite(h, b"d" * 4096, 1 << 19)
      for offset in (0, 1 << 19, (1 << 19) + 4096, 1 << 20, 1 << 21):
          for whence in (os.SEEK_DATA, os.SEEK_HOLE): attempt("seek", os.lseek, h, offset, whence)
      attempt("fallocate", os.posix_fallocate, h, 0, 1 << 21); tell(os.fstat(h).st_size)
      for mode, offset, length in ((1, 0, 1 << 22), (3, 4096, 8192), (16, 0, 4096), (2, 0, 4096), (0, -1, 5)):
          r = libc.fallocate(h, mode, ctypes.c_long(offset), ctypes.c_long(length)); tell("fallocate", mode, r, errno.errorcode.get(ctypes.get_errno()) if r else "", os.fstat(h).st_size)
      r = os.open("a", os.O_RDONLY); attempt("write", os.write, r, b"x"); attempt("trunc", os.ftruncate, r, 5); w = os.open("a", os.O_WRONLY); attempt("read", os.read, w, 5)
      attempt("fsync", os.fsync, f); attempt("fdatasync", os.fdatasync, r); d = os.open(".", os.O_RDONLY); attempt("fsync", os.fsync, d)
      c = os.open("copy", os.O_CREAT | os.O_WRONLY); tell(os.copy_file_range(f, c, 100000, 0, 0)); tell(open("copy", "rb").read() == open("a", "rb").read())
      os.chmod("a", 0o400); n = os.open("b", os.O_CREAT | os.O_WRONLY, 0o000); tell(os.write(n, b"x")); os.close(n); tell(open("b").read())
      m = mmap.mmap(f, 4096); m[0:5] = b"mmap!"; m.flush(); tell(os.pread(r, 5, 0)); m.close(); p = mmap.mmap(r, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ); tell(p[:5]); p.close()
      os.unlink("a"); tell(os.fstat(f).st_nlink, os.pread(f, 5, 0)); os.write(f, b"still"); os.close(f)
      t = os.open("t", os.O_CREAT | os.O_WRONLY); os.write(t, b"12345"); os.close(t); t = os.open("t", os.O_RDONLY | os.O_TRUNC); tell(os.fstat(t).st_size)
      open("script", "w").write("#!/bin/sh\\necho run"); os.chmod("script", 0o755); tell(subprocess.check_output(["./script"]))
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func locks(passthrough: Bool) throws {
    try same(
      """
      f = os.open("a", os.O_CREAT | os.O_RDWR); os.write(f, b"x" * 100)
      def other(call):
          r, w = os.pipe(); pid = os.fork()
          if pid == 0:
              g = os.open("a", os.O_RDWR)
              try: call(g); os.write(w, b"taken")
              except OSError as e: os.write(w, errno.errorcode[e.errno].encode())
              os._exit(0)
          os.waitpid(pid, 0); return os.read(r, 20)
      fcntl.flock(f, fcntl.LOCK_EX); tell(other(lambda g: fcntl.flock(g, fcntl.LOCK_SH | fcntl.LOCK_NB))); fcntl.flock(f, fcntl.LOCK_UN)
      tell(other(lambda g: fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)))
      fcntl.lockf(f, fcntl.LOCK_EX, 10, 0); tell(other(lambda g: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 5))); tell(other(lambda g: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 50)))
      g = os.open("a", os.O_RDONLY); os.close(g); tell(other(lambda g: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 5)))
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func folders(passthrough: Bool) throws {
    try same(
      """
      os.mkdir("many")
      for i in range(5000): open("many/f%d" % i, "w").close()
      tell(len(os.listdir("many")), len(set(os.listdir("many"))))
      seen = 0
      for e in os.scandir("many"): seen += 1; assert e.is_file(follow_symlinks=False); os.unlink(e.path)
      tell(seen, os.listdir("many")); os.rmdir("many")
      os.mkdir("tree")
      for i in range(200): os.makedirs("tree/%d/%d" % (i % 7, i)); open("tree/%d/%d/x" % (i % 7, i), "w").close()
      tell(sorted((r, sorted(d), f) for r, d, f in os.walk("tree")) == sorted((r, sorted(d), f) for r, d, f in os.walk("tree")))
      tell(subprocess.call(["find", "tree", "-delete"]), os.path.exists("tree")); os.makedirs("x/y/z"); tell(subprocess.call(["rm", "-rf", "x"]))
      """, passthrough: passthrough)
  }

  /// New objects belong to who makes them, and suid bits go when somebody else writes.
  @Test(arguments: [true, false]) func callers(passthrough: Bool) throws {
    try same(
      """
      os.chmod(".", 0o777); os.mkdir("set"); os.chown("set", 0, 77); os.chmod("set", 0o2777)
      def as_user(uid, gid, groups, work):
          pid = os.fork()
          if pid == 0:
              os.setgroups(groups); os.setgid(gid); os.setuid(uid); os.umask(0o027)
              work(); os.write(w, "\\n".join(lines).encode()); os._exit(0)
          os.waitpid(pid, 0)
      r, w = os.pipe(); start = len(lines)
      def work():
          del lines[:]
          os.mkdir("u"); open("u/f", "w").close(); os.symlink("f", "u/l"); os.mkfifo("u/p"); open("set/s", "w").close(); os.mkdir("set/d")
          for n in ("u", "u/f", "u/l", "u/p", "set/s", "set/d"): tell(n, facts(n))
          attempt("chown", os.chown, "u/f", 0, 0); attempt("group", os.chown, "u/f", -1, 78); attempt("root's", open, "rootfile", "w"); attempt("unlink", os.unlink, "sticky/r")
          os.chmod("u/f", 0o6755); tell(facts("u/f")); open("u/f", "a").write("x"); tell(facts("u/f"))
          os.chown("u/f", -1, 78); os.chmod("u/f", 0o2755); tell(facts("u/f")); os.chmod("foreign", 0o2755); tell(facts("foreign"))
      open("foreign", "w").close(); os.chown("foreign", 4001, 99); open("rootfile", "w").close(); os.chmod("rootfile", 0o644); os.mkdir("sticky"); os.chmod("sticky", 0o1777); open("sticky/r", "w").close()
      as_user(4001, 4002, [78, 79], work); lines += os.read(r, 65536).decode().split("\\n")
      """, passthrough: passthrough)
  }
}
