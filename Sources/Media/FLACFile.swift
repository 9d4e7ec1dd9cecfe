/// FLAC says in its head how many samples it has, and every frame which of them it holds.
enum FLACFile {
  static func check(_ source: Source) -> Completeness {
    let head = source.bytes(at: 0, 42)
    // The first block is always STREAMINFO; its 64 bits from byte 10 on hold rate, channels, depth and the number of samples.
    guard head.has("fLaC"), let size = head.big(8, 2), let packed = head.big(18, 8) else { return .endMissing }
    let samples = packed & 0xf_ffff_ffff
    guard samples > 0, size > 0 else { return .unknown }
    let tail = source.tail(131072)
    var place = tail.count - 16
    while place >= 0 {
      if let end = endOfFrame(tail, place, blockSize: size) { return end >= samples ? .whole : .endMissing }
      place -= 1
    }
    return .unknown
  }

  /// - Returns: the number of the sample behind the frame at `place`; nil when there is no frame header there.
  private static func endOfFrame(_ bytes: Bytes, _ place: Int, blockSize: UInt64) -> UInt64? {
    guard bytes[place] == 0xff, let second = bytes[place + 1], second & 0xfe == 0xf8, let third = bytes[place + 2],
      let fourth = bytes[place + 3], third & 0x0f != 0x0f, fourth >> 4 < 11, fourth & 1 == 0, third >> 4 != 0
    else { return nil }
    guard let first = bytes[place + 4] else { return nil }
    // Coded as UTF-8 is, with up to seven bytes.
    let more = first < 0x80 ? 0 : (~first).leadingZeroBitCount - 1
    guard more >= 0, more <= 6, first < 0x80 || more > 0 else { return nil }
    var number = more == 0 ? UInt64(first) : UInt64(first) & (more < 6 ? (1 << UInt64(6 - more)) - 1 : 0)
    for index in 0..<more {
      guard let byte = bytes[place + 5 + index], byte & 0xc0 == 0x80 else { return nil }
      number = number << 6 | UInt64(byte & 0x3f)
    }
    var next = place + 5 + more
    var length = blockSize
    switch third >> 4 {
    case 1: length = 192
    case 2...5: length = 576 << UInt64(third >> 4 - 2)
    case 6:
      length = (bytes.big(next, 1) ?? 0) + 1
      next += 1
    case 7:
      length = (bytes.big(next, 2) ?? 0) + 1
      next += 2
    default: length = 256 << UInt64(third >> 4 - 8)
    }
    switch third & 0x0f {
    case 12: next += 1
    case 13, 14: next += 2
    default: break
    }
    guard next < bytes.count, checksum(bytes.all[place..<next]) == bytes[next] else { return nil }
    // The number counts samples where block sizes vary, and else blocks.
    return (second & 1 == 1 ? number : number * blockSize) + length
  }

  /// CRC-8 with the polynomial 0x07, over the header's bytes.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt8 {
    var sum: UInt8 = 0
    for byte in bytes {
      sum ^= byte
      for _ in 0..<8 { sum = sum & 0x80 != 0 ? sum << 1 ^ 0x07 : sum << 1 }
    }
    return sum
  }
}
