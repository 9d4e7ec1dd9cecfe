import Contracts

/// What a shell can offer while a command is being typed: read from the verbs' own table, so that a new verb is completed without a word here.
enum Completion: Hashable {
  /// Mount points of shares.
  case mounts
  case folders
  case files
  /// One of these.
  case words([String])
  /// A comma between any number of these; one that ends with `=` wants a value.
  case list([String])
  case nothing

  /// What stands for a value in help tells what it is.
  init(placeholder: String) {
    switch placeholder {
    case "MOUNTPOINT": self = .mounts
    case "DIR", "SOURCE": self = .folders
    case "PATH", "FILE", "IN", "OUT": self = .files
    case "LIST": self = .list(MountOptions.completions)
    case "TYPES", "TYPE":
      let kinds = ["video", "image", "audio", "document"]
      self = .list(kinds + Set(MediaTypes.all.map(\.identifier)).sorted())
    default: self = .nothing
    }
  }
}

extension Option {
  var completion: Completion { value.map { Completion(placeholder: $0) } ?? .nothing }
}

extension Verb {
  /// What its first operands can be: from the synopsis, options aside.
  var operandCompletions: Set<Completion> {
    var found: Set<Completion> = []
    for line in synopsis {
      guard let word = Self.operandWords(line).first else { continue }
      if word.contains(where: \.isLowercase) {
        found.insert(.words(word.split(separator: "|").map(String.init)))
      } else {
        for part in word.split(separator: "|") { found.insert(Completion(placeholder: String(part))) }
      }
    }
    // A folder to mount in place is any folder.
    if found.contains(.folders) { found.remove(.files) }
    found.remove(.nothing)
    return found
  }

  /// `list [--json] [--type TYPES] [PATH]` gives `PATH`.
  private static func operandWords(_ synopsis: String) -> [String] {
    var words: [String] = []
    var isInOption = false
    for word in synopsis.split(separator: " ").dropFirst() {
      if word.hasPrefix("[-") || word == "[options]" {
        isInOption = !word.hasSuffix("]")
      } else if isInOption {
        isInOption = !word.hasSuffix("]")
      } else {
        words.append(String(word.filter { !"[].".contains($0) }))
      }
    }
    return words
  }

  /// Options that people give, with `--help`.
  var shownOptions: [Option] {
    options.filter { !$0.summary.isEmpty } + [Option(long: "help", short: "h", summary: "this text")]
  }
}

extension MountOptions {
  /// Each option as it is typed: with every value that it can have, or with the `=` that a value must follow.
  static var completions: [String] {
    known.flatMap { option -> [String] in
      if option.spelling.contains(",") { return option.spelling.split(separator: ",").map { String($0.trimmed) } }
      let parts = option.spelling.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { return [option.spelling] }
      let values = parts[1].split(separator: "|")
      return values.count == 1 ? ["\(parts[0])="] : values.map { "\(parts[0])=\($0)" }
    }
  }
}

extension Substring {
  fileprivate var trimmed: Substring { drop { $0 == " " } }
}
