import Contracts
import Testing

@testable import Media

/// What cameras and telephones make and libav does not open.
@Suite struct PhotoTests {
  private static let large = Result { try Fixtures.video("l.jpg", Fixtures.quarters, ["-frames:v", "1"]) }
  private static let small = Result {
    try Fixtures.video("s.jpg", "color=black:s=160x90", ["-frames:v", "1"])
  }

  @Test(arguments: [("p.nef", "nikon"), ("p.arw", "sony"), ("p.dng", "adobe"), ("p.cr2", "canon")])
  func aRawFileShowsTheJPEGInIt(name: String, maker: String) throws {
    let file = try Raw.tiff(Self.small.get() + Raw.sensor + Self.large.get(), mark: name == "p.cr2" ? "CR" : "")
    let made = try Made(file, as: name)
    #expect(made.outcome.verdict == .ready && made.outcome.reason == "", "\(made.outcome.reason)")
    // Orientation 6: a quarter clockwise.
    #expect(try made.raster.corners == "brwg")
    let facts = made.outcome.facts
    #expect(facts.type?.identifier.contains(maker) == true && facts.type?.kind == .image)
    #expect(facts.cameraMake == "Maker" && facts.cameraModel == "Model 5" && facts.taken == "2024-05-01T12:30:00")
    #expect(facts.width == nil && facts.height == nil)
  }

