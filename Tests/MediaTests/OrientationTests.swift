import Contracts
import Testing

@testable import Media

@Suite struct OrientationTests {
  private static let one: Int32 = 65536
  private static let quarters = Result { try Fixtures.video("q.mp4", Fixtures.quarters) }

  @Test(
    arguments: [
      ("none", [1, 0, 0, 1], "rgbw", 0), ("90", [0, 1, -1, 0], "brwg", 90), ("180", [-1, 0, 0, -1], "wbgr", 180),
      ("270", [0, -1, 1, 0], "gwrb", 270), ("mirrored", [-1, 0, 0, 1], "grwb", 0),
      ("mirrored, 90", [0, 1, 1, 0], "rbgw", 270), ("mirrored, 180", [1, 0, 0, -1], "bwrg", 180),
      ("mirrored, 270", [0, -1, -1, 0], "wgbr", 90), ("zeros", [0, 0, 0, 0], "rgbw", 0),
    ] as [(String, [Int32], String, Int)])
  func everyDisplayMatrixStandsUpright(name: String, matrix: [Int32], corners: String, rotation: Int) throws {
    let (a, b, c, d) = (matrix[0] * Self.one, matrix[1] * Self.one, matrix[2] * Self.one, matrix[3] * Self.one)
    let isZero = matrix.allSatisfy { $0 == 0 }
    let file = try Fixtures.turned(Self.quarters.get(), [a, b, 0, c, d, 0, 0, 0, isZero ? 0 : 1 << 30])
    let made = try Made(file, as: "q.mp4")
    #expect(try made.raster.corners == corners)
    #expect(made.outcome.facts.rotation == rotation)
    let isTall = b != 0
    #expect(try made.raster.width == (isTall ? 95 : 300) && made.raster.height == 169)
    #expect(made.outcome.facts.width == (isTall ? 180 : 320) && made.outcome.facts.height == (isTall ? 320 : 180))
  }

  /// EXIF's eight, in a segment written here.
  @Test(arguments: zip(1...8, ["rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"]))
  func everyOrientationOfAPhotoStandsUpright(tag: Int, corners: String) throws {
    let jpeg = try Fixtures.video("q.jpg", Fixtures.quarters, ["-frames:v", "1"])
    let directory: [UInt8] = [
      0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(tag), 0, 0, 0, 0, 0, 0,
    ]
    let segment = Array("Exif".utf8) + [0, 0] + directory
    let file = jpeg[..<2] + [0xff, 0xe1, 0, UInt8(segment.count + 2)] + segment + jpeg[2...]
    let made = try Made(Array(file), as: "photo.jpg")
    #expect(try made.raster.corners == corners)
    #expect(made.outcome.facts.type?.identifier == "public.jpeg")
  }

  @Test func matricesOfExtremeNumbersDoNotTrap() {
    for a in [Int32.min, -1, 0, 1, .max] {
      for b in [Int32.min, 0, .max] { _ = Orientation(a: a, b: b, c: b, d: a) }
    }
  }
}
