/// Whether bytes from a worker are a PNG of the size that it says: all that is checked here goes to every program that opens a thumbnail,
/// as a file of ours.
enum PNGCheck {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

  /// Bytes; the longest PNG that a picture of this size can need (16 bits a channel, stored without compression, with texts).
  static func longest(width: Int, height: Int) -> Int { (width * 8 + 1) * height * 9 / 8 + 65536 }

  /// - Returns: nil when all is well, else what is wrong.
  static func fault(_ bytes: [UInt8], width: Int, height: Int) -> String? {
    guard bytes.count <= longest(width: width, height: height) else { return "a picture of \(bytes.count) bytes" }
    guard bytes.starts(with: signature) else { return "a picture that is no PNG" }
    var position = signature.count
    var isFirst = true
    var hasData = false
    while true {
      guard bytes.count - position >= 12 else { return "a PNG that ends early" }
      let length = number(bytes, position)
      guard length <= bytes.count - position - 12 else { return "a PNG whose chunk leads out of it" }
      let type = Array(bytes[(position + 4)..<(position + 8)])
      if isFirst {
        guard type == Array("IHDR".utf8), length == 13 else { return "a PNG without a header" }
        guard number(bytes, position + 8) == width, number(bytes, position + 12) == height else {
          return "a PNG of another size than said"
        }
        guard [8, 16].contains(bytes[position + 16]), [0, 2, 3, 4, 6].contains(bytes[position + 17]) else {
          return "a PNG of an unknown form"
        }
        isFirst = false
      }
      if type == Array("IDAT".utf8) { hasData = true }
      position += 12 + length
      if type == Array("IEND".utf8) {
        guard hasData, position == bytes.count else { return "a PNG with more or less in it than a picture" }
        return nil
      }
    }
  }

  private static func number(_ bytes: [UInt8], _ at: Int) -> Int {
    Int(bytes[at]) << 24 | Int(bytes[at + 1]) << 16 | Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
  }
}
