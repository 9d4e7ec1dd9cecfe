import Contracts
import Testing

@testable import Media

/// What few people have, and libav can read: a picture all the same.
@Suite struct RarePictureTests {
  @Test(arguments: [
    "p.jp2", "p.j2k", "p.tga", "p.pcx", "p.ppm", "p.pam", "p.pfm", "p.sgi", "p.sun", "p.dpx", "p.exr", "p.qoi", "p.xwd",
    "p.apng", "p.ico",
  ])
  func picturesOfOtherProgramsAreShown(name: String) throws {
    let size = name == "p.ico" ? ["-s", "160x90"] : []
    let made = try Made(try Fixtures.video(name, Fixtures.quarters, ["-frames:v", "1"] + size), as: name)
    #expect(made.outcome.verdict == .ready, "\(made.outcome.reason)")
    #expect(try made.raster.corners == "rgbw")
    #expect(made.outcome.facts.type?.kind == .image)
  }

  @Test(arguments: ["p.pgm", "p.pbm", "p.xbm", "p.fits"])
  func theGreyOnesToo(name: String) throws {
    let source = "color=black:s=320x180:d=1,drawbox=160:0:160:180:white:fill"
    let made = try Made(try Fixtures.video(name, source, ["-frames:v", "1"]), as: name)
    #expect(try made.raster.corners == "kwkw")
    #expect(made.outcome.facts.type?.kind == .image)
  }

  /// A middle grey of light is shown as light as a screen makes it.
  @Test func numbersOfLightAreNotShownTooDark() throws {
    let file = try Fixtures.video("p.exr", "color=0x808080:s=64x64:d=1,format=gbrpf32le", ["-frames:v", "1"])
    let pixel = try Made(file, as: "p.exr").raster.pixels[0]
    #expect(abs(Int(pixel) - 188) <= 3, "\(pixel)")
  }

  /// Streams without a container and containers of other trades, by their content alone where that says enough.
  @Test(
    arguments: [
      ("a.hevc", "nameless", ["-c:v", "libx265", "-x265-params", "log-level=1"]), ("a.h264", "nameless", []),
      ("a.m2v", "nameless", []), ("a.drc", "a.drc", ["-c:v", "vc2", "-t", "1"]),
      ("a.obu", "a.obu", ["-c:v", "libaom-av1", "-cpu-used", "8", "-t", "0.4"]), ("a.wtv", "nameless", []),
      ("a.gxf", "a.gxf", ["-c:v", "mpeg2video", "-s", "720x576"]),
      ("a.roq", "a.roq", ["-s", "512x256", "-r", "30", "-t", "0.2"]),
      ("a.h263", "a.h263", ["-s", "352x288"]), ("a.h261", "a.h261", ["-s", "352x288", "-r", "29.97"]),
      ("a.dnxhd", "a.dnxhd", ["-s", "1920x1080", "-b:v", "36M", "-pix_fmt", "yuv422p", "-t", "0.4"]),
    ] as [(String, String, [String])])
  func streamsOfOtherTradesAreShown(made: String, name: String, arguments: [String]) throws {
    let made = try Made(try Fixtures.video(made, Fixtures.quarters, arguments), as: name)
    #expect(try made.raster.corners == "rgbw")
    #expect(made.outcome.facts.type?.kind == .video)
  }
}
