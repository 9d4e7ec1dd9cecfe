/// Which types somebody wants: kinds (`video`), uniform type identifiers with all that conform to them (`public.movie`), MIME types
/// (`video/mp4`), patterns of either (`video/*`, `org.openxmlformats.*`) and extensions (`*.mov`, for what they name). What a document is, its
/// content says, not its name.
public struct TypeSelector: Hashable, Sendable {
  private enum Term: Hashable, Sendable {
    case kind(MediaKind)
    case identifier(String)
    case mime(String)
    case pattern([Character])
  }

  /// Empty lets all through.
  private var terms: [Term] = []

  public init() {}

  public var isEmpty: Bool { terms.isEmpty }

  /// Adds one word.
  /// - Returns: false when it is none of all this; then nothing was added.
  public mutating func add(_ word: String) -> Bool {
    let word = word.lowercased()
    if let kind = MediaKind.allCases.first(where: { $0.word == word }) {
      terms.append(.kind(kind))
    } else if word.hasPrefix("*."), let type = MediaTypes.byExtension(String(word.dropFirst(2))) {
      terms.append(.identifier(type.identifier.lowercased()))
    } else if word.contains("*") && (word == "*" || word.contains("/") || word.contains(".")) && !word.hasPrefix("*.") {
      terms.append(.pattern(Array(word)))
    } else if word.contains("/") {
      terms.append(.mime(word))
    } else if word.contains("."), !word.contains("*") {
      terms.append(.identifier(word))
    } else {
      return false
    }
    return true
  }

  /// - Parameter type: nil is a document of which nothing is known.
  public func matches(_ type: MediaType?) -> Bool {
    if terms.isEmpty { return true }
    let ancestors = type.map { TypeTree.ancestors(of: $0.identifier, kind: $0.kind) } ?? ["public.data", "public.item"]
    let mime = type?.mime.lowercased()
    return terms.contains { term in
      switch term {
      case .kind(let kind): type?.kind == kind
      case .identifier(let identifier): ancestors.contains(identifier)
      case .mime(let wanted): mime == wanted
      case .pattern(let pattern):
        ([mime] + ancestors.map(Optional.some)).contains { text in text.map { Self.fits(Array($0), pattern) } ?? false }
      }
    }
  }

  /// A pattern in which a star stands for any letters.
  private static func fits(_ text: [Character], _ pattern: [Character]) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return text == pattern }
    guard text.starts(with: parts[0]) else { return false }
    var rest = text.dropFirst(parts[0].count)
    for part in parts[1..<(parts.count - 1)] where !part.isEmpty {
      guard let start = rest.indices.first(where: { rest[$0...].starts(with: part) }) else { return false }
      rest = rest[(start + part.count)...]
    }
    let last = parts[parts.count - 1]
    return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
  }
}
