import Contracts
import Glibc
import Posix
import Testing

@testable import Media

/// Small media files, made with Debian's ffmpeg when they are first asked for.
enum Fixtures {
  /// Top left red, top right green, bottom left blue, bottom right white.
  static let quarters =
    "color=red:s=320x180:r=25:d=6,drawbox=160:0:160:90:lime:fill,drawbox=0:90:160:90:blue:fill,"
    + "drawbox=160:90:160:90:white:fill"
  static let moving = "testsrc2=s=320x180:r=25:d=6"

  /// - Returns: the bytes of the file that ffmpeg makes with `arguments`.
  static func make(_ name: String, _ arguments: [String]) throws -> [UInt8] {
    var template = Array("/tmp/sharefs-media-XXXXXX".utf8CString)
    let folder = unsafe String(cString: mkdtemp(&template))
    defer {
      unsafe unlink("\(folder)/\(name)")
      unsafe rmdir(folder)
    }
    let child = try Child.spawn(
      FileName("/usr/bin/ffmpeg"),
      (["ffmpeg", "-nostdin", "-loglevel", "error"] + arguments + ["-threads", "1", "\(folder)/\(name)"]).map {
        FileName($0)
      })
    #expect(try child.wait() == .exited(0), "ffmpeg made no \(name)")
    return try Descriptor.open("\(folder)/\(name)", O_RDONLY).readAll(limit: 64 << 20)
  }

  static func video(_ name: String, _ source: String = moving, _ more: [String] = []) throws -> [UInt8] {
    try make(name, ["-f", "lavfi", "-i", source] + more)
  }

  /// The MP4 file with another display matrix in its track header.
  static func turned(_ file: [UInt8], _ matrix: [Int32]) throws -> [UInt8] {
    var file = file
    let bytes = Bytes(file)
    let place = try #require(bytes.first("tkhd")) + 44
    for (index, number) in matrix.enumerated() {
      for byte in 0..<4 {
        file[place + index * 4 + byte] = UInt8(truncatingIfNeeded: number >> Int32(24 - byte * 8))
      }
    }
    return file
  }
}

/// What the engine made of some bytes.
struct Made {
  let outcome: Outcome
  let rasters: [Raster]

  init(_ bytes: [UInt8], as name: String, _ boxes: [Box] = [.standard]) throws {
    let document = try Descriptor.memory("document")
    try document.write(bytes)
    let memory = try Descriptor.memory("pictures")
    let job = Job(number: 1, task: .document(name: Array(name.utf8)), boxes: boxes)
    outcome = Engine().perform(job, document: document.raw, memory: memory.raw)
    // As the daemon gets it.
    let size = Int(try memory.status().size)
    #expect(try Frame.outcome(Frame.encode(outcome), for: job, memory: size) == outcome)
    let all = try memory.readAll(limit: 16 << 20)
    rasters = try outcome.pictures.map { try Self.read(Array(all[$0.offset..<$0.offset + $0.length])) }
    for (raster, drawn) in zip(rasters, outcome.pictures) {
      #expect(raster.width == drawn.width && raster.height == drawn.height)
    }
  }

  static func read(_ png: [UInt8]) throws -> Raster {
    let frame = try DecodedFrame()
    try Still.decode(Packet.of(png), Format.png.still!, into: frame)
    return try Scaler.raster(
      frame, sampleAspect: 1, orientation: .upright, isStill: true, Box(width: 4096, height: 4096))
  }

  var raster: Raster {
    get throws { try #require(rasters.first, "\(outcome.verdict): \(outcome.reason)") }
  }
}

extension Raster {
  /// One letter for the plain colour nearest to the pixel at these parts of width and height.
  func letter(_ x: Double, _ y: Double) -> Character {
    let place = (Int(y * Double(height)) * width + Int(x * Double(width))) * 3
    let parts = pixels[place..<place + 3].map { $0 > 128 }
    switch parts {
    case [true, false, false]: return "r"
    case [false, true, false]: return "g"
    case [false, false, true]: return "b"
    case [true, true, true]: return "w"
    case [false, false, false]: return "k"
    default: return "?"
    }
  }

  /// The middles of the four quarters, as one reads.
  var corners: String {
    String([letter(0.25, 0.25), letter(0.75, 0.25), letter(0.25, 0.75), letter(0.75, 0.75)])
  }
}
