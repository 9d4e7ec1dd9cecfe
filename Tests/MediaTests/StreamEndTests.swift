import Contracts
import Testing

@testable import Media

/// The end of a program stream and of a transport stream.
@Suite struct StreamEndTests {
  @Test(arguments: [("a.mpg", []), ("a.vob", ["-f", "vob"]), ("d.mpg", ["-f", "dvd"])] as [(String, [String])])
  func aCutProgramStreamIsIncomplete(name: String, arguments: [String]) throws {
    let whole = try Fixtures.video(name, Fixtures.moving, ["-c:v", "mpeg2video"] + arguments)
    #expect(try Made(whole, as: name).outcome.verdict == .ready)
    for part in [10, 33, 50, 66, 90, 99] {
      let cut = try Made(Array(whole[..<(whole.count * part / 100 | 1)]), as: name).outcome
      #expect(cut.verdict == .incomplete, "\(part) %: \(cut.reason)")
    }
  }

  /// Such streams do not say where they end: that they end within a part, or within a picture, tells.
  @Test(
    arguments: [
      ("a.ts", ["-c:v", "libx264"]), ("b.ts", ["-q:v", "2"]),
      ("c.m2ts", ["-c:v", "libx264", "-f", "mpegts", "-mpegts_m2ts_mode", "1"]),
      ("d.ts", ["-f", "lavfi", "-i", "anoisesrc=d=6:seed=1", "-c:a", "mp2", "-b:a", "384k"]),
    ] as [(String, [String])])
  func aTransportStreamCutWithinAPictureIsIncomplete(name: String, arguments: [String]) throws {
    let stream = try Stream(Fixtures.video(name, "testsrc2=s=640x360:r=25:d=6", arguments), name)
    #expect(try stream.made(stream.count).verdict == .ready)
    for part in [10, 33, 50, 66, 90, 99] {
      let count = try stream.midst(after: stream.count * part / 100)
      let cut = try stream.made(count)
      #expect(cut.verdict == .incomplete, "\(part) %: \(cut.reason)")
      // Between two parts nothing tells, and that is said.
      let between = try stream.made(stream.edge(after: count))
      #expect(between.verdict == .ready && between.reason == "Its format does not tell whether all of it is there.")
      #expect(try Made(Array(stream.bytes[..<(count * stream.length + 9)]), as: name).outcome.verdict == .incomplete)
    }
  }

  /// A part may fill its last packet by chance.
  @Test(arguments: ["h264", "mpeg2video"])
  func aWholeStreamThatEndsWithAFullPacketIsNotIncomplete(codec: String) throws {
    let stream = try Stream(
      Fixtures.video("a.ts", Fixtures.moving, ["-c:v", codec == "h264" ? "libx264" : codec]), "a.ts")
    var bytes = stream.bytes
    let last = try #require((0..<stream.count).last { stream.id($0) == 0x100 }) * 188
    // Its stuffing becomes zeros behind the picture, which may stand there.
    try #require(bytes[last + 3] & 0x20 != 0)
    let stuffing = 1 + Int(bytes[last + 4])
    let content = Array(bytes[last + 4 + stuffing..<last + 188])
    bytes[last + 3] &= ~0x20
    bytes.replaceSubrange(last + 4..<last + 188, with: content + [UInt8](repeating: 0, count: stuffing))
    #expect(try Made(bytes, as: "a.ts").outcome.verdict == .ready)
  }

  /// What was recorded from the air begins and ends anywhere.
  @Test func aRecordingIsNotCut() throws {
    let stream = try Stream(
      Fixtures.video("a.ts", Fixtures.moving, ["-c:v", "mpeg2video", "-g", "12", "-b:v", "3M"]), "a.ts")
    let (from, to) = (try stream.midst(after: stream.count / 5), try stream.midst(after: stream.count / 2))
    let recorded = try Made(Array(stream.bytes[from * 188..<to * 188]), as: "a.ts")
    #expect(recorded.outcome.verdict == .ready, "\(recorded.outcome.reason)")
    #expect(!recorded.rasters.isEmpty)
  }
}

/// A transport stream by its packets.
private struct Stream {
  let bytes: [UInt8]
  let length: Int
  let name: String

  init(_ bytes: [UInt8], _ name: String) throws {
    (self.bytes, self.name) = (bytes, name)
    length = try #require(TypeDetection.packets(Bytes(bytes))).length
  }

  var count: Int { bytes.count / length }

  /// The number of the stream that a packet belongs to.
  func id(_ packet: Int) -> Int {
    let mark = packet * length + length - 188
    return Int(bytes[mark + 1] & 31) << 8 | Int(bytes[mark + 2])
  }

  private func isStart(_ packet: Int) -> Bool { bytes[packet * length + length - 188 + 1] & 0x40 != 0 }

  /// How many packets to keep so that a part of the pictures breaks off.
  func midst(after place: Int) throws -> Int {
    let packets = (1..<count).filter { isWithinAPart($0) }
    return try #require(packets.first { $0 >= place } ?? packets.last)
  }

  private func isWithinAPart(_ packet: Int) -> Bool {
    let id = id(packet)
    // At some edges a camera goes on in another file.
    return (0x100..<0x1fff).contains(id) && id == self.id(packet - 1) && !isStart(packet) && packet % 32 != 0
  }

  /// How many packets to keep so that the next part begins.
  func edge(after place: Int) -> Int { (place..<count).first { isStart($0) } ?? count }

  func made(_ packets: Int) throws -> Outcome { try Made(Array(bytes[..<(packets * length)]), as: name).outcome }
}