  @Test func rawFilesOfOtherBuildsShowTheirs() throws {
    let jpeg = try Self.large.get()
    let fuji = Array("FUJIFILMCCD-RAW 0201".utf8) + [UInt8](repeating: 0, count: 100) + jpeg
    #expect(try Made(fuji, as: "p.raf").raster.corners == "rgbw")
    let words = HEIF.box("CMT1", Raw.tiff([], mark: ""))
    let canon =
      HEIF.box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8)) + HEIF.box("moov", HEIF.box("uuid", words))
      + HEIF.box("mdat", jpeg + Raw.sensor)
    let made = try Made(canon, as: "p.cr3")
    #expect(try made.raster.corners == "brwg")
    #expect(made.outcome.facts.cameraModel == "Model 5" && made.outcome.facts.type?.mime == "image/x-canon-cr3")
    #expect(try Made(Array(canon.dropLast()), as: "p.cr3").outcome.verdict == .incomplete)
  }

  @Test func withoutOneItIsUnsupportedAndCutItIsIncomplete() throws {
    let none = try Made(Raw.tiff(Raw.sensor, mark: ""), as: "p.nef").outcome
    #expect(none.verdict == .unsupported && none.placeholder == .photo)
    #expect(none.reason == "There is no decoder for image/x-nikon-nef, and no preview in the file.")
    let whole = try Raw.tiff(Self.large.get() + Raw.sensor, mark: "")
    let cut = try Made(Array(whole.dropLast()), as: "p.nef")
    #expect(cut.outcome.verdict == .incomplete)
    #expect(try cut.raster.corners == "brwg")
  }

  @Test func whatThereIsOfACutPhotoIsShown() throws {
    let whole = try Fixtures.video("p.jpg", "testsrc2=s=1280x720,drawbox=0:0:1280:360:red:fill", ["-frames:v", "1"])
    let made = try Made(Array(whole[..<(whole.count * 3 / 4)]), as: "p.jpg")
    #expect(made.outcome.verdict == .incomplete && made.outcome.reason == "The end of the file is missing.")
    #expect(try made.raster.letter(0.2, 0.2) == "r")
    // The rest is plainly missing.
    #expect(try made.raster.pixels.suffix(3).allSatisfy { abs(Int($0) - 128) <= 4 })
  }

  /// The turns of a file's properties, in their order.
  @Test(
    arguments: [
      ([], "rgbw"), ([("irot", 1)], "gwrb"), ([("irot", 2)], "wbgr"), ([("irot", 3)], "brwg"), ([("imir", 0)], "grwb"),
      ([("imir", 1)], "bwrg"), ([("irot", 1), ("imir", 0)], "wgbr"), ([("imir", 0), ("irot", 1)], "rbgw"),
    ] as [([(String, UInt8)], String)])
  func aPictureInBoxesStandsUpright(turns: [(String, UInt8)], corners: String) throws {
    for (name, kind) in [("p.heic", "hvc1"), ("p.avif", "av01")] {
      let picture = try HEIF.Coded(kind: kind, Fixtures.quarters, width: 320, height: 180)
      let made = try Made(HEIF.file(picture, turns: turns), as: name)
      #expect(made.outcome.verdict == .ready, "\(name): \(made.outcome.reason)")
      #expect(try made.raster.corners == corners, "\(name)")
      let isSideways = turns.contains { $0.0 == "irot" && $0.1 % 2 == 1 }
      #expect(made.outcome.facts.width == (isSideways ? 180 : 320))
      #expect(made.outcome.facts.type?.mime == (kind == "hvc1" ? "image/heic" : "image/avif"))
    }
  }

  /// A telephone's photo is put together of tiles.
  @Test(arguments: [false, true])
  func tilesArePutTogether(isInside: Bool) throws {
    let tiles = try ["red", "lime", "blue", "white"].map {
      try HEIF.Coded(kind: "hvc1", "color=\($0):s=160x96", width: 160, height: 96)
    }
    let grid = HEIF.Coded(
      kind: "grid", configuration: [], data: [0, 0, 1, 1, 1, 0x40, 0, 180], width: 320, height: 180)
    // Too small to be shown for it.
    let small = try HEIF.Coded(kind: "hvc1", "color=black:s=64x36", width: 64, height: 36)
    let file = HEIF.file(grid, turns: [("irot", 3)], small: small, tiles: tiles, isInside: isInside)
    let made = try Made(file, as: "p.heic", [.standard, Box(width: 1000, height: 1000)])
    #expect(made.outcome.verdict == .ready, "\(made.outcome.reason)")
    #expect(made.rasters.map(\.corners) == ["brwg", "brwg"])
    #expect(made.rasters.last?.width == 180 && made.rasters.last?.height == 320)
    #expect(made.outcome.facts.width == 180 && made.outcome.facts.videoCodec == "hevc")
    // One tile fewer than there should be, and one of another size.
    let missing = HEIF.file(grid, turns: [], tiles: Array(tiles.dropLast()), isInside: isInside)
    #expect(try Made(missing, as: "p.heic").outcome.verdict == .unsupported)
    let uneven = HEIF.file(grid, turns: [], tiles: tiles.dropLast() + [small], isInside: isInside)
    #expect(try Made(uneven, as: "p.heic").outcome.verdict == .unsupported)
  }

  /// Where there is one, the small picture beside it is what is shown.
  @Test func theSmallPictureOfATiledOneIsShown() throws {
    let small = try HEIF.Coded(kind: "hvc1", Fixtures.quarters, width: 320, height: 180)
    let tiled = HEIF.Coded(kind: "grid", configuration: [], data: [0, 0, 1, 1, 0, 0, 0, 0], width: 4032, height: 3024)
    let file = HEIF.file(tiled, turns: [("irot", 3)], small: small)
    let made = try Made(file, as: "p.heic")
    #expect(try made.raster.corners == "brwg")
    #expect(made.outcome.facts.width == 3024 && made.outcome.facts.height == 4032)
    #expect(try Made(Array(file.dropLast()), as: "p.heic").outcome.verdict == .incomplete)
    let alone = try Made(HEIF.file(tiled, turns: []), as: "p.heic").outcome
    #expect(alone.verdict == .unsupported && alone.placeholder == .photo)
  }

  /// Whatever stands in the description, the process stands.
  @Test func changedDescriptionsEndNothing() throws {
    let small = try HEIF.Coded(kind: "hvc1", Fixtures.quarters, width: 320, height: 180)
    let tiled = HEIF.Coded(kind: "grid", configuration: [], data: [0, 0, 1, 1, 0, 0, 0, 0], width: 4032, height: 3024)
    let files = try [HEIF.file(tiled, turns: [("irot", 3)], small: small), Raw.tiff(Self.small.get(), mark: "")]
    var state: UInt64 = 7
    for round in 0..<400 {
      var file = files[round % 2]
      for _ in 0..<6 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        file[Int(state >> 33) % min(file.count, 600)] = UInt8(truncatingIfNeeded: state >> 20)
      }
      _ = try Made(file, as: round % 2 == 0 ? "p.heic" : "p.nef")
    }
  }
}

/// Camera raw as far as it is looked at.
private enum Raw {
  /// What the sensor saw: a lossless JPEG of 4000x3000, as far as its header goes.
  static let sensor: [UInt8] =
    [0xff, 0xd8, 0xff, 0xc3, 0, 11, 14, 0x0b, 0xb8, 0x0f, 0xa0, 1, 0, 0x11, 0] + [UInt8](repeating: 0x55, count: 999)

  /// Little-endian, the data as one strip of a second directory.
  static func tiff(_ data: [UInt8], mark: String) -> [UInt8] {
    func number(_ value: Int, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func directory(_ entries: [(tag: Int, type: Int, count: Int, value: Int)]) -> [UInt8] {
      number(entries.count, 2)
        + entries.flatMap { number($0.tag, 2) + number($0.type, 2) + number($0.count, 4) + number($0.value, 4) }
        + number(0, 4)
    }
    let words = Array("Maker\0\0\0Model 5\0".utf8) + Array("2024:05:01 12:30:00\0".utf8)
    // The header, the words, the first directory, EXIF's and that of the data.
    let first = 16 + words.count
    let exif = first + 6 + 5 * 12
    let below = exif + 6 + 12
    let start = below + 6 + 2 * 12
    return Array("II".utf8) + [42, 0] + number(first, 4) + Array(mark.utf8)
      + [UInt8](repeating: 0, count: 8 - mark.utf8.count) + words
      + directory([
        (271, 2, 6, 16), (272, 2, 8, 24), (274, 3, 1, 6), (330, 4, 1, below), (34665, 4, 1, exif),
      ]) + directory([(36867, 2, 20, 32)])
      + directory([(273, 4, 1, start), (279, 4, 1, data.count)]) + data
  }
}

/// Still pictures in boxes, put together here.
enum HEIF {
  struct Coded {
    let kind: String
    let configuration: [UInt8]
    let data: [UInt8]
    let width: Int
    let height: Int

