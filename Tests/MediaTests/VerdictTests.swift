import Contracts
import Glibc
import Posix
import Testing

@testable import Media

@Suite struct VerdictTests {
  /// Formats that say how long they are: a file cut anywhere is never called whole.
  @Test(
    arguments: [
      ("a.mp4", []), ("fast.mp4", ["-movflags", "faststart"]), ("frag.mp4", ["-movflags", "frag_keyframe+empty_moov"]),
      ("a.mov", []), ("a.mkv", []),
      ("a.webm", ["-c:v", "libvpx"]), ("a.avi", ["-c:v", "mpeg4"]), ("a.wmv", []), ("a.flv", []),
      ("a.jpg", ["-frames:v", "1"]),
      ("a.png", ["-frames:v", "1"]), ("a.webp", ["-frames:v", "1"]), ("a.bmp", ["-frames:v", "1"]),
      ("a.tiff", ["-frames:v", "1"]), ("a.gif", ["-t", "1"]),
    ] as [(String, [String])])
  func aCutFileIsIncompleteAndAWholeOneIsNot(name: String, arguments: [String]) throws {
    let whole = try Fixtures.video(name, Fixtures.moving, arguments)
    let ready = try Made(whole, as: name).outcome
    #expect(ready.verdict == .ready, "\(ready.reason)")
    #expect(ready.reason.isEmpty)
    for part in [10, 33, 50, 66, 90, 99] {
      let cut = try Made(Array(whole[..<(whole.count * part / 100)]), as: name).outcome
      #expect(cut.verdict == .incomplete, "\(part) % of \(name): \(cut.reason)")
      #expect(!cut.reason.isEmpty)
    }
  }

