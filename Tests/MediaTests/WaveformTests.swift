import Contracts
import Testing

@testable import Media

@Suite struct WaveformTests {
  /// A minute of which the first third is quiet, in whatever way a player finds its place in it.
  @Test(arguments: [
    "s.mp3", "low.mp3", "s.flac", "s.m4a", "s.ogg", "s.opus", "s.wav", "s.aiff", "s.wma", "s.mka", "s.aac", "s.ac3",
    "s.w64", "s.caf", "s.au",
  ])
  func quietPartsAreLow(name: String) throws {
    let source = "anoisesrc=d=60:c=pink:a=0.5:seed=1,volume='if(lt(t,20),0.1,1)':eval=frame"
    let rate = name == "low.mp3" ? ["-b:a", "48k"] : []
    let made = try Made(try Fixtures.make(name, ["-f", "lavfi", "-i", source] + rate), as: name)
    #expect(made.outcome.verdict == .ready)
    let raster = try made.raster
    // How much of each column is drawn.
    let drawn = (0..<raster.width).map { column in
      (0..<raster.height).count { raster.pixels[($0 * raster.width + column) * 3] > 180 }
    }
    let bars = stride(from: 17, to: 281, by: 4).map { start in drawn[start..<start + 4].max() ?? 0 }
    let quiet = bars.prefix(bars.count * 3 / 10)
    let loud = bars.suffix(bars.count * 6 / 10)
    #expect(quiet.allSatisfy { $0 < 30 }, "\(bars)")
    #expect(loud.allSatisfy { $0 > 40 }, "\(bars)")
  }
}
