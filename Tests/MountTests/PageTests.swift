import Glibc
import Testing

/// The page in `.thumbs`, as files see it and as a person at a browser does.
@Suite("Page", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct PageTests {
  /// It is there at once, its size is true, it follows what happens, and it goes and comes back like everything in the view.
  @Test(arguments: Mode.possible) func followsItsFolder(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      #expect(try share.output("cat", [share.folder + "/.thumbs/index.html"]).contains("const ITEMS = [\n]"))
      try share.python(
        """
        import shutil
        def page(folder=""):
            path = f".thumbs/{folder}index.html"
            text = open(path, "rb").read()
            assert os.stat(path).st_size == len(text) and os.stat(path).st_blocks * 512 >= len(text)
            return text
        for i in range(20):
            shutil.copy('\(clip)', f"{i}.mp4"); assert b'"%d.mp4",' % i in page(), i
        os.mkdir("a b"); shutil.copy('\(clip)', "a b/x.mp4"); assert b'["a b","a%20b"]' in page()
        assert b'"../../a%20b/"' in page("a b/") and b'"x.mp4","x.mp4","x.mp4.png","video",' in page("a b/")
        os.rename("a b", "c"); assert b'["c","c"]' in page() and b"a%20b" not in page() and b"x.mp4" in page("c/")
        os.rename("0.mp4", "zero.mp4"); text = page(); assert b'"zero.mp4"' in text and b'"0.mp4"' not in text
        os.unlink("1.mp4"); assert b'"1.mp4"' not in page()
        before = open(".thumbs/index.html", "rb"); shutil.copy('\(clip)', "late.mp4")
        assert b"late.mp4" not in before.read() and b"late.mp4" in page()
        for act in (lambda: open(".thumbs/index.html", "w"), lambda: os.rename(".thumbs/index.html", "i"), lambda: os.truncate(".thumbs/index.html", 0)):
            try: act(); raise SystemExit("it was changed")
            except OSError as error: assert error.errno == errno.EROFS, error
        assert "index.html" in os.listdir(".thumbs")
        os.unlink(".thumbs/index.html"); assert "index.html" not in os.listdir(".thumbs") and not os.path.exists(".thumbs/index.html")
        # A folder of the user's with that name is what it is.
        os.mkdir("c/index.html"); shutil.copy('\(clip)', "c/index.html/y.mp4"); assert os.path.isdir(".thumbs/c/index.html")
        assert os.listdir(".thumbs/c").count("index.html") == 1
        """)
    }
  }

  /// Who may not list a folder may not read its page, and what not every reader of the page may read is told of as a listing would.
  @Test(.enabled(if: geteuid() == 0)) func tellsNobodyMore() throws {
    let clip = try Fixtures.clip("red")
    try onShare(.passthrough) { share in
      try share.shell(
        "mkdir open closed; cp '\(clip)' open/a.mp4; cp '\(clip)' open/secret.mp4; cp '\(clip)' closed/b.mp4")
      try share.shell("chmod 755 open; chmod 600 open/secret.mp4; chmod 700 closed; cat .thumbs/open/*.png >/dev/null")
      let other = ["--reuid=65534", "--regid=65534", "--clear-groups", "cat"]
      #expect(try share.call("setpriv", other + [share.folder + "/.thumbs/closed/index.html"]).code != 0)
      let page = try share.output("setpriv", other + [share.folder + "/.thumbs/open/index.html"])
      let lines = page.split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix(#"["a.mp4","#) && $0.contains(",1.0,160,90,") })
      #expect(lines.contains { $0.hasPrefix(#"["secret.mp4","#) && $0.contains(",0,0,0,\"\",\"\"]") })
    }
  }

  /// A page that is asked for while everything else is busy holds nobody up, and the mount ends while one is asked for.
  @Test(arguments: Mode.possible) func holdsNobodyUp(mode: Mode) throws {
    let clip = try Fixtures.clip("red", seconds: 5, size: "640x360")
    try onShare(mode) { share in
      try share.python(
        """
        import shutil, threading
        stop = False
        def look():
            while not stop: open(".thumbs/index.html").read()
        threads = [threading.Thread(target=look, daemon=True) for _ in range(4)]
        for thread in threads: thread.start()
        for i in range(40):
            shutil.copy('\(clip)', f"{i}.mp4"); start = time.time(); os.stat(f"{i}.mp4"); os.listdir(".")
            assert time.time() - start < 5
        stop = True
        for thread in threads: thread.join()
        subprocess.Popen(["sh", "-c", "while cat '\(share.folder)/.thumbs/index.html' >/dev/null 2>&1; do :; done"], cwd="/")
        os.chdir("/")
        """)
      #expect(try share.sharefs(["umount", "--wait", share.folder]) == 0)
    }
  }

  /// Searched, opened, played and closed by keyboard, from file://, on a mount.
  @Test(
    .enabled(if: Script.has("chromium"), "chromium is not installed"),
    arguments: Mode.possible.filter { $0 != .nopassthrough })
  func isUsedByKeyboard(mode: Mode) throws {
    let video = try Fixtures.made(
      "play.webm", ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=30", "-c:v", "libvpx", "-b:v", "300k"])
    let photo = try Fixtures.made("photo.jpg", ["-f", "lavfi", "-i", "testsrc2=s=320x180", "-frames:v", "1"])
    try onShare(mode) { share in
      try share.shell(
        "mkdir sub; cp '\(video)' 'one film.webm'; cp '\(video)' 'two films.webm'; cp '\(photo)' photo.jpg; cp '\(video)' sub/deep.webm"
      )
      try share.shell(
        #"cp photo.jpg '"><script>document.title=1<img src=x onerror=document.title=2>.jpg'; head -c 20000 "one film.webm" >cut.webm; echo no >broken.mp4"#
      )
      try share.waitUntilIdle()
      try share.run("cp", Script.root + "/Tests/Browser/browser.py", share.base)
      let result = try share.call(
        "env",
        [
          "TMPDIR=\(share.base)", "python3", "-c",
          """
          import sys; sys.path.insert(0, "\(share.base)")
          from browser import Browser
          b = Browser()
          b.open("\(share.folder)/.thumbs/index.html")
          b.until("document.querySelectorAll('.item').length === 6")
          b.until("[...document.querySelectorAll('.item img')].every(i => i.complete && i.naturalWidth > 0)")
          assert b.ask("document.title") == "share"
          assert b.ask("[...document.querySelectorAll('.item')].every(i => i.getAttribute('aria-label') && i.querySelector('img').alt)")
          assert b.ask("document.body.textContent.includes('<img src=x onerror')")
          # Damaged ones say why.
          assert b.ask("document.querySelector('[title=\\"cut.webm\\"] .badge.warn').textContent") == "incomplete"
          reason = b.ask("document.querySelector('[title=\\"cut.webm\\"] .facts.warn').textContent")
          assert reason.endswith(".") and len(reason) > 15, reason
          assert b.ask("document.querySelector('[title=\\"broken.mp4\\"] .badge.warn').textContent") == "invalid"
          # Search, open, play, next, close.
          b.key("/", "/"); assert b.ask("document.activeElement.id") == "search"
          b.type("FILM"); b.until("document.getElementById('count').textContent === '2 of 6'")
          b.key("Enter"); assert b.ask("document.activeElement.title") == "one film.webm"
          b.key("ArrowRight"); assert b.ask("document.activeElement.title") == "two films.webm"
          b.key("Enter", "\\r"); b.until("document.querySelector('dialog').open && document.querySelector('video').currentTime > 0.3")
          b.key("ArrowLeft"); b.until("document.querySelector('video').src.endsWith('one%20film.webm') && document.querySelector('video').currentTime > 0.1")
          b.key("Escape"); b.until("!document.querySelector('dialog').open && !document.querySelector('video')")
          b.until("document.activeElement.title === 'one film.webm'")
          b.key("/", "/"); b.key("Escape"); b.until("document.querySelectorAll('.item').length === 6")
          b.ask("(() => { const k = document.getElementById('kind'); k.value = 'image'; k.onchange(); })()")
          assert b.ask("document.querySelectorAll('.item').length") == 2
          b.ask("[...document.querySelectorAll('.item')].pop().click()"); b.until("document.querySelector('dialog img.photo').naturalWidth === 320")
          b.key("Escape")
          # Narrow as a telephone, nothing stands out.
          b.size(360, 700); b.until("document.documentElement.scrollWidth <= 360 && document.querySelectorAll('.item').length > 0")
          b.ask("document.querySelector('nav a').click()"); b.until("document.title === 'sub' && document.querySelectorAll('.item').length === 1")
          outside = [r for r in b.requests() if not r.startswith(("file://\(share.folder)/", "data:"))]
          assert not outside, outside
          assert not b.complaints(), b.complaints()
          b.end()
          """,
        ])
      #expect(result.code == 0)
    }
  }
}
