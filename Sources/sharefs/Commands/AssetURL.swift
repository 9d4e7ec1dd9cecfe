import Posix

/// `sharefs://<share>/asset/<id>?ext=MOV`: an asset by its id, wherever it stands and whatever it is called by now.
struct AssetURL: Hashable {
  static let scheme = "sharefs://"

  let share: String
  let asset: Int64
  /// The extension that its name has, in capitals; a hint for who reads it.
  let ending: String?

  init(share: String, asset: Int64, path: SharePath) {
    self.share = share
    self.asset = asset
    let name = path.name.map { Array($0.bytes) } ?? []
    let dot = name.lastIndex(of: UInt8(ascii: "."))
    let letters = dot.flatMap { $0 > 0 ? name[($0 + 1)...] : nil } ?? []
    let isPlain = (1...8).contains(letters.count) && letters.allSatisfy { Self.isPlain($0) }
    ending = isPlain ? String(decoding: letters, as: UTF8.self).uppercased() : nil
  }

  static func isURL(_ word: FileName) -> Bool { word.hasPrefix("sharefs://") }

  /// - Returns: nil when it is no such URL.
  init?(_ word: FileName) {
    guard Self.isURL(word), let text = word.text else { return nil }
    let parts = text.dropFirst(Self.scheme.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: "/", omittingEmptySubsequences: false)
    guard path.count == 3, path[1] == "asset", let asset = Int64(path[2]), asset > 0,
      let share = Self.decoded(path[0]), !share.isEmpty
    else { return nil }
    self.share = share
    self.asset = asset
    ending = parts.count > 1 && parts[1].hasPrefix("ext=") ? String(parts[1].dropFirst(4)) : nil
  }

  var text: String {
    var text = Self.scheme
    for byte in share.utf8 {
      if Self.isPlain(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = Array("0123456789ABCDEF")
        text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return text + "/asset/\(asset)" + (ending.map { "?ext=\($0)" } ?? "")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func decoded(_ text: Substring) -> String? {
    decodedBytes(Array(text.utf8)).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// `%20` and its like; nil where a percent sign stands without two digits, or means a NUL.
  static func decodedBytes(_ text: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), value != 0
      else { return nil }
      bytes.append(value)
      rest.removeFirst(2)
    }
    return bytes
  }
}
