import Contracts
import Glibc
import Posix
import Testing

@testable import Media

/// Against what ffmpeg itself makes of the same file, or against the numbers that went in.
@Suite struct RightPictureTests {
  /// A frame that a long way from the last keyframe is smeared or grey where decoding began too late.
  @Test(arguments: ["a.ts", "a.m2ts", "cut.ts"])
  func aStreamWithFewKeyframesIsNeverSmeared(name: String) throws {
    var file = try Fixtures.video(
      name, "testsrc2=s=320x180:r=25:d=12", ["-c:v", "libx264", "-g", "250", "-sc_threshold", "0", "-bf", "3"])
    if name == "cut.ts" { file = Array(file[(file.count / 4 / 188 * 188)...]) }
    let raster = try Made(file, as: name).raster
    let frames = try Fixtures.frames(file, name, "scale=300:169:flags=area")
    let best = frames.map { Fixtures.likeness(raster.pixels, $0) }.max() ?? 0
    #expect(best > 25, "\(best) dB against the most similar of \(frames.count) frames")
  }

  /// `scale` takes the pattern for BT.601 whatever is said of it, so both likenesses are some decibels below the true one.
  @Test(arguments: [("smpte2084", 23.0), ("arib-std-b67", 18.0)])
  func highDynamicRangeLooksLikeTheOriginal(transfer: String, least: Double) throws {
    let source =
      "testsrc2=s=1920x1080:r=24:d=0.5,format=yuv444p,setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv"
    let file = try Fixtures.video(
      "hdr.mp4",
      source + ",zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=2020:t=\(transfer):m=2020_ncl:r=tv:npl=203,"
        + "format=yuv420p10le",
      [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "log-level=1:keyint=12:colorprim=bt2020:transfer=\(transfer):colormatrix=bt2020nc", "-color_primaries",
        "bt2020",
        "-color_trc", transfer, "-colorspace", "bt2020nc", "-crf", "12",
      ])
    let raster = try Made(file, as: "hdr.mp4").raster
    let original = try Fixtures.make(
      "sdr.rgb", ["-f", "lavfi", "-i", source + ",scale=300:169:flags=area", "-f", "rawvideo", "-pix_fmt", "rgb24"])
    let size = 300 * 169 * 3
    let best = stride(from: 0, to: original.count, by: size).map {
      Fixtures.likeness(raster.pixels, Array(original[$0..<$0 + size]))
    }.max()
    #expect((best ?? 0) > least, "\(best ?? 0) dB")
  }

  @Test(arguments: [
    ("smpte170m", "smpte170m", "tv"), ("bt709", "bt709", "tv"), ("bt709", "bt709", "pc"), ("bt2020", "bt2020nc", "tv"),
    ("smpte170m", "bt470bg", "pc"),
  ])
  func barsHaveTheirColours(matrix: String, name: String, range: String) throws {
    let bars: [[Int]] = [
      [191, 191, 191], [191, 191, 0], [0, 191, 191], [0, 191, 0], [191, 0, 191], [191, 0, 0], [0, 0, 191], [0, 0, 0],
    ]
    let drawn = bars.enumerated().map { index, bar in
      let code = String(bar[0] << 16 | bar[1] << 8 | bar[2], radix: 16)
      return "drawbox=\(index * 160):0:160:720:0x\(String(repeating: "0", count: 6 - code.utf8.count))\(code):fill"
    }
    let file = try Fixtures.video(
      "bars.mp4", "color=black:s=1280x720:d=1:r=5,format=gbrp," + drawn.joined(separator: ","),
      [
        "-vf", "scale=out_color_matrix=\(matrix):out_range=\(range),format=yuv420p", "-c:v", "libx264", "-crf", "4",
        "-colorspace", name, "-color_range", range,
      ])
    let raster = try Made(file, as: "bars.mp4").raster
    for (index, bar) in bars.enumerated() {
      let place = (raster.height / 2 * raster.width + (2 * index + 1) * raster.width / 16) * 3
      for part in 0..<3 {
        #expect(abs(Int(raster.pixels[place + part]) - bar[part]) <= 3, "bar \(index) of \(name), \(range)")
      }
    }
  }

  /// One field is white and the other black: what mixes them is grey.
  @Test func interlacedVideoHasNoCombs() throws {
    let file = try Fixtures.video(
      "i.ts", "color=black:s=720x576:r=50:d=2,geq=lum='if(mod(N,2),235,16)':cb=128:cr=128,tinterlace=interleave_top",
      ["-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-top", "1", "-q:v", "2"])
    let raster = try Made(file, as: "i.ts").raster
    #expect(raster.pixels.allSatisfy { $0 < 20 } || raster.pixels.allSatisfy { $0 > 235 })
  }

