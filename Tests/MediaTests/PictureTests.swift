import Contracts
import Posix
import Testing

@testable import Media

@Suite struct PictureTests {
  /// Containers and codecs that people have, each with what ffmpeg needs to make it.
  @Test(
    arguments: [
      ("a.mp4", []), ("a.mov", []), ("a.m4v", []), ("a.mkv", []), ("a.avi", ["-c:v", "mpeg4"]),
      ("a.webm", ["-c:v", "libvpx"]), ("a.ts", []), ("a.m2ts", []), ("a.mpg", []), ("a.wmv", []), ("a.flv", []),
      ("a.ogv", ["-c:v", "libtheora"]), ("a.gif", ["-t", "1"]), ("a.mxf", ["-c:v", "mpeg2video"]),
      ("a.ivf", ["-c:v", "libvpx"]),
      ("a.swf", []), ("a.h264", []), ("a.m1v", ["-c:v", "mpeg1video"]),
      ("hevc.mp4", ["-c:v", "libx265", "-x265-params", "log-level=1"]),
      ("mjpeg.avi", ["-c:v", "mjpeg"]), ("prores.mov", ["-c:v", "prores_ks"]),
      ("frag.mp4", ["-movflags", "frag_keyframe+empty_moov"]),
      ("open.mp4", ["-x264-params", "open-gop=1:keyint=30:bframes=3"]),
      ("intra.mp4", ["-x264-params", "intra-refresh=1:keyint=60"]),
      ("intra.ts", ["-x264-params", "intra-refresh=1:keyint=60"]), ("hours.ts", ["-output_ts_offset", "36000"]),
      ("ten.mp4", ["-output_ts_offset", "10"]),
    ] as [(String, [String])])
  func everyCommonContainerGivesARealPicture(name: String, arguments: [String]) throws {
    let made = try Made(try Fixtures.video(name, Fixtures.quarters, arguments), as: name)
    #expect(made.outcome.verdict == .ready, "\(made.outcome.reason)")
    #expect(try made.raster.corners == "rgbw")
    #expect(try made.raster.width == 300 && made.raster.height == 169)
    #expect(made.outcome.facts.width == 320 && made.outcome.facts.height == 180)
  }

  @Test(arguments: ["0.04", "0.12", "1", "4.9", "5", "5.1"])
  func clipsOfAnyLengthHaveAFrame(seconds: String) throws {
    for name in ["c.mp4", "c.mkv", "c.ts"] {
      let made = try Made(try Fixtures.video(name, Fixtures.quarters, ["-t", seconds, "-bf", "2"]), as: name)
      #expect(try made.raster.corners == "rgbw", "\(name) of \(seconds) s")
    }
  }

  @Test func soundMayBeLongerThanThePicture() throws {
    let file = try Fixtures.make(
      "a.mp4", ["-f", "lavfi", "-i", Fixtures.quarters + ",trim=end=2", "-f", "lavfi", "-i", "sine=d=20"])
    let made = try Made(file, as: "a.mp4")
    #expect(try made.raster.corners == "rgbw")
    #expect(made.outcome.facts.hasAudio == true && made.outcome.facts.audioCodec == "aac")
  }

  @Test(arguments: [
    ("testsrc2=s=320x320:d=1", "16/9", 300, 169), ("testsrc2=s=720x576:d=1", "64/45", 300, 169),
    ("testsrc2=s=720x576:d=1", "16/15", 225, 169), ("testsrc2=s=640x360:d=1", "9/16", 169, 169),
    ("testsrc2=s=640x360:d=1", "80/33", 300, 70), ("testsrc2=s=360x640:d=1", "1", 95, 169),
    ("testsrc2=s=64x36:d=1", "1", 64, 36), ("testsrc2=s=64x2000:d=1", "1", 5, 169),
  ])
  func aspectIsThatOfTheDisplay(source: String, sampleAspect: String, width: Int, height: Int) throws {
    let made = try Made(try Fixtures.video("s.mp4", source, ["-vf", "setsar=\(sampleAspect)"]), as: "s.mp4")
    #expect(try made.raster.width == width && made.raster.height == height)
  }

  @Test func severalSizesComeFromOneJob() throws {
    let boxes = [Box.standard, Box(width: 128, height: 128), Box(width: 256, height: 256), Box(width: 40, height: 400)]
    let made = try Made(try Fixtures.video("s.mp4", Fixtures.quarters), as: "s.mp4", boxes)
    #expect(made.rasters.map(\.width) == [300, 128, 256, 40])
    #expect(made.rasters.map(\.corners) == ["rgbw", "rgbw", "rgbw", "rgbw"])
  }

  @Test func aBlackBeginningIsPassedOver() throws {
    let file = try Fixtures.make(
      "b.mp4",
      [
        "-f", "lavfi", "-i", "color=black:s=320x180:r=25:d=5.6", "-f", "lavfi", "-i", Fixtures.quarters,
        "-filter_complex", "concat", "-g", "50",
      ])
    #expect(try Made(file, as: "b.mp4").raster.corners == "rgbw")
  }

