import Contracts
import Posix
import Testing

@testable import Gallery

/// What a page says, before a browser has seen it.
@Suite struct PageTests {
  private func page(_ path: String, _ names: [[UInt8]], folders: [String] = []) -> String {
    let items = names.map { name in
      PageItem(
        document: FileName(name), picture: FileName(name + Array(".png".utf8)),
        file: FileID(volume: 0, inode: 1, birth: FileTime(nanoseconds: 0)), size: 5,
        modified: FileTime(seconds: 86400, nanoseconds: 0), isOpen: true)
    }
    let folder = PageFolder(path: SharePath(path)!, folders: folders.map { FileName($0) }, items: items)
    return String(decoding: Page.make(folder, of: FileName("share")) { _ in nil }, as: UTF8.self)
  }

  /// Nothing in a name ends the string, the script or the page that it stands in.
  @Test(arguments: [
    #""><script>alert(1)</script>.mp4"#, "</script><img src=x onerror=alert(1)>.mp4", "'\"\\\u{2028}\n.mp4", "<!--.mp4",
    "${alert(1)}`.mp4", "a&amp;b.mp4",
  ]) func namesOfEveryKindAreOnlyShown(name: String) {
    let text = page(name.filter { $0 != "/" }, [Array(name.utf8).filter { $0 != UInt8(ascii: "/") }], folders: [name])
    let plain = page("x", [Array("y".utf8)], folders: ["z"])
    for mark in ["<script", "</script", "<img", "<!--", "\n", "alert(1)</"] {
      #expect(text.components(of: mark) == plain.components(of: mark), "\(mark)")
    }
  }

  @Test func linksAreBytes() {
    let text = page("a b/ü", [[0xff, UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"), 0x0a]])
    #expect(text.contains(#"documents: "../../../a%20b/%C3%BC/""#))
    #expect(
      text.contains(
        #"["\u005cxff?#%\u005cx0a","%FF%3F%23%25%0A","%FF%3F%23%25%0A.png","document",5,86400,0,0,0,"",""],"#))
  }

  /// No address of another place, no file that is not in the share.
  @Test func asksForNothingOutside() {
    let text = page("", [Array("a.mp4".utf8)])
    #expect(text.contains("default-src 'none'"))
    for mark in ["http:", "https:", "//cdn", "@import", "url(", "fetch(", "<link", "eval("] {
      #expect(!text.contains(mark), "\(mark)")
    }
  }

  /// Ten thousand documents open, scroll and are searched at once, since only what is seen exists.
  @Test(.enabled(if: Chromium.isInstalled, "chromium is not installed")) func tenThousandStaySmooth() throws {
    let text = page("", (0..<10_000).map { Array("clip \($0).mp4".utf8) })
    try Chromium.run(
      """
      # What is counted costs the same on every machine: elements made, and names compared for their order.
      b.call("Page.addScriptToEvaluateOnNewDocument", source=\"""
        const work = {made: 0, compared: 0}, make = document.createElement.bind(document), Collator = Intl.Collator;
        document.createElement = (...all) => { work.made++; return make(...all); };
        Intl.Collator = function(...all) { const real = new Collator(...all); return {compare: (a, b) => { work.compared++; return real.compare(a, b); }}; };
      \""")
      b.open(folder + "/index.html")
      b.until("document.querySelectorAll('.item').length > 10")
      assert b.ask("document.getElementById('count').textContent") == "10000 documents"
      compared = b.ask("work.compared"); assert 9999 <= compared < 200_000, compared
      tiles = b.ask("document.querySelectorAll('.item').length"); assert tiles < 250, tiles
      # A step makes no more than the tiles that come into sight, each of some elements.
      made = b.ask("(() => { const before = work.made; for (let i = 0; i < 40; i++) { scrollBy(0, 1000); dispatchEvent(new Event('scroll')); }"
                   " return (work.made - before) / 40; })()")
      assert 10 < made < 10 * tiles, (made, tiles)
      assert b.ask("document.querySelectorAll('.item').length") < 250
      # Who types has nothing put in order anew.
      b.key("/", "/"); b.type("99")
      b.until("document.querySelectorAll('.item').length > 10 && document.getElementById('count').textContent !== '10000 documents'")
      b.key("Escape"); b.until("document.getElementById('count').textContent === '10000 documents'")
      b.key("/", "/"); b.type("clip 9999"); b.key("Enter")
      assert b.ask("document.activeElement.getAttribute('aria-label')").startswith("clip 9999.mp4,")
      assert b.ask("work.compared") == compared, (b.ask("work.compared"), compared)
      """, page: text)
  }
}

/// The browser, driven by Tests/Browser/browser.py.
private enum Chromium {
  static let isInstalled = Files.mayAccess(FileName("/usr/bin/chromium"), 1)

  static func run(_ program: String, page: String) throws {
    let folder = (System.environment("TMPDIR") ?? FileName("/tmp")).appending("page-\(UInt64.random(in: 0 ... .max))")
    try Files.makeFolder(folder)
    try Files.replace(folder.appending("index.html"), with: Array(page.utf8))
    let tests = FileName(#filePath).parent!.parent!.appending("Browser")
    let beginning =
      "import sys; sys.path.insert(0, '\(tests)'); folder = '\(folder)'\nfrom browser import Browser\nb = Browser()\n"
    let ending = try Child.spawn(
      FileName("/usr/bin/env"),
      ["env", "PYTHONDONTWRITEBYTECODE=1", "python3", "-c", beginning + program + "\nb.end()"].map { FileName($0) },
      descriptors: [2: 2]
    ).wait()
    #expect(ending == .exited(0))
    _ = try Child.spawn(FileName("/bin/rm"), ["rm", "-rf", "\(folder)"].map { FileName($0) }).wait()
  }
}

extension String {
  fileprivate func components(of mark: String) -> Int {
    var count = 0
    var rest = self[...]
    while let found = rest.firstRange(of: mark) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }
}
