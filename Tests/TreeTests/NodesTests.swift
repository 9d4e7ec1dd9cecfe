import Contracts
import Fuse
import Glibc
import Posix
import Testing

@testable import Tree

/// A tree of any size is served with a few descriptors and little memory.
@Suite("Nodes", .serialized, .enabled(if: TestMount.isPossible, "mounting needs root and /dev/fuse"))
struct NodesTests {
  /// How many descriptors of this process lead into a folder below the mount. Those of the mount itself have another mount's id.
  private func held(_ mount: TestMount) -> Int {
    ProcessTable.held(by: ProcessTable.own).count { $0.mount != nil && $0.path.isWithin(FileName(mount.folder)) }
  }

  /// With room for eight descriptors, everything works that works with any number, also while names move.
  @Test(arguments: [true, false]) func fewDescriptors(passthrough: Bool) throws {
    try onMount(passthrough: passthrough, keptDescriptors: 8) { mount in
      try mount.python(
        """
        import threading
        for d in range(40):
            os.makedirs(f"a{d % 5}/b{d}/c")
            for f in range(20): open(f"a{d % 5}/b{d}/c/f{f}", "w").write(f"{d} {f}")
        # Each is still itself, by its name, by an old descriptor, and after its folders were renamed.
        kept = [os.open(f"a{d % 5}/b{d}/c/f{d % 20}", os.O_RDWR) for d in range(40)]
        paths = [os.open(f"a{d % 5}/b{d}/c/f{(d + 1) % 20}", os.O_PATH) for d in range(40)]
        inside = [os.open(f"a{d % 5}/b{d}/c", os.O_PATH) for d in range(40)]
        before = [os.fstat(p).st_ino for p in paths]
        wrong = []
        ended = threading.Event()
        def look():
            while not ended.is_set():
                for d in range(40):
                    try:
                        if os.fstat(paths[d]).st_ino != before[d]: wrong.append(("number", d))
                        os.stat("f1", dir_fd=inside[d]); os.listdir(f"/proc/self/fd/{inside[d]}")
                    except OSError as e: wrong.append((d, e))
        threads = [threading.Thread(target=look) for _ in range(3)]
        for t in threads: t.start()
        for turn in range(30):
            for a in range(5): os.rename(f"a{a}", f"x{a}")
            for d in range(0, 40, 3): os.rename(f"x{d % 5}/b{d}", f"x{(d + 1) % 5}/b{d}"); os.rename(f"x{(d + 1) % 5}/b{d}", f"x{d % 5}/b{d}")
            for a in range(5): os.rename(f"x{a}", f"a{a}")
        ended.set()
        for t in threads: t.join()
        assert not wrong, wrong[:5]
        for d in range(40): assert open(f"a{d % 5}/b{d}/c/f7").read() == f"{d} 7"
        # What was removed lives on for who holds it, and a new file with its inode's number is another.
        for d in range(40):
            os.unlink(f"a{d % 5}/b{d}/c/f{d % 20}"); os.unlink(f"a{d % 5}/b{d}/c/f{(d + 1) % 20}")
            open(f"a{d % 5}/b{d}/c/new", "w").write("new")
        for d in range(40):
            assert os.pread(kept[d], 9, 0) == f"{d} {d % 20}".encode(), d
            os.pwrite(kept[d], b"later", 0); os.fchmod(kept[d], 0o600); os.ftruncate(kept[d], 5)
            assert os.fstat(kept[d]).st_nlink == 0 and os.fstat(paths[d]).st_nlink == 0 and os.fstat(paths[d]).st_ino == before[d]
            assert open(f"a{d % 5}/b{d}/c/new").read() == "new"
        # Two names of one file, in turn without each of them.
        open("one", "w").write("linked"); os.link("one", "two"); os.stat("one"); os.stat("two")
        for d in range(40): os.listdir(f"a{d % 5}/b{d}")
        os.unlink("two"); os.chmod("one", 0o640); os.link("one", "three"); os.stat("three"); os.unlink("three")
        for d in range(40): os.listdir(f"a{d % 5}/b{d}")
        assert os.stat("one").st_nlink == 1 and open("one").read() == "linked"; os.unlink("one")
        # A folder that somebody stands in may go.
        os.makedirs("gone/deeper"); here = os.open("gone/deeper", os.O_RDONLY); os.rmdir("gone/deeper"); os.rmdir("gone")
        for d in range(40): os.listdir(f"a{d % 5}/b{d}")
        assert os.fstat(here).st_nlink == 0 or os.fstat(here).st_nlink == 2
        say("all is held")
        for fd in kept + paths + inside + [here]: os.close(fd)
        say("all is closed")
        """
      ) { (word: String) throws in
        let most = 8 + 1 + (word == "all is held" ? 40 * 3 + 1 : 0) + 8
        var count = held(mount)
        // What was closed is let go a moment later.
        let deadline = Clock.now() + Clock.seconds(10)
        while count > most, Clock.now() < deadline {
          mount.barrier()
          count = held(mount)
        }
        // Those kept, the root, two for each open document, and one for each removed one that is held.
        #expect(count <= most, "\(word): \(count) descriptors")
        #expect(count > 0)
      }
    }
  }

  /// What the kernel forgets is forgotten.
  @Test func forgotten() throws {
    try onMount(passthrough: true) { mount in
      try mount.python(
        """
        for d in range(20):
            os.mkdir(f"d{d}")
            for f in range(50): open(f"d{d}/f{f}", "w").close()
        subprocess.run(["find", ".", "-size", "+1"], check=True, stdout=subprocess.DEVNULL)
        """)
      #expect(mount.tree.nodeCount >= 1020)
      let deadline = Clock.now() + Clock.seconds(20)
      while mount.tree.nodeCount > 1, Clock.now() < deadline {
        let drop = try Descriptor.open("/proc/sys/vm/drop_caches", O_WRONLY)
        try drop.write([UInt8(ascii: "2"), UInt8(ascii: "\n")])
        mount.barrier()
      }
      #expect(mount.tree.nodeCount == 1)
      #expect(held(mount) <= 2)
    }
  }

