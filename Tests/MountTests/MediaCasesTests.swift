import Glibc
import Posix
import Testing

/// Public bug reports against thumbnailers and media libraries, each with its whole kind, on the built program in every mode.
@Suite("Media cases", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct MediaCasesTests {
  /// Names are never protocols, lists or patterns (video-embed-thumbnail-generator 409, yt-dlp 297). Beside each lies what it would
  /// lead to, in green.
  @Test(arguments: Mode.possible) func namesAreNeverAddresses(mode: Mode) throws {
    let (red, green) = (try Fixtures.clip("red"), try Fixtures.clip("green"))
    let names = [
      "a:b.mp4", "http:x.mp4", "concat:a|b.mp4", "pipe:0.mp4", "-i.mp4", "new\nline.mp4", "\"q'.mp4", "subfile,,x.mp4",
      "file:decoy.mp4", "100%d.mp4", "$(x) `y`.mp4", " .mp4", "*?[a].mp4",
    ]
    let decoys = ["a", "b.mp4", "x.mp4", "0.mp4", "decoy.mp4", "1001.jpg", "1001.mp4", "i.mp4"]
    try onShare(mode) { share in
      for name in decoys { #expect(try share.run("cp", green, "\(share.folder)/\(name)") == 0) }
      for name in names { #expect(try share.run("cp", red, "\(share.folder)/\(name)") == 0) }
      let still = "\(Fixtures.folder)/red.jpg"
      try Fixtures.ffmpeg(["-i", red, "-frames:v", "1", still])
      #expect(try share.run("cp", still, "\(share.folder)/100%d.jpg") == 0)
      for name in names + ["100%d.jpg"] {
        #expect(
          try share.run("cp", "\(share.folder)/.thumbs/\(name).png", "\(share.folder)/look-\(mode).part") == 0,
          "\(name)")
        #expect(try share.colour("look-\(mode).part") == "red", "\(name)")
      }
    }
  }

  /// Every shape of a video (ffmpegthumbnailer 174, 175 and 85, stash 3426, nunaliit 671, jellyfin 13942): as ffmpeg itself shows
  /// it, in the size that it has on a screen.
  @Test(arguments: Mode.possible) func everyShapeIsShownRight(mode: Mode) throws {
    let shapes = try Shape.all()
    try onShare(mode) { share in
      for shape in shapes {
        #expect(try share.run("cp", shape.path, "\(share.folder)/\(shape.name)") == 0)
        let picture = ".thumbs/\(shape.name).png"
        #expect(try share.exists(picture), "\(shape.name)")
        let (width, height) = try share.size(picture)
        #expect(abs(width - shape.width) <= 1 && abs(height - shape.height) <= 1, "\(shape.name): \(width)x\(height)")
        let expected = try Fixtures.corners(of: shape.path)
        #expect(try share.corners(of: picture) == expected, "\(shape.name)")
      }
      try share.waitUntilIdle()
      #expect(try share.list().allSatisfy { $0.verdict == "ready" })
    }
  }

  /// What was cut off is told so, holds nobody up, and what is there is shown where it can be (Video-Hub-App 97).
  @Test(arguments: Mode.possible) func cutVideosHoldNobodyUp(mode: Mode) throws {
    let next = try Fixtures.clip("red")
    let long = "testsrc2=s=320x180:r=5:d=600"
    let files = try [
      Fixtures.made("long.mkv", ["-f", "lavfi", "-i", long, "-c:v", "mpeg4"]),
      Fixtures.made("long.ts", ["-f", "lavfi", "-i", long, "-c:v", "mpeg2video"]),
      Fixtures.made("long.mpg", ["-f", "lavfi", "-i", long, "-r", "25", "-t", "60"]),
      Fixtures.made("fast.mp4", ["-f", "lavfi", "-i", long, "-c:v", "mpeg4", "-movflags", "+faststart"]),
      Fixtures.made("tail.mp4", ["-f", "lavfi", "-i", long, "-c:v", "mpeg4"]),
      Fixtures.made(
        "hevc.mp4",
        [
          "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=8", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
          "log-level=1:keyint=100", "-movflags", "+faststart",
        ]),
    ]
    try onShare(mode) { share in
      for (index, path) in files.enumerated() {
        let name = String(path.split(separator: "/").last ?? "")
        // No multiple of a packet of a transport stream.
        try share.shell("head -c $(( $(stat -c %s '\(path)') / 5 / 188 * 188 + 1 )) '\(path)' > \(name)")
        #expect(try share.run("cp", next, "\(share.folder)/next\(index).mp4") == 0)
        #expect(try share.colour(".thumbs/next\(index).mp4.png") == "red")
        #expect(try share.size(".thumbs/\(name).png").width > 0)
        #expect(try share.row(name)?.verdict == "incomplete", "\(name)")
        #expect(try share.row("next\(index).mp4")?.verdict == "ready")
      }
    }
  }

  /// Small files that ask for gigabytes (thumbor 604), twenty at once: refused, with the mount at everyone's service and no worker
  /// beyond its bound.
  @Test(arguments: Mode.possible) func bombsAreRefused(mode: Mode) throws {
    let bombs = try Bombs.all()
    try onShare(mode) { share in
      try share.python(
        """
        import shutil, threading
        stop = False; looks = [0]; longest = [0]
        def look():
            while not stop:
                begun = time.monotonic()
                os.stat("."); os.listdir("."); os.listdir(".thumbs")
                longest[0] = max(longest[0], time.monotonic() - begun); looks[0] += 1
        thread = threading.Thread(target=look, daemon=True); thread.start()
        for n in range(5):
            for path in \(bombs):
                shutil.copyfile(path, "%d-%s" % (n, os.path.basename(path)))
        before = looks[0]
        for n in range(5):
            for path in \(bombs):
                size = os.stat(".thumbs/%d-%s.png" % (n, os.path.basename(path))).st_size
                assert size > 100, size
        stop = True; thread.join()
        assert looks[0] > before, looks
        # Far below what a decoder may take for one of them.
        assert longest[0] < 2, longest
        """)
      try share.waitUntilIdle()
      let rows = try share.list()
      #expect(rows.count == bombs.count * 5)
      for row in rows { #expect(row.verdict == "unsupported", "\(row.path)") }
      // They were refused by a worker that lives on, so its highest mark counts all of them.
      let peaks = try share.workerPeaks()
      #expect(!peaks.isEmpty && peaks.allSatisfy { $0 < 512 << 20 }, "\(peaks)")
      #expect(try share.run("cp", Fixtures.clip("red"), "\(share.folder)/after.mp4") == 0)
      #expect(try share.colour(".thumbs/after.mp4.png") == "red")
    }
  }

  /// A file that ends the program that looks at it, whatever it is that does so: tried twice, and then not until it changes, whether
  /// the daemon is another one or not. The program here is one that ends when it is told to.
  @Test(arguments: Mode.possible) func aPoisonFileIsTriedTwiceAndNotAfterARemount(mode: Mode) throws {
    let share = try Share(mode, mounted: false)
    let double = String(Share.sharefs.dropLast("sharefs".utf8.count)) + "worker-double"
    let programs = "\(share.base)/bin"
    #expect(try share.run("mkdir", programs, share.folder) == 0)
    #expect(try share.run("cp", Share.sharefs, "\(programs)/sharefs") == 0)
    #expect(try share.run("cp", double, "\(programs)/sharefs-worker") == 0)
    func mount() throws {
      #expect(try share.run("\(programs)/sharefs", "mount", "--state", share.state, share.folder) == 0)
      try share.waitUntilIdle()
    }
    func tries(_ name: String) throws -> Int {
      try share.output("cat", ["\(programs)/sharefs-worker.log"]).split(separator: "\n").count {
        $0.hasPrefix("\(name) ")
      }
    }
    try mount()
    try share.shell("echo crash >poison.mp4; echo good >good.mp4")
    try share.waitUntilIdle()
    for _ in 0..<2 {
      #expect(try tries("poison.mp4") == 2 && tries("good.mp4") == 1)
      #expect(try share.row("poison.mp4")?.verdict == "invalid" && share.row("good.mp4")?.verdict == "ready")
      #expect(try share.exists(".thumbs/poison.mp4.png"))
      try share.unmount()
      try mount()
    }
    // Looked at, renamed and given another time it is the same content.
    try share.shell("cat poison.mp4 >/dev/null; mv poison.mp4 again.mp4; touch again.mp4")
    try share.waitUntilIdle()
    #expect(try tries("again.mp4") == 0)
    try share.shell("echo good now >again.mp4")
    try share.waitUntilIdle()
    #expect(try share.row("again.mp4")?.verdict == "ready")
    try share.end()
  }

  /// Many writers, a lister, a watcher and a foreign reader of the database: nothing is lost and nothing locked (photoprism 1734).
  @Test(arguments: Mode.possible) func aBulkImportLosesNothing(mode: Mode) throws {
    try onShare(mode) { share in
      let events = try EventLog(share)
      try share.python(
        """
        import struct, zlib
        def chunk(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        def png(shade):
            rows = b"".join(b"\\0" + bytes([shade, x % 256, 0] * 16) for x in range(16))
            return b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)) \
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
        base = "\(share.base)/source"
        for d in range(8):
            os.makedirs("%s/%d" % (base, d))
            for n in range(250):
                with open("%s/%d/%d.png" % (base, d, n), "wb") as f: f.write(png((d * 31 + n) % 256))
        copies = [subprocess.Popen(["cp", "-r", "%s/%d" % (base, d), "."]) for d in range(8)]
        loops = 0
        while any(copy.poll() is None for copy in copies) or loops < 5:
            subprocess.run(["\(Share.sharefs)", "list", "--state", "\(share.state)", "\(share.folder)"], check=True, stdout=subprocess.DEVNULL)
            dump = subprocess.run(["sqlite3", "\(share.state)/catalog.sqlite", ".dump"], capture_output=True)
            assert dump.returncode == 0 and b"locked" not in dump.stderr, dump.stderr
            loops += 1
        assert [copy.wait() for copy in copies] == [0] * 8
        """)
      try share.waitUntilIdle()
      let rows = try share.list()
      #expect(rows.count == 2000 && rows.allSatisfy { $0.verdict == "ready" })
      try eventually("every verdict is announced") { events.all.filter { $0.event == "ready" }.count >= 2000 }
      #expect(Set(events.all.filter { $0.event == "closed" }.map(\.path)).count == 2000)
      #expect(events.all.filter { $0.event == "ready" }.count == 2000)
    }
  }
}