  @Test(arguments: ["a.wav", "a.mp3", "a.flac", "a.m4a", "a.aiff"])
  func cutSoundIsIncomplete(name: String) throws {
    let whole = try Fixtures.make(name, ["-f", "lavfi", "-i", "anoisesrc=d=5:seed=1"])
    #expect(try Made(whole, as: name).outcome.verdict == .ready)
    for part in [10, 50, 90] {
      #expect(
        try Made(Array(whole[..<(whole.count * part / 100)]), as: name).outcome.verdict == .incomplete, "\(part) %")
    }
  }

  @Test func aCutVideoMayShowWhatIsThere() throws {
    let whole = try Fixtures.video("a.mp4", Fixtures.quarters, ["-movflags", "faststart", "-g", "25"])
    let made = try Made(Array(whole[..<(whole.count * 9 / 10)]), as: "a.mp4")
    #expect(made.outcome.verdict == .incomplete)
    #expect(try made.raster.corners == "rgbw")
  }

  @Test func aPreallocatedCopyIsIncomplete() throws {
    let whole = try Fixtures.video("a.mkv", "testsrc2=s=640x360:d=6", ["-qp", "10"])
    try #require(whole.count > 200_000)
    let half = Array(whole[..<(whole.count / 2)]) + [UInt8](repeating: 0, count: whole.count - whole.count / 2)
    #expect(try Made(half, as: "a.mkv").outcome.verdict == .incomplete)
    #expect(try Made([UInt8](repeating: 0, count: 100_000), as: "a.mp4").outcome.verdict == .incomplete)
  }

  @Test(arguments: [
    ("empty.mp4", "", Verdict.incomplete, PlaceholderKind?.some(.video), "The file is empty."),
    ("empty.txt", "", .ready, .document, ""),
    ("note.txt", "hello", .ready, .document, ""), ("code.ts", "const a = 1;\n", .ready, .document, ""),
    ("data.json", "{\"a\": 1}", .ready, .document, ""),
    ("paper.pdf", "%PDF-1.4\n1 0 obj\n%%EOF\n", .ready, .document, ""),
    ("paper.pdf", "%PDF-1.4\n1 0 obj\n", .incomplete, .damaged, "The end of the file is missing."),
    (
      "json.mp4", "{\"a\": 1}", .invalid, .damaged,
      "It is not the video that its name says: the content is application/json."
    ),
    (
      "list.mp4", "ffconcat version 1.0\nfile /etc/passwd\n", .invalid, .damaged,
      "It is not the video that its name says: the content is text/plain."
    ),
    ("drawing.psd", "8BPS\0\u{1}", .invalid, .damaged, "The picture is damaged."),
    ("picture.ppm", "P3 2 1 255 255 0 0 0 0 255", .ready, nil, "Its format does not tell whether all of it is there."),
    ("letter.txt", "P3 is what we call it.", .ready, .document, ""),
    ("drawing.svg", "<svg xmlns='x'></svg>", .unsupported, .photo, "There is no decoder for SVG drawings."),
  ])
  func smallThingsAreWhatTheyAre(
    name: String, text: String, verdict: Verdict, placeholder: PlaceholderKind?, reason: String
  ) throws {
    let outcome = try Made(Array(text.utf8), as: name).outcome
    #expect(outcome.verdict == verdict)
    #expect(outcome.placeholder == placeholder)
    #expect(outcome.reason == reason)
  }

  @Test func garbageIsNoVideo() throws {
    var seed = SystemRandomNumberGenerator()
    let garbage = [0xaa] + (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &seed) }
    let outcome = try Made(garbage, as: "garbage.mp4").outcome
    #expect(outcome.verdict == .invalid && outcome.placeholder == .damaged)
    let data = try Made(garbage, as: "garbage.bin").outcome
    #expect(data.verdict == .ready && data.placeholder == .document)
  }

  @Test func contentAndNotTheNameDecides() throws {
    let outcome = try Made(try Fixtures.video("a.ts"), as: "really.mp4").outcome
    #expect(outcome.verdict == .ready)
    #expect(outcome.facts.type?.mime == "video/mp2t" && outcome.facts.container == "mpegts")
    #expect(try Made(try Fixtures.video("a.mkv"), as: "nameless").outcome.facts.type?.mime == "video/x-matroska")
  }

  @Test func anEncryptedVideoIsUnsupported() throws {
    var file = try Fixtures.video("a.mp4")
    let place = try #require(Bytes(file).first("avc1\0"))
    file.replaceSubrange(place..<place + 4, with: Array("encv".utf8))
    let outcome = try Made(file, as: "a.mp4").outcome
    #expect(outcome.verdict == .unsupported && outcome.placeholder == .video, "\(outcome.reason)")
  }

  @Test func aHugePictureIsRefusedByItsHeader() throws {
    var file = try Fixtures.video("a.png", Fixtures.moving, ["-frames:v", "1"])
    file.replaceSubrange(16..<24, with: [0, 0, 0x3e, 0x80, 0, 0, 0x3e, 0x80])
    let outcome = try Made(file, as: "bomb.png").outcome
    #expect(outcome.verdict == .unsupported && outcome.reason == "The picture has more than 134 million pixels.")
    file.replaceSubrange(16..<24, with: [UInt8](repeating: 0xff, count: 8))
    #expect(try Made(file, as: "bomb.png").outcome.verdict == .unsupported)
  }

  @Test func whatIsNoFileIsRefused() throws {
    let folder = try Descriptor.open("/tmp", O_RDONLY)
    let memory = try Descriptor.memory("pictures")
    let outcome = Engine().perform(
      Job(number: 1, task: .document(name: Array("a.mp4".utf8)), boxes: [.standard]), document: folder.raw,
      memory: memory.raw)
    #expect(outcome.verdict == .unsupported)
  }

  /// Any byte of the header may be anything: whatever comes of it, the process stands.
  @Test(arguments: ["a.mp4", "a.mkv", "a.avi", "a.ts", "a.png", "a.jpg", "a.gif", "a.tiff", "a.webp"])
  func changedBytesNeverEndTheProcess(name: String) throws {
    let isStill = ["a.png", "a.jpg", "a.gif", "a.tiff", "a.webp"].contains(name)
    let whole = try Fixtures.video(
      name, "testsrc2=s=64x36:d=1", isStill ? ["-frames:v", "1"] : name == "a.avi" ? ["-c:v", "mpeg4"] : [])
    var state: UInt64 = 42
    for _ in 0..<60 {
      var file = whole
      for _ in 0..<8 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        file[Int(state >> 33) % min(file.count, 1 << 14)] = UInt8(truncatingIfNeeded: state >> 20)
      }
      _ = try Made(file, as: name)
    }
  }
}