    init(kind: String, configuration: [UInt8], data: [UInt8], width: Int, height: Int) {
      (self.kind, self.configuration, self.data) = (kind, configuration, data)
      (self.width, self.height) = (width, height)
    }

    /// Coded by ffmpeg, as the only frame of an MP4 file.
    init(kind: String, _ source: String, width: Int, height: Int) throws {
      let coder =
        kind == "hvc1"
        ? ["-c:v", "libx265", "-x265-params", "log-level=1", "-tag:v", "hvc1"]
        : ["-c:v", "libaom-av1", "-cpu-used", "8"]
      let file = Bytes(try Fixtures.video("c.mp4", source, coder + ["-frames:v", "1", "-pix_fmt", "yuv420p"]))
      func content(_ kind: StaticString) throws -> [UInt8] {
        let place = try #require(file.first(kind))
        return Array(file.all[place + 4..<place - 4 + Int(try #require(file.big(place - 4, 4)))])
      }
      self.init(
        kind: kind, configuration: try content(kind == "hvc1" ? "hvcC" : "av1C"), data: try content("mdat"),
        width: width, height: height)
    }
  }

  static func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count + 8, 4) + Array(kind.utf8) + content
  }

  private static func big(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// A file of one picture, and a smaller one of it.
  /// - Parameters:
  ///   - tiles: what it is put together of.
  ///   - isInside: whether the picture's own bytes stand in the description.
  static func file(
    _ picture: Coded, turns: [(String, UInt8)], small: Coded? = nil, tiles: [Coded] = [], isInside: Bool = false
  ) -> [UInt8] {
    let all = [picture] + (small.map { [$0] } ?? []) + tiles
    let firstTile = all.count - tiles.count + 1
    var properties: [[UInt8]] = []
    var owned: [[Int]] = []
    for item in all {
      var mine = [box("ispe", big(0, 4) + big(item.width, 4) + big(item.height, 4))]
      if !item.configuration.isEmpty { mine.append(box(item.kind == "hvc1" ? "hvcC" : "av1C", item.configuration)) }
      mine.append(box("pixi", big(0, 4) + [3, 8, 8, 8]))
      mine += turns.map { box($0.0, [$0.1]) }
      owned.append(mine.indices.map { properties.count + $0 + 1 })
      properties += mine
    }
    let full = big(0, 4)
    let references =
      (small == nil ? [] : box("thmb", big(2, 2) + big(1, 2) + big(1, 2)))
      + (tiles.isEmpty
        ? []
        : box("dimg", big(1, 2) + big(tiles.count, 2) + tiles.indices.flatMap { big(firstTile + $0, 2) }))
    func description(_ start: Int) -> [UInt8] {
      var place = start
      var places: [UInt8] = [1, 0, 0, 0, 0x44, 0] + big(all.count, 2)
      for (index, item) in all.enumerated() {
        let isInside = isInside && index == 0
        places += big(index + 1, 2) + big(isInside ? 1 : 0, 2) + big(0, 2) + big(1, 2)
        places += big(isInside ? 0 : place, 4) + big(item.data.count, 4)
        if !isInside { place += item.data.count }
      }
      let kinds = all.enumerated().map { index, item in
        box("infe", [2, 0, 0, 0] + big(index + 1, 2) + big(0, 2) + Array(item.kind.utf8) + [0])
      }
      let owners = owned.enumerated().flatMap { index, mine in
        big(index + 1, 2) + [UInt8(mine.count)] + mine.map { UInt8($0) }
      }
      return box("ftyp", Array((picture.kind == "av01" ? "avif\0\0\0\0avifmif1" : "heic\0\0\0\0mif1heic").utf8))
        + box(
          "meta",
          full + box("hdlr", full + full + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
            + box("pitm", full + big(1, 2)) + box("iinf", full + big(all.count, 2) + kinds.flatMap { $0 })
            + (references.isEmpty ? [] : box("iref", full + references))
            + (isInside ? box("idat", picture.data) : [])
            + box("iprp", box("ipco", properties.flatMap { $0 }) + box("ipma", full + big(all.count, 4) + owners))
            + box("iloc", places))
    }
    let head = description(0).count
    return description(head + 8) + box("mdat", all.dropFirst(isInside ? 1 : 0).flatMap(\.data))
  }
}
