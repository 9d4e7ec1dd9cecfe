import Glibc

/// A name or path as Linux has it: any bytes but NUL. Never a `String`: decoding would repair bytes, and String's equality
/// takes differently composed letters for the same.
public struct FileName: Hashable, Sendable {
  /// The bytes and one NUL, so that a system call can take them as they are.
  @usableFromInline let terminated: [UInt8]

  /// - Parameter bytes: without NUL; what follows a NUL would be invisible to every system call, so it traps.
  public init(_ bytes: some Collection<UInt8>) {
    var terminated = [UInt8]()
    terminated.reserveCapacity(bytes.count + 1)
    terminated.append(contentsOf: bytes)
    precondition(!terminated.contains(0), "a file name holds no NUL")
    terminated.append(0)
    self.terminated = terminated
  }

  public init(_ text: String) { self.init(Array(text.utf8)) }

  /// Copies a C string.
  public init(cString: UnsafePointer<CChar>) {
    let length = unsafe strlen(cString)
    terminated = unsafe [UInt8](UnsafeRawBufferPointer(start: cString, count: length + 1))
  }

  /// `/proc/self/fd/N`: a path to what the descriptor refers to.
  public static func ofDescriptor(_ raw: CInt) -> FileName { FileName("/proc/self/fd/\(raw)") }

  public var bytes: ArraySlice<UInt8> { terminated.dropLast() }
  public var count: Int { terminated.count - 1 }
  public var isEmpty: Bool { count == 0 }

  /// "." or "..", which every folder lists.
  public var isDots: Bool {
    (count == 1 && terminated[0] == UInt8(ascii: "."))
      || (count == 2 && terminated[0] == UInt8(ascii: ".") && terminated[1] == UInt8(ascii: "."))
  }

  public func hasPrefix(_ text: StaticString) -> Bool {
    unsafe terminated.starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  public func hasSuffix(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard count >= length else { return false }
    return unsafe bytes.suffix(length).elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: length))
  }

  @inlinable public func withCString<Result, Failure: Error>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe terminated.withUnsafeBufferPointer { bytes throws(Failure) in
      try unsafe bytes.withMemoryRebound(to: CChar.self) { text throws(Failure) in try unsafe body(text.baseAddress!) }
    }
  }
}

extension FileName: CustomStringConvertible {
  /// For people and logs; see `escaped`.
  public var description: String { escaped(bytes) }
}

extension FileName: Comparable {
  /// In byte order.
  public static func < (left: FileName, right: FileName) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

/// Bytes of a name as printable text that loses nothing: valid UTF-8 stays, every control character and invalid byte
/// becomes `\xNN`, and the backslash itself `\\`.
public func escaped(_ bytes: some Collection<UInt8>) -> String {
  if bytes.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }) {
    return String(decoding: bytes, as: UTF8.self)
  }
  func hex(_ byte: UInt8) -> String {
    let digits = Array("0123456789abcdef")
    return "\\x\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
  }
  var text = ""
  var decoder = Unicode.UTF8.ForwardParser()
  let all = Array(bytes)
  var rest = all.makeIterator()
  var position = 0
  while true {
    switch decoder.parseScalar(from: &rest) {
    case .valid(let encoded):
      position += encoded.count
      let scalar = Unicode.UTF8.decode(encoded)
      if scalar == "\\" {
        text += "\\\\"
      } else if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) || scalar.value == 0x2028
        || scalar.value == 0x2029
      {
        for byte in encoded { text += hex(byte) }
      } else {
        text.unicodeScalars.append(scalar)
      }
    case .error(let length):
      for byte in all[position..<min(position + length, all.count)] { text += hex(byte) }
      position += length
    case .emptyInput:
      return text
    }
  }
}
