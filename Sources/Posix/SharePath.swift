/// A path inside a share: bytes, relative to its root, components separated by one slash, none of them empty or dots.
public struct SharePath: Hashable, Sendable {
  public let bytes: [UInt8]

  /// The share's own folder.
  public static let root = SharePath(unchecked: [])

  private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// - Returns: nil for an absolute path, an empty or dots component, or a NUL.
  public init?(_ bytes: [UInt8]) {
    if bytes.isEmpty {
      self = .root
      return
    }
    var start = 0
    for end in 0...bytes.count where end == bytes.count || bytes[end] == UInt8(ascii: "/") {
      let component = bytes[start..<end]
      let dots = component.count <= 2 && component.allSatisfy { $0 == UInt8(ascii: ".") }
      if component.isEmpty || dots { return nil }
      start = end + 1
    }
    if bytes.contains(0) { return nil }
    self.bytes = bytes
  }

  public init?(_ text: String) { self.init(Array(text.utf8)) }

  public var isRoot: Bool { bytes.isEmpty }

  public func appending(_ name: FileName) -> SharePath {
    SharePath(unchecked: isRoot ? Array(name.bytes) : bytes + [UInt8(ascii: "/")] + name.bytes)
  }

  /// The last component; nil for the root.
  public var name: FileName? {
    if isRoot { return nil }
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    return FileName(bytes[start...])
  }

  /// The folder it stands in; nil for the root.
  public var parent: SharePath? {
    if isRoot { return nil }
    return SharePath(unchecked: bytes.lastIndex(of: UInt8(ascii: "/")).map { Array(bytes[..<$0]) } ?? [])
  }

  public var components: [FileName] { bytes.split(separator: UInt8(ascii: "/")).map { FileName($0) } }

  /// Whether it is `folder` or stands anywhere below it.
  public func isWithin(_ folder: SharePath) -> Bool {
    folder.isRoot || bytes == folder.bytes
      || (bytes.count > folder.bytes.count && bytes[folder.bytes.count] == UInt8(ascii: "/")
        && bytes.starts(with: folder.bytes))
  }

  /// The same path after `from` became `to`; nil when it is not within `from`.
  public func moved(from: SharePath, to: SharePath) -> SharePath? {
    guard isWithin(from) else { return nil }
    if bytes.count == from.bytes.count { return to }
    let rest = from.isRoot ? bytes[...] : bytes[(from.bytes.count + 1)...]
    return SharePath(unchecked: to.isRoot ? Array(rest) : to.bytes + [UInt8(ascii: "/")] + rest)
  }
}

extension SharePath: CustomStringConvertible {
  /// For people and logs; see `escaped`.
  public var description: String { isRoot ? "." : escaped(bytes) }
}
