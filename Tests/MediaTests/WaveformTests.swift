import Contracts
import Testing

@testable import Media

@Suite struct WaveformTests {
  /// A minute of which the first third is quiet, in whatever way a player finds its place in it.
  @Test(arguments: [
    "s.mp3", "low.mp3", "s.flac", "s.m4a", "s.ogg", "s.opus", "s.wav", "s.aiff", "s.wma", "s.mka", "s.aac", "s.ac3",
    "s.w64", "s.caf", "s.au", "vbr.mp3", "tag.mp3",
  ])
  func quietPartsAreLow(name: String) throws {
    // Of what is nearly silent a file of a variable rate has nearly no bytes, so that its first third is far less than a third of it.
    let volume = name == "vbr.mp3" ? 0.0005 : 0.1
    let source = "anoisesrc=d=60:c=pink:a=0.5:seed=1,volume='if(lt(t,20),\(volume),1)':eval=frame"
    let more =
      [
        "low.mp3": ["-b:a", "48k"], "vbr.mp3": ["-q:a", "5"],
        "tag.mp3": ["-b:a", "32k", "-metadata", "comment=" + String(repeating: "word ", count: 20_000)],
      ][name] ?? []
    let made = try Made(try Fixtures.make(name, ["-f", "lavfi", "-i", source] + more), as: name)
    try check(made)
  }

  /// Discs with more than two channels have it like that.
  @Test func soundInTheDisguiseOfSamplesIsHeard() throws {
    let source = "anoisesrc=d=60:c=pink:a=0.5:seed=1:r=44100,volume='if(lt(t,20),0.1,1)':eval=frame"
    let dts = try Fixtures.make(
      "s.dts", ["-f", "lavfi", "-i", source, "-ac", "2", "-c:a", "dca", "-strict", "-2", "-b:a", "1411200"])
    func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> ($0 * 8) & 255) } }
    let format = little(1, 2) + little(2, 2) + little(44100, 4) + little(176_400, 4) + little(4, 2) + little(16, 2)
    let file =
      Array("RIFF".utf8) + little(36 + dts.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
      + Array("data".utf8) + little(dts.count, 4) + dts
    let made = try Made(file, as: "s.wav")
    #expect(made.outcome.facts.audioCodec == "dts")
    try check(made)
  }

  private func check(_ made: Made) throws {
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
