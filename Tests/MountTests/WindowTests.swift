import Control
import Glibc
import Posix
import Testing

/// Whoever watches `.thumbs`, as an open file manager window does, is told of what comes, changes and goes, without looking again.
@Suite("Live windows", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct WindowTests {
  /// inotifywait on the folders of the view, and what it must have said.
  private static let watcher = """
    class Watch:
        def __init__(self, *folders):
            self.process = subprocess.Popen(["inotifywait", "-m", "--format", "%w|%e|%f", "-e", "create,delete,attrib,moved_to,moved_from", *folders],
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while "established" not in self.process.stderr.readline(): pass
            os.set_blocking(self.process.stdout.fileno(), False); self.rest, self.lines = b"", []
        def read(self):
            try: self.rest += os.read(self.process.stdout.fileno(), 1 << 16)
            except BlockingIOError: return
            *whole, self.rest = self.rest.split(b"\\n"); self.lines += [line.decode() for line in whole]
        def sees(self, line, seconds=20):
            end = time.time() + seconds
            while line not in self.lines:
                assert time.time() < end, (line, self.lines)
                self.read(); time.sleep(0.01)
        def count(self, line):
            self.read()
            return self.lines.count(line)
        def end(self): self.process.kill(); self.process.wait()

    """

  @Test(arguments: Mode.possible) func filesAndFolders(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.python(
        Self.watcher + """
          import shutil
          os.mkdir("old"); shutil.copy('\(clip)', "old/x.mp4"); os.stat(".thumbs/old/x.mp4.png")
          w = Watch(".thumbs", ".thumbs/old")
          shutil.copy('\(clip)', "a.mp4"); w.sees(".thumbs/|CREATE|a.mp4.png")
          os.rename("a.mp4", "b.mp4"); w.sees(".thumbs/|DELETE|a.mp4.png"); w.sees(".thumbs/|CREATE|b.mp4.png")
          # A new folder comes with its first picture, once.
          os.mkdir("new"); os.mkdir("new/deep")
          for i in range(5): shutil.copy('\(clip)', f"new/deep/{i}.mp4")
          w.sees(".thumbs/|CREATE,ISDIR|new")
          # A folder's new name, and what is in it goes on being told of.
          os.rename("old", "newer"); w.sees(".thumbs/|DELETE,ISDIR|old"); w.sees(".thumbs/|CREATE,ISDIR|newer")
          shutil.copy('\(clip)', "newer/y.mp4"); w.sees(".thumbs/old/|CREATE|y.mp4.png")
          assert sorted(os.listdir(".thumbs/newer")) == ["index.html", "x.mp4.png", "y.mp4.png"]
          # A folder moved into another one.
          os.rename("newer", "new/newer"); w.sees(".thumbs/|DELETE,ISDIR|newer")
          # The last picture goes, and the folder with it, once.
          shutil.rmtree("new"); w.sees(".thumbs/|DELETE,ISDIR|new"); assert not os.path.exists(".thumbs/new/deep")
          # Out of sight under a temporary name, and back.
          os.rename("b.mp4", ".b.mp4"); w.sees(".thumbs/|DELETE|b.mp4.png")
          os.rename(".b.mp4", "c.mp4"); w.sees(".thumbs/|CREATE|c.mp4.png")
          os.unlink("c.mp4"); w.sees(".thumbs/|DELETE|c.mp4.png")
          for line in (".thumbs/|CREATE,ISDIR|new", ".thumbs/|DELETE,ISDIR|new", ".thumbs/|DELETE,ISDIR|old"): assert w.count(line) == 1, w.lines
          # Nobody else may do what the daemon does.
          for act in (lambda: os.mkdir(".thumbs/z"), lambda: os.mknod(".thumbs/z")):
              try: act(); raise SystemExit("it was made")
              except OSError as error: assert error.errno in (errno.EROFS, errno.EPERM), error
          w.end()
          """)
    }
  }

  /// Where nobody watches, nothing is done for it, though somebody looked; who comes later is told.
  @Test(arguments: Mode.possible) func costsNothingUnwatched(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      let daemon = try share.status().pid
      try share.python(
        Self.watcher + """
          import glob, shutil
          def visits():
              # How often the threads that tell watchers have slept: each visit is a question to the daemon.
              total = 0
              for task in glob.glob("/proc/\(daemon)/task/*"):
                  if open(task + "/comm").read() == "sharefs-herald\\n":
                      total += int([l for l in open(task + "/status") if l.startswith("voluntary")][0].split()[1])
              return total
          root = os.getcwd()
          def fill(name):
              before = visits(); paths = [f"{root}/{name}{i}.mp4" for i in range(20)]
              for path in paths: shutil.copy('\(clip)', path)
              subprocess.run(["\(Share.sharefs)", "wait", "--state", "\(share.state)", *paths], check=True, stdout=subprocess.DEVNULL)
              return visits() - before
          # Longer than somebody who looked is given to set a watch.
          def pass_by(): time.sleep(2)
          os.mkdir("own"); os.mkdir("own/sub"); shutil.copy('\(clip)', "own/sub/x.mp4"); os.listdir(".thumbs/own/sub")
          # The first documents come before it is found out that nobody watches, which takes its time where many processes are.
          pass_by(); tries, end = 0, time.time() + 60
          while (nobody := fill(f"a{tries}-")) > 0: tries += 1; assert time.time() < end, nobody
          w = Watch(".thumbs"); pass_by(); told = fill("b"); w.sees(".thumbs/|CREATE|b19.mp4.png"); w.end(); assert told > 0
          w = Watch(".thumbs/own/sub"); pass_by(); fill("c")
          shutil.copy('\(clip)', "own/sub/y.mp4"); w.sees(".thumbs/own/sub/|CREATE|y.mp4.png"); w.end()
          # He stands in the folder already when he begins to watch it.
          os.chdir(".thumbs/own"); pass_by(); fill("d")
          w = Watch("."); shutil.copytree(root + "/own/sub", root + "/own/new"); w.sees("./|CREATE,ISDIR|new"); w.end()
          os.chdir("/")
          """)
    }
  }

  /// Neither busy workers, nor a stopped daemon, nor an unmount in the midst of it hang.
  @Test(arguments: Mode.possible) func neverInTheWay(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    try onShare(mode) { share in
      let daemon = try share.status().pid
      try share.python(
        Self.watcher + """
          import shutil
          w = Watch(".thumbs")
          for i in range(30):
              os.mkdir(f"d{i}"); shutil.copy('\(clip)', f"d{i}/a.mp4"); os.rename(f"d{i}", f"e{i}")
              start = time.time(); os.listdir("."); os.listdir(".thumbs"); assert time.time() - start < 8
          os.kill(\(daemon), signal.SIGSTOP); time.sleep(0.2); os.kill(\(daemon), signal.SIGCONT)
          for i in range(30): w.sees(f".thumbs/|CREATE,ISDIR|e{i}", 60)
          for i in range(30): os.rename(f"e{i}", f"f{i}")
          w.end(); os.chdir("/")
          """)
      let start = Clock.now()
      try share.unmount()
      #expect(Clock.now() - start < Clock.seconds(10))
    }
  }
}
