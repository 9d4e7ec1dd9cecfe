import Contracts
import Posix
import Testing

@testable import Tree

/// The kernel may list a folder of the view from what it has kept, as long as nothing has changed.
@Suite("Kept listings of .thumbs", .serialized, .enabled(if: TestMount.isPossible, "mounting needs root and /dev/fuse"))
struct KeptListingsTests {
  @Test func everyChangeShows() throws {
    try onMount(passthrough: true) { mount in
      func add(_ name: String) throws {
        try mount.run("sh", "-c", "printf x > '\(mount.folder)/\(name)'")
        mount.pictures.ready(try mount.inode(name), version: 1, "P")
      }
      /// More than once: the first look may fill what the next are answered from.
      func expect(_ names: Set<String>, in folder: String = ".thumbs", _ what: Comment) throws {
        let notes: Set<String> = folder == ".thumbs" ? ["CACHEDIR.TAG", ".nomedia"] : []
        for _ in 0..<3 { #expect(try mount.names(folder) == names.union(notes), what) }
      }
      try add("a.mp4")
      try expect(["a.mp4.png"], "one")
      try add("b.mp4")
      try expect(["a.mp4.png", "b.mp4.png"], "another")
      try mount.run("mv", mount.folder + "/a.mp4", mount.folder + "/c.mp4")
      try expect(["b.mp4.png", "c.mp4.png"], "renamed")
      try mount.run("mkdir", mount.folder + "/d")
      try expect(["b.mp4.png", "c.mp4.png"], "an empty folder")
      try add("d/e.mp4")
      try expect(["b.mp4.png", "c.mp4.png", "d"], "a folder with its first picture")
      try expect(["e.mp4.png"], in: ".thumbs/d", "its picture")
      try mount.run("mv", mount.folder + "/d", mount.folder + "/f")
      try expect(["b.mp4.png", "c.mp4.png", "f"], "a moved folder")
      try expect(["e.mp4.png"], in: ".thumbs/f", "its picture, as before")
      try mount.run("mv", mount.folder + "/f/e.mp4", mount.folder + "/e.mp4")
      try expect(["b.mp4.png", "c.mp4.png", "e.mp4.png"], "moved out of the folder")
      try expect([], in: ".thumbs/f", "nothing left")
      try mount.run("mkdir", mount.folder + "/h")
      try add("f/i.mp4")
      try expect(["b.mp4.png", "c.mp4.png", "e.mp4.png", "f"], "in one folder")
      try mount.run("mv", mount.folder + "/f/i.mp4", mount.folder + "/h/i.mp4")
      try expect(["b.mp4.png", "c.mp4.png", "e.mp4.png", "h"], "in the other")
      try mount.run("rm", mount.folder + "/h/i.mp4")
      try mount.run("mkdir", mount.folder + "/e.mp4.png")
      #expect(try mount.names(".thumbs").contains { $0.hasPrefix("e.mp4~") }, "a folder has the picture's name")
      try mount.run("rmdir", mount.folder + "/e.mp4.png")
      try mount.run("ln", mount.folder + "/e.mp4", mount.folder + "/g.mp4")
      try expect(["b.mp4.png", "c.mp4.png", "e.mp4.png", "g.mp4.png"], "a second name")
      try mount.run("rm", mount.folder + "/e.mp4")
      try expect(["b.mp4.png", "c.mp4.png", "g.mp4.png"], "one name less")
      try mount.run("mv", mount.folder + "/b.mp4", mount.folder + "/b.mp4.part")
      try expect(["c.mp4.png", "g.mp4.png"], "a temporary name")
    }
  }

  /// Whoever lists after a change has returned sees it, however many list meanwhile.
  @Test func listersMeetChanges() throws {
    try onMount(passthrough: true) { mount in
      try mount.python(
        """
        for number in range(200): open("%d.mp4" % number, "w").write("x")
        say("made")
        listers = []
        for _ in range(4):
            if (pid := os.fork()) == 0:
                while True: os.listdir(".thumbs")
            listers.append(pid)
        try:
            for number in range(400):
                old, new = ("0.mp4", "new.mp4") if number % 2 == 0 else ("new.mp4", "0.mp4")
                os.rename(old, new)
                for look in range(3):
                    shown = os.listdir(".thumbs")
                    assert new + ".png" in shown and old + ".png" not in shown, (number, look)
                    assert len(shown) == 202, (number, look, len(shown))
        finally:
            for pid in listers: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
        """
      ) { _ in
        for name in try mount.names("") where name.hasSuffix(".mp4") {
          mount.pictures.ready(try mount.inode(name), version: 1, "P")
        }
      }
    }
  }
}
