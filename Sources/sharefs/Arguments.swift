import Posix

/// What a call of the program asks for.
enum Invocation: Equatable {
  case help(Verb?)
  case version
  case printed(Printed)
  case verb(Arguments)

  /// - Parameter all: the program's name first, which may be that of a mount helper.
  init(_ all: [FileName]) throws(Failure) {
    let program = all.first?.lastComponent.text ?? "sharefs"
    let rest = Array(all.dropFirst())
    if program == "mount.sharefs" || program == "mount.fuse.sharefs" {
      self = .verb(try MountHelper.read(rest))
      return
    }
    guard let first = rest.first else { throw .usage("Say what to do: \(Self.verbs).") }
    switch first.text {
    case "--help", "-h", "help":
      guard let name = rest.dropFirst().first else {
        self = .help(nil)
        return
      }
      guard let verb = name.text.flatMap(Verb.init(rawValue:)) else { throw Self.unknown(name) }
      self = .help(verb)
    case "--version", "-V", "version": self = .version
    case "--print":
      guard let page = rest.dropFirst().first?.text.flatMap(Printed.init(rawValue:)) else {
        throw .usage("\"--print\" is followed by \(Printed.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      self = .printed(page)
    case let text?:
      if let verb = Self.verb(text) {
        self = try Arguments.read(verb, Array(rest.dropFirst()))
      } else if !text.hasPrefix("-"), MountHelper.fits(rest) {
        self = .verb(try MountHelper.read(rest))
      } else {
        throw Self.unknown(first)
      }
    case nil:
      guard MountHelper.fits(rest) else { throw Self.unknown(first) }
      self = .verb(try MountHelper.read(rest))
    }
  }

  private static let verbs = Verb.allCases.map(\.rawValue).joined(separator: ", ")

  private static func verb(_ text: String) -> Verb? { text == "unmount" ? .umount : Verb(rawValue: text) }

  private static func unknown(_ name: FileName) -> Failure {
    .usage("There is no verb or option \"\(name)\"; the verbs are \(verbs).")
  }
}

/// A verb with its options and operands, checked against the verb's table.
struct Arguments: Equatable {
  let verb: Verb
  /// In the order given, by their long names; a switch has no value.
  private(set) var options: [Given] = []
  private(set) var operands: [FileName] = []
  /// How many operands stood before an option that ends the options; see `Option.endsOptions`.
  private(set) var operandsBeforeCommand = 0

  struct Given: Equatable {
    let name: String
    let value: FileName?
  }

  init(_ verb: Verb, options: [Given] = [], operands: [FileName] = []) {
    self.verb = verb
    self.options = options
    self.operands = operands
  }

  func has(_ name: String) -> Bool { options.contains { $0.name == name } }

  /// - Parameter range: what makes sense.
  func number(_ name: String, in range: ClosedRange<Int64>) throws(Failure) -> Int64? {
    guard let value = value(name) else { return nil }
    guard let number = value.text.flatMap({ Int64($0) }), range.contains(number) else {
      let most = range.upperBound == .max ? "" : " and at most \(range.upperBound)"
      throw .usage("\"--\(name)\" is a whole number, at least \(range.lowerBound)\(most), not \"\(value)\".", verb)
    }
    return number
  }

  /// A time in seconds, which may have a fraction.
  func seconds(_ name: String) throws(Failure) -> Double? {
    guard let value = value(name) else { return nil }
    guard let number = value.text.flatMap({ Double($0) }), (0...1e9).contains(number) else {
      throw .usage("\"--\(name)\" is a number of seconds, not \"\(value)\".", verb)
    }
    return number
  }

  /// The last one given counts.
  func value(_ name: String) -> FileName? { options.last { $0.name == name }?.value }

  func values(_ name: String) -> [FileName] { options.filter { $0.name == name }.compactMap(\.value) }

  static func read(_ verb: Verb, _ rest: [FileName]) throws(Failure) -> Invocation {
    var arguments = Arguments(verb)
    var position = 0
    var onlyOperands = false
    while position < rest.count {
      let one = rest[position]
      position += 1
      if onlyOperands || !one.hasPrefix("-") || one.count == 1 {
        arguments.operands.append(one)
      } else if one == FileName("--") {
        onlyOperands = true
      } else if one == FileName("--help") || one == FileName("-h") {
        return .help(verb)
      } else if one.hasPrefix("--") {
        try arguments.long(one, rest, &position)
      } else {
        try arguments.short(one, rest, &position)
      }
      if !onlyOperands, let last = arguments.options.last,
        verb.options.contains(where: { $0.long == last.name && $0.endsOptions })
      {
        onlyOperands = true
        arguments.operandsBeforeCommand = arguments.operands.count
      }
    }
    let count = arguments.operands.count
    if count < verb.operands.lowerBound {
      throw .usage("`sharefs \(verb.rawValue)` needs \(missing(verb, count)).", verb)
    }
    if count > verb.operands.upperBound {
      throw .usage("\"\(arguments.operands[verb.operands.upperBound])\" is one argument too many.", verb)
    }
    return .verb(arguments)
  }

  private static func missing(_ verb: Verb, _ count: Int) -> String {
    switch verb {
    case .mount: "a folder to mount"
    case .umount, .watch, .rescan: "the mount point"
    case .import: "a file to import"
    case .bookmark: "what to do: create, resolve, list, remove, start or stop"
    case .thumbnail: "a file, and where its picture shall stand"
    default: "a path or an asset id"
    }
  }

  /// `--name`, `--name=value`, `--name value`.
  private mutating func long(_ one: FileName, _ rest: [FileName], _ position: inout Int) throws(Failure) {
    let parts = one.bytes.dropFirst(2).split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(decoding: parts[0], as: UTF8.self)
    guard let option = verb.options.first(where: { $0.long == name }) else {
      throw .usage("`sharefs \(verb.rawValue)` has no option \"--\(FileName(parts[0]))\".", verb)
    }
    if option.value == nil {
      if parts.count > 1 { throw .usage("\"--\(name)\" takes no value.", verb) }
      options.append(Given(name: name, value: nil))
    } else {
      let attached = parts.count > 1 ? FileName(parts[1]) : nil
      options.append(Given(name: name, value: try value(attached, option, rest, &position)))
    }
  }

  /// `-x`, `-xy` for switches, `-ovalue` and `-o value`.
  private mutating func short(_ one: FileName, _ rest: [FileName], _ position: inout Int) throws(Failure) {
    var letters = one.bytes.dropFirst()
    while let letter = letters.popFirst() {
      let character = Character(Unicode.Scalar(letter))
      guard let option = verb.options.first(where: { $0.short == character }) else {
        throw .usage("`sharefs \(verb.rawValue)` has no option \"-\(escaped([letter]))\".", verb)
      }
      if option.value == nil {
        options.append(Given(name: option.long, value: nil))
      } else {
        let attached = letters.isEmpty ? nil : FileName(letters)
        options.append(Given(name: option.long, value: try value(attached, option, rest, &position)))
        return
      }
    }
  }

  private func value(
    _ attached: FileName?, _ option: Option, _ rest: [FileName], _ position: inout Int
  ) throws(Failure) -> FileName {
    if let attached { return attached }
    guard position < rest.count else {
      throw .usage("\"--\(option.long)\" needs its \(option.value ?? "value").", verb)
    }
    defer { position += 1 }
    return rest[position]
  }
}

/// The way mount(8) calls its helpers: `SOURCE MOUNTPOINT [-sfnv] [-o LIST] [-t TYPE] [-N NAMESPACE]`.
enum MountHelper {
  /// Whether a call without a verb is such a one: `mount -t fuse sharefs#SOURCE MOUNTPOINT` runs `sharefs SOURCE MOUNTPOINT -o LIST`.
  static func fits(_ rest: [FileName]) -> Bool {
    rest.count >= 3 && !rest[0].hasPrefix("-") && !rest[1].hasPrefix("-") && rest[2].hasPrefix("-")
  }

  static func read(_ rest: [FileName]) throws(Failure) -> Arguments {
    var operands: [FileName] = []
    var options: [Arguments.Given] = []
    var position = 0
    func following(_ letter: String) throws(Failure) -> FileName {
      guard position < rest.count else { throw .usage("\"-\(letter)\" needs its value.", .mount) }
      defer { position += 1 }
      return rest[position]
    }
    while position < rest.count {
      let one = rest[position]
      position += 1
      guard one.hasPrefix("-"), one.count > 1 else {
        operands.append(one)
        continue
      }
      switch one.text {
      case "-o": options.append(.init(name: "options", value: try following("o")))
      case "-t", "-N": _ = try following("t")
      default:
        for letter in one.bytes.dropFirst() {
          switch letter {
          case UInt8(ascii: "s"): options.append(.init(name: "sloppy", value: nil))
          case UInt8(ascii: "f"): options.append(.init(name: "fake", value: nil))
          case UInt8(ascii: "v"): options.append(.init(name: "verbose", value: nil))
          case UInt8(ascii: "n"): break
          default: throw .usage("A mount helper has no option \"\(one)\".", .mount)
          }
        }
      }
    }
    guard operands.count == 2 else { throw .usage("A mount helper needs SOURCE and MOUNTPOINT.", .mount) }
    // The same folder twice is how fstab spells a mount in place.
    if operands[0] == operands[1] { operands.removeLast() }
    return Arguments(.mount, options: options, operands: operands)
  }
}
