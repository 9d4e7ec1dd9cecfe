import Control
import Glibc
import Posix
import Testing

extension Fixtures {
  static func ffmpeg(_ arguments: [String]) throws {
    let words = ["env", "ffmpeg", "-v", "error", "-nostdin", "-y"] + arguments
    let ending = try Child.spawn(FileName("/usr/bin/env"), words.map { FileName($0) }, descriptors: [2: 2]).wait()
    try #require(ending == .exited(0), "ffmpeg \(arguments.joined(separator: " "))")
  }

  /// A file made once, by its name.
  static func made(_ name: String, _ arguments: [String]) throws -> String {
    let path = "\(folder)/\(name)"
    if unsafe access(path, R_OK) == 0 { return path }
    try ffmpeg(arguments + ["-threads", "1", path])
    return path
  }

  static func python(_ program: String) throws {
    let ending = try Child.spawn(
      FileName("/usr/bin/env"), ["env", "python3", "-c", program].map { FileName($0) }, descriptors: [2: 2],
      folder: FileName(folder)
    ).wait()
    try #require(ending == .exited(0), "the python program failed")
  }

  /// One letter for each quarter's middle of the first picture in a file, as ffmpeg shows it.
  static func corners(of path: String) throws -> String {
    let out = try Descriptor.memory("pixels")
    let words = [
      "env", "ffmpeg", "-v", "error", "-nostdin", "-i", "file:" + path, "-frames:v", "1", "-vf",
      "scale=4:4:flags=area,format=rgb24", "-f", "rawvideo", "-",
    ]
    let ending = try Child.spawn(
      FileName("/usr/bin/env"), words.map { FileName($0) }, descriptors: [1: out.raw, 2: 2]
    ).wait()
    let pixels = try out.readAll(limit: 4096)
    try #require(ending == .exited(0) && pixels.count == 48, "\(path) cannot be decoded")
    return String(
      [0, 3, 12, 15].map { place -> Character in
        switch pixels[place * 3..<place * 3 + 3].map({ $0 > 128 }) {
        case [true, false, false]: "r"
        case [false, true, false]: "g"
        case [false, false, true]: "b"
        case [true, true, true]: "w"
        default: "?"
        }
      })
  }
}

/// A video, and the size in which it is to be shown.
struct Shape {
  let name: String
  let path: String
  let width: Int
  let height: Int

  private static let quarters =
    "color=red:s=320x180:r=25:d=12,drawbox=160:0:160:90:lime:fill,drawbox=0:90:160:90:blue:fill,"
    + "drawbox=160:90:160:90:white:fill"

  static func all() throws -> [Shape] {
    var shapes: [Shape] = []
    func add(_ name: String, _ arguments: [String], _ width: Int = 300, _ height: Int = 169) throws {
      let path = try Fixtures.made(name, ["-f", "lavfi", "-i", quarters] + arguments)
      shapes.append(Shape(name: name, path: path, width: width, height: height))
    }
    // A decoder that is never drained shows none of these.
    try add("one.mp4", ["-frames:v", "1"])
    try add("three.mp4", ["-frames:v", "3", "-bf", "2"])
    try add("one.dv", ["-frames:v", "1", "-s", "720x576", "-pix_fmt", "yuv420p"])
    // Short ones, and those that do not know how long they are.
    for seconds in ["0.04", "1", "4.9", "5", "5.1"] { try add("\(seconds).mkv", ["-t", seconds]) }
    try add("raw.h264", ["-t", "6"])
    try add("raw.hevc", ["-t", "6", "-c:v", "libx265", "-x265-params", "log-level=1"])
    try add("sound.mp4", ["-f", "lavfi", "-i", "sine=d=20", "-filter_complex", "[0]trim=end=2"])
    // Pixels that are not square.
    try add("wide.mp4", ["-t", "1", "-vf", "scale=1080:1080,setsar=16/9"])
    try add("pal.mp4", ["-t", "1", "-vf", "scale=720:576,setsar=64/45"])
    try add("thin.mp4", ["-t", "1", "-vf", "setsar=9/16"], 169, 169)
    try add("cinema.mp4", ["-t", "1", "-vf", "setsar=80/33"], 300, 70)
    // Transport streams with few keyframes, from their beginning and from their midst.
    try add("gop.ts", ["-g", "250", "-bf", "3"])
    try add("gop.m2ts", ["-g", "250", "-bf", "3"])
    let cut = "\(Fixtures.folder)/midst.ts"
    try Fixtures.python("d = open('gop.ts', 'rb').read(); open('midst.ts', 'wb').write(d[len(d) // 3 // 188 * 188:])")
    shapes.append(Shape(name: "midst.ts", path: cut, width: 300, height: 169))
    // Turned without being coded anew.
    for (source, name, sizes) in [
      ("one.mp4", "turned", [(300, 169), (95, 169)]), ("pal.mp4", "turnedpal", [(300, 169), (95, 169)]),
    ] {
      for (index, degrees) in ["90", "180", "270", "-180"].enumerated() {
        let turned = "\(name)\(degrees).mp4"
        let path = "\(Fixtures.folder)/\(turned)"
        try Fixtures.ffmpeg(
          ["-i", "\(Fixtures.folder)/\(source)", "-c", "copy", "-metadata:s:v", "rotate=\(degrees)", path])
        let size = sizes[index % 2 == 0 ? 1 : 0]
        shapes.append(Shape(name: turned, path: path, width: size.0, height: size.1))
      }
    }
    return shapes
  }
}

