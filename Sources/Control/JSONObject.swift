public import Posix

/// A flat JSON object written directly, for lines that come by the hundred thousand. Keys stand in the order in which they are added.
public struct JSONObject {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  public init() { bytes.reserveCapacity(512) }

  private mutating func key(_ name: StaticString) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  public mutating func add(_ name: StaticString, _ text: String) {
    key(name)
    quote(text)
  }

  public mutating func add(_ name: StaticString, _ number: some FixedWidthInteger) {
    key(name)
    bytes.append(contentsOf: number.description.utf8)
  }

  /// JSON knows no infinity and no NaN: such a number is left out.
  public mutating func add(_ name: StaticString, _ number: Double) {
    guard number.isFinite else { return }
    key(name)
    let text = "\(number)"
    bytes.append(contentsOf: (text.hasSuffix(".0") ? String(text.dropLast(2)) : text).utf8)
  }

  public mutating func add(_ name: StaticString, _ flag: Bool) {
    key(name)
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  /// A path as `PathText` has it.
  public mutating func add(_ name: StaticString, bytes bytesName: StaticString, path: FileName) {
    add(name, PathText.text(path))
    if let whole = PathText.bytes(path) { add(bytesName, whole) }
  }

  /// An object in this one.
  public mutating func add(_ name: StaticString, _ object: JSONObject) {
    key(name)
    bytes.append(contentsOf: object.bytes)
    bytes.append(UInt8(ascii: "}"))
  }

  /// With the line's end.
  public var line: [UInt8] {
    var line: [UInt8] = []
    append(to: &line)
    return line
  }

  /// Writes it behind other lines.
  public func append(to lines: inout [UInt8]) {
    lines.append(contentsOf: bytes)
    lines.append(UInt8(ascii: "}"))
    lines.append(UInt8(ascii: "\n"))
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    defer { bytes.append(UInt8(ascii: "\"")) }
    // Hardly any text has something to be escaped.
    var text = text
    let isPlain = text.withUTF8 { utf8 in
      guard unsafe utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
        return false
      }
      unsafe bytes.append(contentsOf: utf8)
      return true
    }
    if isPlain { return }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
  }
}