  @Test(
    arguments: [
      ("pal.png", ["-frames:v", "1", "-pix_fmt", "pal8"]), ("deep.png", ["-frames:v", "1", "-pix_fmt", "rgb48be"]),
      ("alpha.png", ["-frames:v", "1", "-pix_fmt", "rgba64be"]),
      ("ten.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv420p10le"]),
      ("wide.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv422p"]),
      ("full.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv444p"]),
      ("rgb.mp4", ["-c:v", "libx264rgb"]),
      ("twelve.mkv", ["-c:v", "libx265", "-pix_fmt", "yuv422p12le", "-x265-params", "log-level=1"]),
      ("vp9.webm", ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv444p", "-deadline", "realtime", "-t", "1"]),
      ("ffv1.mkv", ["-c:v", "ffv1", "-pix_fmt", "yuv444p16le", "-t", "1"]),
      ("pal.avi", ["-c:v", "rawvideo", "-pix_fmt", "pal8", "-t", "1"]),
      ("j.jpg", ["-frames:v", "1", "-pix_fmt", "yuvj444p"]),
    ] as [(String, [String])])
  func everyPixelFormatIsShown(name: String, arguments: [String]) throws {
    let made = try Made(try Fixtures.video(name, Fixtures.quarters, arguments), as: name)
    #expect(try made.raster.corners == "rgbw", "\(made.outcome.reason)")
  }

  @Test(arguments: ["grey.jpg", "grey.png", "grey16.png"])
  func greyStaysGrey(name: String) throws {
    let format = name == "grey16.png" ? "gray16be" : "gray"
    let file = try Fixtures.video(name, "color=0x808080:s=320x180", ["-frames:v", "1", "-pix_fmt", format])
    #expect(try Made(file, as: name).raster.pixels.allSatisfy { abs(Int($0) - 128) <= 2 })
  }

  @Test func aStreamMayChangeItsSizeMidway() throws {
    for (name, codec, format) in [
      ("a.ts", "libx264", "yuv420p"), ("b.ts", "mpeg2video", "yuv420p"), ("c.ts", "libx264", "yuv444p"),
    ] {
      let first = try Fixtures.video(name, "color=black:s=160x90:r=25:d=4", ["-c:v", codec])
      let second = try Fixtures.video(
        name, Fixtures.quarters, ["-c:v", codec, "-pix_fmt", format, "-output_ts_offset", "4"])
      let made = try Made(first + second, as: name)
      #expect(try made.raster.corners == "rgbw", "\(name)")
    }
  }

  @Test func theDefaultTrackIsShownElseTheLargest() throws {
    let two = [
      "-f", "lavfi", "-i", "color=black:s=640x360:d=2", "-f", "lavfi", "-i", Fixtures.quarters + ",trim=end=2", "-map",
      "0", "-map", "1",
    ]
    let byDefault = try Fixtures.make("d.mkv", two + ["-disposition:v:0", "0", "-disposition:v:1", "default"])
    #expect(try Made(byDefault, as: "d.mkv").raster.corners == "rgbw")
    let bySize = try Fixtures.make(
      "l.mkv",
      [
        "-f", "lavfi", "-i", "color=black:s=160x90:d=2", "-f", "lavfi", "-i", Fixtures.quarters + ",trim=end=2", "-map",
        "0", "-map", "1", "-disposition:v:0", "0", "-disposition:v:1", "0",
      ])
    #expect(try Made(bySize, as: "l.mkv").raster.corners == "rgbw")
  }
}

extension Fixtures {
  /// All frames as ffmpeg decodes them one after the other, as rows of RGB.
  static func frames(_ file: [UInt8], _ name: String, _ filter: String) throws -> [[UInt8]] {
    let document = try Descriptor.memory("document")
    try document.write(file)
    let out = try Descriptor.memory("frames")
    let words = [
      "ffmpeg", "-nostdin", "-loglevel", "fatal", "-i", "/proc/self/fd/3", "-vf", filter + ",format=rgb24", "-f",
      "rawvideo", "-",
    ]
    let child = try Child.spawn(
      FileName("/usr/bin/ffmpeg"), words.map { FileName($0) }, descriptors: [1: out.raw, 3: document.raw])
    try #require(try child.wait() == .exited(0))
    let all = try out.readAll(limit: 256 << 20)
    let size = 300 * 169 * 3
    return stride(from: 0, to: all.count - size + 1, by: size).map { Array(all[$0..<$0 + size]) }
  }

  /// Peak signal to noise, in decibels.
  static func likeness(_ left: [UInt8], _ right: [UInt8]) -> Double {
    guard left.count == right.count, !left.isEmpty else { return 0 }
    var sum = 0
    for place in left.indices {
      let difference = Int(left[place]) - Int(right[place])
      sum += difference * difference
    }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * Double(left.count) / Double(sum))
  }
}
