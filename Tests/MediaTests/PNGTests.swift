import Glibc
import Posix
import Testing

@testable import Media

/// The PNG files that are written, read by somebody else.
@Suite struct PNGTests {
  private static func random(_ count: Int, below limit: UInt64) -> [UInt8] {
    var state: UInt64 = 5
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: (state >> 33) % limit)
    }
  }

  @Test(arguments: [(1, 1), (1, 300), (300, 1), (3, 2), (300, 169), (400, 251)])
  func anotherReaderFindsTheSamePixels(width: Int, height: Int) throws {
    let count = width * height * 3
    let ramp: [UInt8] = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3 % width + $0 / 3 / width) }
    let waves: [UInt8] = (0..<count).map { UInt8(truncatingIfNeeded: $0 * $0 >> 9) }
    let contents = [
      [UInt8](repeating: 0, count: count), [UInt8](repeating: 200, count: count), Self.random(count, below: 256),
      Self.random(count, below: 3), ramp, waves,
    ]
    let files = try Descriptor.memory("files")
    let pixels = try Descriptor.memory("pixels")
    for content in contents {
      let file = PNGFile.encode(Raster(width: width, height: height, pixels: content))
      #expect(try Made.read(file).pixels == content)
      try files.write(file)
      try pixels.write(content)
    }
    // Every sum, every byte.
    let program = """
      import os, struct, zlib
      def all(fd): return os.pread(fd, os.fstat(fd).st_size, 0)
      files, pixels, place, rows = all(3), all(4), 0, b""
      while place < len(files):
          assert files[place:place + 8] == b"\\x89PNG\\r\\n\\x1a\\n"; place += 8; data = b""; kind = b""
          while kind != b"IEND":
              length, kind = struct.unpack(">I4s", files[place:place + 8])
              body = files[place + 8:place + 8 + length]
              assert struct.pack(">I", zlib.crc32(kind + body)) == files[place + 8 + length:place + 12 + length], kind
              if kind == b"IHDR": width, height = struct.unpack(">II", body[:8]); assert body[8:] == b"\\x08\\x02\\0\\0\\0"
              if kind == b"IDAT": data += body
              place += 12 + length
          flat, above = zlib.decompress(data), bytes(width * 3)
          assert len(flat) == (width * 3 + 1) * height
          for row in range(height):
              line = flat[row * (width * 3 + 1):(row + 1) * (width * 3 + 1)]
              assert line[0] == 2
              above = bytes((a + b) & 255 for a, b in zip(line[1:], above)); rows += above
      assert rows == pixels
      """
    let ending = try Child.spawn(
      FileName("/usr/bin/python3"), ["python3", "-c", program].map { FileName($0) },
      descriptors: [2: 2, 3: files.raw, 4: pixels.raw]
    ).wait()
    #expect(ending == .exited(0))
  }

  /// What is even is small, and noise hardly grows.
  @Test func sizesAreWithinReason() {
    let (even, noise) = (Raster(width: 300, height: 169), Self.random(300 * 169 * 3, below: 256))
    #expect(PNGFile.encode(even).count < 1500)
    #expect(PNGFile.encode(Raster(width: 300, height: 169, pixels: noise)).count < noise.count * 101 / 100 + 1000)
  }

  /// Counts that would make a code of more bits than there may be.
  @Test(arguments: [7, 15]) func codesAreNoLongerThanAllowedAndLeaveNoGap(longest: Int) {
    var counts: [UInt32] = [1, 1]
    while counts.count < 19 { counts.append(counts[counts.count - 1] + counts[counts.count - 2]) }
    let code = HuffmanCode(counts: counts + [0], longest: longest)
    #expect(code.lengths.last == 0 && code.lengths.dropLast().allSatisfy { (1...longest).contains(Int($0)) })
    #expect(code.lengths.dropLast().reduce(0) { $0 + 1 << (longest - Int($1)) } == 1 << longest)
  }
}
