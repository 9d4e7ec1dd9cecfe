import Glibc
import Testing

/// Real file managers on a screen that nobody sees: their windows are looked at by colour.
@Suite(
  "File managers", .serialized,
  .enabled(if: !Mode.possible.isEmpty && Script.has("Xvfb"), "mounting needs /dev/fuse, windows need Xvfb"))
struct FileManagerTests {
  private static let beginning = """
    import sys, shutil
    sys.dont_write_bytecode = True; sys.path.insert(0, "\(Script.root)/Tests/Desktop")
    from screen import patiently
    os.environ["HOME"] = os.environ["TMPDIR"] = "@base"; os.environ["XDG_CACHE_HOME"] = "@base/cache"; os.environ["XDG_RUNTIME_DIR"] = "@base/run"
    os.makedirs("@base/run", 0o700, exist_ok=True)
    RED, BLUE, PURPLE = (254, 0, 0), (0, 0, 254), (109, 90, 140)

    """

  private static func beginning(_ share: Share) -> String {
    beginning.split(separator: "@base", omittingEmptySubsequences: false).joined(separator: share.base)
  }

  /// An open window of Thunar on `.thumbs` fills while another process copies, and follows renames and removals, without a refresh.
  @Test(.enabled(if: Script.has("thunar"), "thunar is not installed"), arguments: Mode.possible)
  func thunarFillsByItself(mode: Mode) throws {
    let red = try Fixtures.clip("red", size: "640x360")
    let blue = try Fixtures.clip("blue", size: "640x360")
    try onShare(mode) { share in
      try share.python(
        Self.beginning(share) + """
          def story(screen):
            for name in filter(os.path.isfile, os.listdir(".")): os.unlink(name)
            shutil.copy('\(blue)', "first.mp4")
            screen.start("thunar", "\(share.folder)/.thumbs")
            screen.until("the window shows the first picture", lambda: screen.count(*BLUE) > 1000)
            screen.rests(); one = screen.count(*BLUE); assert screen.count(*RED) == 0
            subprocess.run(["cp", '\(red)', "second.mp4"], check=True)
            screen.until("a second one", lambda: screen.count(*RED) > 0.9 * one)
            subprocess.run(["cp", '\(red)', "third.mp4"], check=True)
            screen.until("a third one", lambda: screen.count(*RED) > 1.9 * one)
            # Written over: the same name, another picture.
            subprocess.run(["cp", '\(blue)', "third.mp4"], check=True)
            screen.until("the third one has changed", lambda: screen.count(*BLUE) > 1.9 * one)
            os.unlink("third.mp4"); screen.until("it has gone", lambda: screen.count(*BLUE) < 1.1 * one)
            os.rename("second.mp4", ".second.mp4"); screen.until("none is red", lambda: screen.count(*RED) == 0)
          patiently(story); os.chdir("/")
          """)
    }
  }

  /// With `desktop_thumbs=on` the share's own folders show our pictures. The tell-tale one is a waveform, which no thumbnailer of the desktop draws.
  @Test(
    arguments: Mode.possible.map { ("thunar", $0) } + Mode.possible.suffix(1).map { ("nautilus --new-window", $0) })
  func showsOurs(manager: String, mode: Mode) throws {
    let sound = try Fixtures.made("sound.mp3", ["-f", "lavfi", "-i", "sine=300:duration=20"])
    try onShare(mode, options: ["desktop_thumbs=on"]) { share in
      try share.python(
        Self.beginning(share) + """
          os.mkdir("sub"); shutil.copy('\(sound)', "sub/a.mp3")
          subprocess.run(["\(Share.sharefs)", "wait", "--state", "\(share.state)", "sub/a.mp3"], check=True, stdout=subprocess.DEVNULL)
          def story(screen):
            screen.start(*"\(manager)".split(), "\(share.folder)/sub")
            screen.until("the window shows our picture", lambda: screen.count(*PURPLE, 12) > 500)
          patiently(story); os.chdir("/")
          """)
    }
  }
}