  /// A file handle that could become stale when the kernel forgets its inode is not given at all, which programs know how to take.
  @Test(arguments: [true, false]) func noFileHandles(passthrough: Bool) throws {
    try onMount(passthrough: passthrough) { mount in
      try mount.python(
        """
        import errno
        open("a", "w").close()
        libc = ctypes.CDLL(None, use_errno=True)
        handle = (ctypes.c_uint * 40)(128); mount = ctypes.c_int()
        assert libc.name_to_handle_at(-100, b"a", handle, ctypes.byref(mount), 0) == -1
        assert ctypes.get_errno() == errno.EOPNOTSUPP, errno.errorcode[ctypes.get_errno()]
        """)
    }
  }

  private enum ByNumber: NodeProperty {
    static func key(of node: Node) -> NodeID { node.id }
  }

  /// Against a dictionary, through growing and shrinking.
  @Test func index() {
    let cache = DescriptorCache(capacity: 1)
    var index = NodeIndex<ByNumber>()
    var expected: [NodeID: Node] = [:]
    var random = SystemRandomNumberGenerator()
    for turn in 0..<60_000 {
      let id = NodeID(UInt64.random(in: 1...(turn < 40_000 ? 3000 : 40), using: &random))
      if let node = expected[id] {
        #expect(index.find(id) === node)
        if Bool.random() {
          index.remove(node)
          expected[id] = nil
          #expect(index.find(id) == nil)
        }
      } else {
        let node = Node(
          id: id, status: .empty, rootDevice: 0, cache: cache, parent: nil, name: FileName("x"))
        index.insert(node)
        expected[id] = node
      }
      if turn == 40_000 {
        for (id, node) in expected where id.raw > 40 {
          index.remove(node)
          expected[id] = nil
        }
      }
    }
    #expect(index.count == expected.count)
    for (id, node) in expected { #expect(index.find(id) === node) }
  }
}

/// What has no name, what has a birth time, and what is written through a mapping.
extension ParityTests {
  /// Stores into a mapping are seen by stat(2), while it lives and after; whoever looks at sizes and times misses no change.
  @Test(arguments: [true, false]) func mappedTimes(passthrough: Bool) throws {
    try same(
      """
      def old(path): os.utime(path, (1000, 1000)); return os.stat(path).st_mtime
      for name, flags in (("new", os.O_RDWR | os.O_CREAT), ("existing", os.O_RDWR)):
          if name == "existing": open(name, "wb").write(b"x" * 8192)
          before = old(name) if name == "existing" else None
          fd = os.open(name, flags, 0o644)
          if name == "new": os.ftruncate(fd, 8192); before = old(name)
          m = mmap.mmap(fd, 8192); os.close(fd)
          tell(name, os.stat(name).st_mtime == before)
          m[0] = 65; m.flush(); tell("flushed", os.stat(name).st_mtime > before)
          old(name); os.stat(name); m[4096] = 66; m.close()
          subprocess.run(["sync", name], check=True)
          tell("closed", os.stat(name).st_mtime > before, open(name, "rb").read(1), os.stat(name).st_size)
          now = os.stat(name).st_mtime; time.sleep(0.05); tell("at rest", os.stat(name).st_mtime == now)
      """, passthrough: passthrough)
  }

  @Test(arguments: [true, false]) func nameless(passthrough: Bool) throws {
    try same(
      """
      os.mkdir("d"); os.chmod("d", 0o2775); os.chown("d", 1234, 4321)
      for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_EXCL):
          fd = attempt("tmpfile", lambda: os.open("d", flags | os.O_TMPFILE, 0o666)) and os.open("d", flags | os.O_TMPFILE, 0o666)
          os.write(fd, b"hello"); s = os.fstat(fd); tell(oct(s.st_mode), s.st_nlink, s.st_size, s.st_uid, s.st_gid)
          attempt("linkat", os.link, f"/proc/self/fd/{fd}", f"d/n{flags}", src_dir_fd=None, follow_symlinks=True)
          tell(sorted(os.listdir("d")), os.fstat(fd).st_nlink)
          if flags & os.O_ACCMODE == os.O_RDWR: tell(os.pread(fd, 10, 0))
          os.write(fd, b" more"); os.close(fd)
      attempt("again", lambda: open("d/n%d" % os.O_RDWR).read())
      attempt("readonly", os.open, "d", os.O_RDONLY | os.O_TMPFILE); attempt("file", os.open, "d/n%d" % os.O_RDWR, os.O_RDWR | os.O_TMPFILE)
      fd = os.open(".", os.O_RDWR | os.O_TMPFILE, 0o600); os.write(fd, b"x" * 100000); os.ftruncate(fd, 10); os.fchmod(fd, 0o444); tell(os.fstat(fd).st_size, oct(os.fstat(fd).st_mode)); os.close(fd)
      open("born", "w").close()
      def birth(path): return float(subprocess.run(["stat", "-c", "%.9W", path], check=True, stdout=subprocess.PIPE).stdout)
      tell(abs(birth("born") - os.stat("born").st_ctime) < 1)
      first = birth("born"); time.sleep(0.02); os.utime("born", (1, 1)); open("born", "a").write("x"); tell(birth("born") == first, birth("d") > 0)
      """, passthrough: passthrough)
  }
}
