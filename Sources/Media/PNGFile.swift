/// A PNG file of a raster.
///
/// Written here, since it is a seventh of what a video's thumbnail costs with zlib: what the filter leaves of so small a picture is
/// short runs and noise, for which zlib's search is idle work.
enum PNGFile {
  /// - Returns: the file's bytes: eight bits of red, green and blue, each row as its difference from the one above.
  static func encode(_ raster: Raster) -> [UInt8] {
    let (filtered, sum) = filter(raster)
    var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    bytes.reserveCapacity(filtered.count / 2 + 1024)
    // Eight bits a channel, colours without alpha, and the only methods there are.
    chunk("IHDR", &bytes) { $0 += big(raster.width) + big(raster.height) + [8, 2, 0, 0, 0] }
    chunk("IDAT", &bytes) { bytes in
      // zlib's mark for a window of 32 KB, no dictionary.
      bytes += [0x78, 0x01]
      Deflate.compress(filtered, into: &bytes)
      bytes += big(Int(sum))
    }
    chunk("IEND", &bytes) { _ in }
    return bytes
  }

  private static func chunk(_ kind: String, _ bytes: inout [UInt8], _ fill: (inout [UInt8]) -> Void) {
    let start = bytes.count
    bytes += [0, 0, 0, 0] + Array(kind.utf8)
    fill(&bytes)
    bytes.replaceSubrange(start..<start + 4, with: big(bytes.count - start - 8))
    bytes += big(Int(check(bytes[(start + 4)...])))
  }

  private static func big(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// One filter for all rows: trying each costs more than it saves.
  /// - Returns: the rows, each behind its filter's number, and their Adler-32.
  private static func filter(_ raster: Raster) -> (rows: [UInt8], sum: UInt32) {
    let up: UInt8 = 2
    let (width, height) = (raster.width * 3, raster.height)
    let above = [UInt8](repeating: 0, count: width)
    let rows = unsafe [UInt8](unsafeUninitializedCapacity: (width + 1) * height) { out, count in
      unsafe raster.pixels.withUnsafeBufferPointer { pixels in
        unsafe above.withUnsafeBufferPointer { above in
          var upper = above.baseAddress!
          for row in 0..<height {
            let from = unsafe pixels.baseAddress! + row * width
            let to = unsafe out.baseAddress! + row * (width + 1)
            unsafe to[0] = up
            for column in 0..<width { unsafe to[column + 1] = from[column] &- upper[column] }
            unsafe upper = from
          }
        }
      }
      count = (width + 1) * height
    }
    return (rows, adler(rows))
  }

  private static func adler(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    var place = 0
    while place < bytes.count {
      // As many as 32 bits hold without a division.
      let end = min(place + 5552, bytes.count)
      for index in place..<end {
        low &+= UInt32(bytes[index])
        high &+= low
      }
      low %= 65521
      high %= 65521
      place = end
    }
    return high << 16 | low
  }

  private static let table: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
  }

  /// CRC-32.
  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    let table = table
    var sum: UInt32 = 0xffff_ffff
    for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
    return ~sum
  }
}
