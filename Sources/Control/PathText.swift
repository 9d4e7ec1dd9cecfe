import FoundationEssentials
public import Posix

/// How names of bytes stand in JSON, here and in every `--json` listing: under their key as text, and, where they are not valid
/// UTF-8, as base64 under that key with `_bytes` too; the text is then escaped (`\xNN`) and good for reading only.
public enum PathText {
  public static func text(_ path: FileName) -> String { path.text ?? path.description }

  /// - Returns: nil for a name that its text tells in full.
  public static func bytes(_ path: FileName) -> String? {
    path.text == nil ? Data(path.bytes).base64EncodedString() : nil
  }

  /// - Returns: nil when it is no name: broken base64, or a NUL in it.
  public static func path(_ text: String, bytes: String?) -> FileName? {
    let raw: [UInt8]
    if let bytes {
      guard let data = Data(base64Encoded: bytes) else { return nil }
      raw = Array(data)
    } else {
      raw = Array(text.utf8)
    }
    return raw.contains(0) ? nil : FileName(raw)
  }
}

extension KeyedEncodingContainer {
  public mutating func encode(path: FileName, _ key: Key, bytes bytesKey: Key) throws {
    try encode(PathText.text(path), forKey: key)
    try encodeIfPresent(PathText.bytes(path), forKey: bytesKey)
  }
}

extension KeyedDecodingContainer {
  public func decodePath(_ key: Key, bytes bytesKey: Key) throws -> FileName {
    let text = try decode(String.self, forKey: key)
    guard let path = PathText.path(text, bytes: try decodeIfPresent(String.self, forKey: bytesKey)) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "no file name")
    }
    return path
  }
}

/// JSON on one line, always written the same way.
public enum JSONLine {
  /// With the line's end.
  public static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var line = Array(try encoder.encode(value))
    line.append(UInt8(ascii: "\n"))
    return line
  }

  public static func decode<Value: Decodable>(_ type: Value.Type, _ line: some Collection<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(line))
  }
}
