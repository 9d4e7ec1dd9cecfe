import Contracts
import Posix
import Testing

@testable import sharefs

@Suite struct OutputTests {
  @Test func columnsStandInLine() {
    var table = Table([.left, .right, .left], shrinking: 0)
    table.row(["a.mp4", "1.2 MB", "ready"])
    table.row(["longer/name.mkv", "3 B", ""])
    #expect(table.text(columns: nil) == "a.mp4            1.2 MB  ready\nlonger/name.mkv     3 B\n")
  }

  @Test func onATerminalThePathGivesWayFromItsLeftEnd() {
    var table = Table([.left, .left], shrinking: 0)
    table.row(["a/very/long/path/to/some/clip.mp4", "ready"])
    #expect(table.text(columns: 24) == "…to/some/clip.mp4  ready\n")
    for line in table.text(columns: 24).split(separator: "\n") { #expect(width(of: String(line)) <= 24) }
    #expect(table.text(columns: 24).contains("clip.mp4  ready"))
  }

  @Test func wideAndCombiningSignsAreCounted() {
    #expect(width(of: "日本") == 4)
    #expect(width(of: "e\u{301}") == 1)
  }

  @Test func numbersReadWell() {
    #expect(Words.size(999) == "999 B" && Words.size(1500) == "1.5 kB" && Words.size(12_345_678) == "12 MB")
    #expect(Words.size(999_600) == "1.0 MB")
    #expect(Words.number(25) == "25" && Words.number(30000.0 / 1001) == "29.97")
    #expect(Words.duration(7.4) == "0:07" && Words.duration(3723) == "1:02:03")
    #expect(Words.duration(.infinity) == "" && Words.duration(nil) == "" && Words.duration(-1) == "")
  }

  @Test func typesAreFiltered() throws {
    func selector(_ list: String) throws(Failure) -> TypeSelector {
      try TypeSelector(Arguments(.list, options: [.init(name: "type", value: FileName(list))]))
    }
    let failure = failure { () throws(Failure) in _ = try selector("film") }
    #expect(failure?.sentence == "There is no type \"film\"; the kinds are video, image, audio, document.")
    let filter = try selector("audio,public.mpeg-4")
    let types = [
      MediaType(kind: .video, identifier: "public.mpeg-4", mime: "video/mp4"),
      MediaType(kind: .audio, identifier: "public.mp3", mime: "audio/mpeg"),
      MediaType(kind: .video, identifier: "public.avi", mime: "video/x-msvideo"),
    ]
    #expect(types.map { filter.matches($0) } == [true, true, false])
    #expect(filter.matches(nil) == false)
  }
}