  @Test func theNamedMatrixIsUsed() throws {
    for (matrix, name) in [("bt709", "bt709"), ("smpte170m", "smpte170m"), ("bt2020", "bt2020nc")] {
      let file = try Fixtures.video(
        "c.mp4", "color=0x1080c0:s=640x360:d=1,format=gbrp",
        ["-vf", "scale=out_color_matrix=\(matrix),format=yuv420p", "-colorspace", name, "-qp", "4"])
      let raster = try Made(file, as: "c.mp4").raster
      let middle = (raster.height / 2 * raster.width + raster.width / 2) * 3
      for (part, expected) in [0x10, 0x80, 0xc0].enumerated() {
        #expect(abs(Int(raster.pixels[middle + part]) - expected) <= 3, "\(name)")
      }
    }
  }

  /// Red, green and blue stay what they are, whatever else is done to the picture.
  @Test(arguments: ["p.png", "p.bmp", "p.gif", "p.tiff", "pal.png", "deep.png", "alpha.png", "bgr.avi"])
  func coloursOfAPictureInThemAreKept(name: String) throws {
    let format = ["pal.png": "pal8", "deep.png": "rgb48be", "alpha.png": "rgba", "bgr.avi": "bgr24", "p.gif": "rgb8"]
    let more = name == "bgr.avi" ? ["-c:v", "rawvideo"] : []
    let file = try Fixtures.video(
      name, "color=0x2080c0:s=640x360:d=1,format=gbrp",
      ["-frames:v", "1", "-pix_fmt", format[name] ?? "rgb24"] + more)
    let raster = try Made(file, as: name).raster
    // A palette's colours are ffmpeg's choice.
    let isCoarse = name == "p.gif" || name == "pal.png"
    let expected = [0x20, 0x80, 0xc0]
    for place in [0, raster.pixels.count / 2 / 3 * 3] {
      let found = raster.pixels[place..<place + 3].map { Int($0) }
      let worst = zip(found, expected).map { abs($0 - $1) }.max() ?? 255
      #expect(worst <= (isCoarse ? 24 : 1), "\(found)")
    }
  }

  @Test func transparencyShowsTheCheckerboard() throws {
    let file = try Fixtures.video("t.png", "color=red@0.0:s=300x169:d=1,format=rgba", ["-frames:v", "1"])
    let raster = try Made(file, as: "t.png").raster
    #expect(raster.pixels[0] == Checkerboard.light && raster.pixels[Checkerboard.edge * 3] == Checkerboard.dark)
  }

  @Test(arguments: ["p.jpg", "p.png", "p.webp", "p.tiff", "p.bmp"])
  func photosAreShown(name: String) throws {
    let made = try Made(try Fixtures.video(name, Fixtures.quarters, ["-frames:v", "1"]), as: name)
    #expect(try made.raster.corners == "rgbw")
    #expect(made.outcome.facts.type?.kind == .image)
  }

  @Test(arguments: ["s.mp3", "s.flac", "s.m4a", "s.ogg", "s.opus", "s.wav", "s.aiff", "s.wma", "s.mka"])
  func soundHasAWaveform(name: String) throws {
    let made = try Made(try Fixtures.make(name, ["-f", "lavfi", "-i", "sine=d=5"]), as: name)
    #expect(made.outcome.verdict == .ready, "\(made.outcome.reason)")
    #expect(try made.raster.width == 300)
    #expect(made.outcome.facts.type?.kind == .audio)
    #expect(try made.raster.liveliness > 10)
  }

  @Test func aCoverStandsForItsSong() throws {
    let file = try Fixtures.make(
      "c.mp3",
      [
        "-f", "lavfi", "-i", "sine=d=2", "-f", "lavfi", "-i", Fixtures.quarters, "-map", "0", "-map", "1", "-frames:v",
        "1", "-c:v", "png", "-disposition:v", "attached_pic",
      ])
    let made = try Made(file, as: "c.mp3")
    #expect(try made.raster.corners == "rgbw")
    #expect(made.outcome.facts.type?.kind == .audio)
  }

  @Test func placeholdersDifferByKindAtAnySize() throws {
    let engine = Engine()
    for box in [Box.standard, Box(width: 128, height: 128), Box(width: 1, height: 1)] {
      var seen: Set<[UInt8]> = []
      for kind in PlaceholderKind.allCases {
        let memory = try Descriptor.memory("pictures")
        let outcome = engine.perform(Job(number: 1, task: .placeholder(kind), boxes: [box]), memory: memory.raw)
        #expect(outcome.verdict == .ready && outcome.placeholder == nil && outcome.pictures.count == 1)
        seen.insert(try memory.readAll(limit: 1 << 20))
      }
      #expect(seen.count == PlaceholderKind.allCases.count)
    }
  }
}
