import Posix

/// A picture as the freedesktop thumbnail specification wants it: named by the MD5 of the document's URI, with URI and modification time in
/// texts before the picture's data.
enum DesktopPicture {
  /// The two sizes that file managers ask for: the folder's name, and the edge in pixels.
  static let sizes: [(folder: String, edge: Int)] = [("normal", 128), ("large", 256)]

  /// As g_filename_to_uri(3) escapes: what differs by one sign is another name.
  static func uri(of path: FileName) -> [UInt8] {
    let plain = Set("!$&'()*+,-./:=@_~".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    var uri = Array("file://".utf8)
    for byte in path.bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        uri.append(byte)
      case let byte where plain.contains(byte): uri.append(byte)
      default: uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return uri
  }

  static func name(of uri: [UInt8]) -> FileName { FileName("\(MD5.hex(uri)).png") }

  /// The PNG with its texts in place of those that it has. Readers differ: tumbler wants microseconds and takes the first time, GLib whole
  /// seconds and takes the last, so both stand there in this order.
  /// - Returns: nil when it is no PNG.
  static func labelled(_ png: [UInt8], uri: [UInt8], modified: FileTime) -> [UInt8]? {
    // 8 bytes of signature, then the header, a chunk of 25.
    guard png.count > 45, png[8..<16].elementsEqual([0, 0, 0, 13] + Array("IHDR".utf8)) else { return nil }
    let seconds = modified.nanoseconds / 1_000_000_000
    let micros = String(modified.nanoseconds % 1_000_000_000 / 1000)
    let exact = "\(seconds).\(String(repeating: "0", count: max(0, 6 - micros.count)))\(micros)"
    var labelled = Array(png[..<33])
    labelled += chunk("zTXt", Array("Thumb::MTime\0\0".utf8) + zlib(Array(exact.utf8)))
    labelled += chunk("tEXt", Array("Thumb::URI\0".utf8) + uri)
    labelled += chunk("tEXt", Array("Thumb::MTime\0\(seconds)".utf8))
    labelled += chunk("tEXt", Array("Software\0sharefs".utf8))
    var position = 33
    while position + 12 <= png.count {
      let length = png[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= png.count - position - 12 else { return nil }
      let type = png[(position + 4)..<(position + 8)]
      if !type.elementsEqual("tEXt".utf8) && !type.elementsEqual("zTXt".utf8) {
        labelled += png[position..<position + 12 + length]
      }
      position += 12 + length
    }
    return labelled
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 0xff) } }

  private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let named = Array(type.utf8) + body
    return bigEndian(UInt32(body.count)) + named + bigEndian(crc32(named))
  }

  /// A short text in zlib's format, stored as it is.
  private static func zlib(_ text: [UInt8]) -> [UInt8] {
    let count = UInt16(text.count)
    var sums: (UInt32, UInt32) = (1, 0)
    for byte in text {
      sums.0 = (sums.0 + UInt32(byte)) % 65521
      sums.1 = (sums.1 + sums.0) % 65521
    }
    let length = [UInt8(count & 0xff), UInt8(count >> 8), UInt8(~count & 0xff), UInt8(~count >> 8)]
    return [0x78, 0x01, 0x01] + length + text + bigEndian(sums.1 << 16 | sums.0)
  }

  private static let table: [UInt32] = (0..<256).map { number in
    var sum = UInt32(number)
    for _ in 0..<8 { sum = sum & 1 == 1 ? 0xedb8_8320 ^ (sum >> 1) : sum >> 1 }
    return sum
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var sum: UInt32 = 0xffff_ffff
    for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8) }
    return ~sum
  }
}

/// RFC 1321; for names only.
enum MD5 {
  private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

  /// floor(2^32 * abs(sin(i + 1))), by the series for the sine.
  private static let sines: [UInt32] = (1...64).map { number in
    var angle = Double(number).truncatingRemainder(dividingBy: 2 * Double.pi)
    if angle > Double.pi { angle -= 2 * Double.pi }
    var term = angle
    var sum = angle
    for step in 1...25 {
      term *= -angle * angle / Double(2 * step * (2 * step + 1))
      sum += term
    }
    return UInt32(abs(sum) * 4_294_967_296)
  }

  static func hex(_ bytes: [UInt8]) -> String {
    var message = bytes + [0x80]
    while message.count % 64 != 56 { message.append(0) }
    let bits = UInt64(bytes.count) * 8
    for shift in stride(from: UInt64(0), to: 64, by: 8) { message.append(UInt8(bits >> shift & 0xff)) }
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    for block in stride(from: 0, to: message.count, by: 64) {
      var words = [UInt32](repeating: 0, count: 16)
      for index in 0..<64 { words[index / 4] |= UInt32(message[block + index]) << UInt32(index % 4 * 8) }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      for step in 0..<64 {
        let (mixed, word): (UInt32, Int) =
          switch step / 16 {
          case 0: (b & c | ~b & d, step)
          case 1: (d & b | ~d & c, (5 * step + 1) % 16)
          case 2: (b ^ c ^ d, (3 * step + 5) % 16)
          default: (c ^ (b | ~d), 7 * step % 16)
          }
        let sum = a &+ mixed &+ sines[step] &+ words[word]
        let shift = shifts[step / 16 * 4 + step % 4]
        let turned = sum << shift | sum >> (32 - shift)
        (a, d, c, b) = (d, c, b, b &+ turned)
      }
      state[0] &+= a
      state[1] &+= b
      state[2] &+= c
      state[3] &+= d
    }
    var text = ""
    for word in state {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        let byte = word >> shift & 0xff
        text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text
  }
}