/// Small files whose pictures are huge.
enum Bombs {
  static func all() throws -> [String] {
    let names = ["pixels.png", "memory.png", "wide.jpg", "large.gif", "bomb.mp4"]
    if unsafe access("\(Fixtures.folder)/bomb.mp4", R_OK) != 0 {
      try Fixtures.ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=64x36", "-frames:v", "1", "\(Fixtures.folder)/small.jpg"])
      try Fixtures.ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=64x36", "-t", "1", "\(Fixtures.folder)/small.gif"])
      try Fixtures.python(
        """
        import struct, zlib
        def chunk(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        def png(path, size, bytes_a_pixel, kind):
            packer = zlib.compressobj(1); rows = bytes(1 + size * bytes_a_pixel) * 16
            data = b"".join(packer.compress(rows) for _ in range(size // 16)) + packer.flush()
            open(path, "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, kind, 0, 0, 0))
                + chunk(b"IDAT", data) + chunk(b"IEND", b""))
        png("pixels.png", 16000, 4, 6)
        png("memory.png", 11504, 4, 6)
        jpeg = bytearray(open("small.jpg", "rb").read()); place = jpeg.find(b"\\xff\\xc0")
        jpeg[place + 5:place + 9] = struct.pack(">HH", 4000, 65500); open("wide.jpg", "wb").write(jpeg)
        gif = bytearray(open("small.gif", "rb").read()); gif[6:10] = struct.pack("<HH", 16000, 16000)
        open("large.gif", "wb").write(gif)
        """)
      try Fixtures.ffmpeg(
        [
          "-f", "lavfi", "-i", "color=black:s=16384x8192:r=1", "-frames:v", "1", "-c:v", "libx264", "-preset",
          "ultrafast", "-threads", "1", "\(Fixtures.folder)/bomb.mp4",
        ])
    }
    return names.map { "\(Fixtures.folder)/\($0)" }
  }
}

extension Share {
  func size(_ picture: String) throws -> (width: Int, height: Int) {
    let text = try output(
      "ffprobe", ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", "\(folder)/\(picture)"])
    let parts = text.split(whereSeparator: { $0 == "," || $0 == "\n" }).compactMap { Int($0) }
    try #require(parts.count == 2, "\(picture) cannot be read")
    return (parts[0], parts[1])
  }

  /// The picture is copied out of the share first: a test may not be allowed to look into it.
  func corners(of picture: String) throws -> String {
    let copy = "\(base)/look.png"
    try #require(try run("cp", "\(folder)/\(picture)", copy) == 0)
    return try Fixtures.corners(of: copy)
  }

  /// Bytes that each worker had in memory at most.
  func workerPeaks() throws -> [Int] { try workers().map(\.peak) }

  /// The daemon's worker processes.
  func workers() throws -> [(process: pid_t, peak: Int)] {
    let daemon = try status().pid
    let lines = try output(
      "sh",
      [
        "-c",
        "for f in /proc/[0-9]*/status; do awk '$1==\"Name:\"{n=$2} $1==\"Pid:\"{i=$2} $1==\"PPid:\"{p=$2} $1==\"VmHWM:\"{m=$2} END{print n,i,p,m}' $f; done 2>/dev/null",
      ])
    return lines.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 4, words[0].hasPrefix("sharefs-work"), Int32(words[2]) == daemon, let own = pid_t(words[1])
      else { return nil }
      return Int(words[3]).map { (own, $0 * 1024) }
    }
  }
}
