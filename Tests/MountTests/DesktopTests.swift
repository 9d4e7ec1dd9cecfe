import Glibc
import Testing

/// `-o desktop_thumbs=on`: GLib, and so every file manager that asks it, finds a valid picture of its own where the specification says.
@Suite("Desktop thumbnails", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct DesktopTests {
  private static let helper = """
    import shutil, zlib, struct
    os.environ["XDG_CACHE_HOME"] = "@base/cache"; os.environ["HOME"] = "@base"
    def thumb(name):
        # What GLib says of the file: the path of its thumbnail, and whether that is of its present content.
        out = subprocess.run(["gio", "info", "-a", "thumbnail::*", name], capture_output=True, text=True, check=True).stdout
        facts = dict(line.strip().split(": ", 1) for line in out.splitlines() if ": " in line)
        return facts.get("thumbnail::path"), facts.get("thumbnail::is-valid") == "TRUE"
    def until(condition):
        end = time.time() + 20
        while not condition():
            assert time.time() < end, "never so"
            time.sleep(0.02)
    def stored(): return sum(len(files) for _, _, files in os.walk("@base/cache/thumbnails"))

    """

  @Test(arguments: Mode.possible) func followsTheDocument(mode: Mode) throws {
    let clip = try Fixtures.clip("red", size: "640x360")
    try onShare(mode, options: ["desktop_thumbs=on"]) { share in
      let helper = Self.helper.split(separator: "@base", omittingEmptySubsequences: false).joined(separator: share.base)
      try share.python(
        helper + """
          name = "holiday & ü ~é(1)'s [50%].mp4"
          shutil.copy('\(clip)', name); until(lambda: thumb(name)[1])
          path = thumb(name)[0]; data = open(path, "rb").read()
          assert os.stat(path).st_mode & 0o777 == 0o600 and os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
          # Both sizes, whole, with every chunk's sum right.
          for size, edge in (("normal", 128), ("large", 256)):
              data = open(os.path.join("\(share.base)/cache/thumbnails", size, os.path.basename(path)), "rb").read()
              assert struct.unpack(">II", data[16:24]) == (edge, edge * 9 // 16), size
              place = 8
              while place < len(data):
                  length, kind = struct.unpack(">I4s", data[place:place + 8])
                  assert zlib.crc32(data[place + 4:place + 8 + length]) == struct.unpack(">I", data[place + 8 + length:place + 12 + length])[0], kind
                  if kind == b"zTXt": assert zlib.decompress(data[place + 22:place + 8 + length]).startswith(b"%d." % os.stat(name).st_mtime)
                  place += 12 + length
          # It goes where the document goes, and is never older than it.
          os.mkdir("d"); os.rename(name, "d/x.mp4"); until(lambda: thumb("d/x.mp4")[1]); until(lambda: not os.path.exists(path))
          os.rename("d", "e"); until(lambda: thumb("e/x.mp4")[1]); until(lambda: stored() == 2)
          os.utime("e/x.mp4", (1e9, 1e9)); until(lambda: thumb("e/x.mp4")[1])
          os.link("e/x.mp4", "y.mp4"); until(lambda: thumb("y.mp4")[1]); until(lambda: stored() == 4)
          os.unlink("e/x.mp4"); until(lambda: stored() == 2)
          with open("y.mp4", "wb") as f: f.write(b"no film")
          assert not thumb("y.mp4")[1]; until(lambda: stored() == 0)
          shutil.copy('\(clip)', "z.mp4"); until(lambda: thumb("z.mp4")[1]); os.rename("z.mp4", ".z.mp4"); until(lambda: stored() == 0)
          """)
    }
  }

  /// Nothing is written there unless asked for; what was catalogued before is made when it is.
  @Test func onlyWhenAskedFor() throws {
    let clip = try Fixtures.clip("red")
    let share = try Share(Mode.possible[0])
    try share.shell("cp '\(clip)' a.mp4")
    try share.waitUntilIdle()
    #expect(try share.run("test", "-e", share.base + "/cache/thumbnails") == 1)
    try share.unmount()
    #expect(try share.sharefs(["mount", "--state", share.state, "-o", "desktop_thumbs=on", share.folder]) == 0)
    try share.waitUntilIdle()
    try eventually("both sizes are there") {
      try share.output("find", [share.base + "/cache/thumbnails", "-name", "*.png"]).split(separator: "\n").count == 2
    }
    #expect(try share.sharefs(["mount", "-o", "desktop_thumbs=maybe", share.folder]) == 1)
    try share.end()
  }
}
