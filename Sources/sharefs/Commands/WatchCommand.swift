import Catalog
import Contracts
import Control
import Posix

/// `sharefs watch`: what happens to a share, line by line, or a command for each document that is whole.
enum WatchCommand {
  /// Seconds between two looks for a daemon that has gone.
  private static let pause = 0.1

  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let filter = try EventFilter(arguments)
    let since = try arguments.number("since", in: 0...Int64.max).map { UInt64($0) }
    let (operand, runner) = try command(arguments)
    let table = try MountTable.now()
    let path = try Paths.real(operand, table: table)
    guard let mount = table.share(around: path) else {
      throw Failure(.noSuchThing, "\(path) is not in a mounted share.", hint: "Mount it: sharefs mount DIR")
    }
    let stream = EventStream(mount.mountpoint, since: since)
    guard try stream.connect() else {
      // Its card lies where only its user may look.
      if !System.isRoot, let user = mount.user, user != System.user {
        throw Failure(
          .permission, "The share \(mount.mountpoint) is another user's (user id \(user)).",
          hint: "Watch it as that user, or as root.")
      }
      throw Failure(.timedOut, "The daemon of \(mount.mountpoint) does not answer.", hint: "See `sharefs status`.")
    }
    let isJSON = arguments.has("json")
    var isAway = false
    while true {
      switch try stream.next(until: nil) {
      case .event(let event, let line):
        isAway = false
        guard filter.matches(event) else { continue }
        if let runner, let daemon = stream.daemon { try runner.run(event, of: daemon) }
        if isJSON { try Output.write(line) } else if runner == nil { try Output.write(text(event)) }
      case .overflow(let overflow, let line):
        if isJSON { try Output.write(line) }
        if overflow.lost > 0 || !isJSON { Output.complain(text(overflow)) }
      case .timedOut: continue
      case .unmounted:
        if !isAway { Output.complain("sharefs: \(mount.mountpoint) is not mounted; waiting for it.\n") }
        isAway = true
        Clock.pause(pause)
      }
    }
  }

  /// Of `[MOUNT] --exec CMD WORDS... [MOUNT]`: the mount is the word before `--exec`, else the last one.
  private static func command(_ arguments: Arguments) throws(Failure) -> (FileName, CommandRunner?) {
    guard let program = arguments.value("exec") else {
      if arguments.operands.count > 1 {
        throw .usage("\"\(arguments.operands[1])\" is one argument too many.", .watch)
      }
      return (arguments.operands[0], nil)
    }
    var words = arguments.operands
    let mount = arguments.operandsBeforeCommand > 0 ? words.removeFirst() : words.removeLast()
    let jobs = try arguments.number("jobs", in: 1...1024).map { Int($0) } ?? System.processors
    return (mount, CommandRunner(program, words, jobs: jobs))
  }

  private static func text(_ event: EventRecord) -> String {
    let (day, clock) = System.localTime(FileTime(nanoseconds: Int64(event.time * 1e9)))
    let name = event.event + String(repeating: " ", count: max(0, 11 - event.event.count))
    var line = "\(day) \(clock)  \(name) \(event.path.isEmpty ? "." : event.path.description)"
    if let from = event.from { line += " (was \(from))" }
    if event.event == "closed" { line += "  \(Words.size(event.size)), version \(event.version)" }
    if let reason = event.reason { line += ": \(escaped(Array(reason.utf8)))" }
    return line + "\n"
  }

  private static func text(_ overflow: OverflowRecord) -> String {
    overflow.lost == 0
      ? "sharefs: this reader fell behind; it goes on with event \(overflow.resumeFrom).\n"
      : "sharefs: \(overflow.lost) events are not kept any more; it goes on with event \(overflow.resumeFrom).\n"
  }
}

/// What `watch --type` lets through: kinds of event, and types of document.
struct EventFilter {
  private var kinds: Set<String> = []
  private var types = TypeSelector()

  init(_ arguments: Arguments) throws(Failure) {
    for word in arguments.words(of: "type") {
      if Event.Kind(rawValue: word) != nil {
        kinds.insert(word)
      } else if !types.add(word) {
        throw Failure(
          .usage, "There is no event and no type \"\(escaped(Array(word.utf8)))\".",
          hint: "Events are \(Event.Kind.allCases.map(\.rawValue).joined(separator: ", ")); see `sharefs types`.")
      }
    }
  }

  func matches(_ event: EventRecord) -> Bool {
    if !kinds.isEmpty && !kinds.contains(event.event) { return false }
    if types.isEmpty { return true }
    // A comparison of the whole folder is of no type.
    if event.event == Event.Kind.rescan.rawValue { return !kinds.isEmpty }
    guard let kind = MediaKind.allCases.first(where: { $0.word == event.kind }), let type = event.type,
      let mime = event.mime
    else { return types.matches(nil) }
    return types.matches(MediaType(kind: kind, identifier: type, mime: mime))
  }
}
