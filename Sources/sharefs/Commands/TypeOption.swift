import Contracts
import Posix

extension TypeSelector {
  /// From `--type` and its lists.
  init(_ arguments: Arguments) throws(Failure) {
    self.init()
    for word in arguments.words(of: "type") {
      if !add(word) { throw Self.unknown(word, arguments.verb) }
    }
  }

  /// From operands.
  init(words: [FileName], _ verb: Verb) throws(Failure) {
    self.init()
    for word in words {
      let word = String(decoding: word.bytes, as: UTF8.self)
      if !add(word) { throw Self.unknown(word, verb) }
    }
  }

  static func unknown(_ word: String, _ verb: Verb) -> Failure {
    let kinds = MediaKind.allCases.map(\.word).joined(separator: ", ")
    return Failure(
      .usage, "There is no type \"\(escaped(Array(word.utf8)))\"; the kinds are \(kinds).",
      hint: "See `sharefs types` for all, and `sharefs \(verb.rawValue) --help`.")
  }
}

extension Arguments {
  /// The words of an option that takes lists separated by commas, in lower case.
  func words(of name: String) -> [String] {
    values(name).flatMap { list in
      list.bytes.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self).lowercased() }
    }
  }
}
