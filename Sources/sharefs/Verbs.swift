/// An option as it is typed, and as help tells it.
struct Option: Sendable {
  let long: String
  var short: Character?
  /// What stands for the value in help; nil for a switch.
  var value: String?
  /// Empty for one that only our own programs give.
  let summary: String
  /// Whether all words after it are operands, whatever they look like: the words of a command.
  var endsOptions = false

  /// `-o, --options LIST`
  var spelling: String {
    "\(short.map { "-\($0), " } ?? "    ")--\(long)\(value.map { " \($0)" } ?? "")"
  }
}

/// What the command can be told to do. Everything that help, the parser and the tests know of a verb stands here.
enum Verb: String, CaseIterable, Sendable {
  case mount, umount, status, list, info, watch, wait, thumbnail, rescan, check, types, `import`, cat, bookmark

  var summary: String {
    switch self {
    case .mount: "turn a folder into a share"
    case .umount: "end a share; the folder is a plain folder again"
    case .status: "tell what is mounted, and how it is"
    case .list: "list the catalogued files"
    case .info: "tell everything that is known of a file"
    case .watch: "tell what happens, or run a command for each new document"
    case .wait: "return when documents are whole"
    case .thumbnail: "make the picture of any file"
    case .rescan: "compare the folder with the catalog"
    case .check: "tell where folder, catalog and thumbnails do not agree"
    case .types: "list the types that --type takes"
    case .import: "copy files into a share, those that are whole"
    case .bookmark: "tokens that find their documents again"
    case .cat: "read one whole version of a document"
    }
  }

  var synopsis: [String] {
    switch self {
    case .mount: ["mount [options] DIR", "mount [options] SOURCE MOUNTPOINT"]
    case .umount: ["umount [--lazy | --wait] MOUNTPOINT"]
    case .status: ["status [--json] [MOUNTPOINT]"]
    case .list:
      [
        "list [--json] [--type TYPES] [--verdict VERDICTS] [--name PART] [--prefix PART] [--since T] [--before T]",
        "     [--sort KEY] [--reverse] [--limit N] [--offset N] [--state DIR] [PATH]",
      ]
    case .info: ["info [--json] [--state DIR] PATH|ASSET|URL"]
    case .watch:
      [
        "watch [--json] [--since N] [--type TYPES] MOUNT",
        "watch [--since N] [--type TYPES] [--jobs N] [MOUNT] --exec CMD [WORDS {}] [MOUNT]",
      ]
    case .wait: ["wait [--json] [--timeout S] [--state DIR] PATH..."]
    case .thumbnail: ["thumbnail [--size N] IN OUT"]
    case .rescan: ["rescan [--timeout S] MOUNT"]
    case .check: ["check [--json] [--repair] [--state DIR] [MOUNT]"]
    case .types: ["types [--json] [TYPE...]"]
    case .import: ["import [--to DIR] [--type TYPES] [--move] [--progress] [--json] [--state DIR] FILE..."]
    case .bookmark:
      [
        "bookmark create [--read-only] [--json] [--state DIR] PATH", "bookmark resolve [--json] TOKEN",
        "bookmark list [--json] [PATH]", "bookmark remove TOKEN", "bookmark start [--for S] [--json] TOKEN",
        "bookmark stop ACCESS",
      ]
    case .cat: ["cat [--timeout S] [--state DIR] PATH|ASSET|URL"]
    }
  }

  var operands: ClosedRange<Int> {
    switch self {
    case .mount: 1...2
    case .umount, .info, .rescan, .cat: 1...1
    case .status, .list, .check: 0...1
    case .thumbnail: 2...2
    case .bookmark: 1...3
    case .types: 0...Int.max
    case .watch, .wait, .import: 1...Int.max
    }
  }

  private static let json = Option(long: "json", summary: "one JSON object a line, for scripts")
  private static let state = Option(
    long: "state", value: "DIR", summary: "the DIR that was given to `sharefs mount --state`")

  var options: [Option] {
    switch self {
    case .mount:
      [
        Option(long: "options", short: "o", value: "LIST", summary: "mount options, separated by commas; see below"),
        Option(long: "state", value: "DIR", summary: "keep catalog, thumbnails, log and socket in DIR"),
        Option(long: "foreground", short: "f", summary: "stay in the foreground, log to the terminal"),
        Option(long: "verbose", short: "v", summary: "log every event"),
        Option(long: "ready-fd", value: "N", summary: ""),
        Option(long: "sloppy", summary: ""),
      ]
    case .umount:
      [
        Option(long: "lazy", short: "l", summary: "take it out of the tree now; it ends with its last open file"),
        Option(long: "wait", short: "w", summary: "while it is in use, wait until it is not"),
      ]
    case .status: [Self.json]
    case .list:
      [
        Self.json,
        Option(
          long: "type", short: "t", value: "TYPES",
          summary: "only these, separated by commas: video, image, audio, document, or what `sharefs types` lists"),
        Option(
          long: "verdict", value: "VERDICTS", summary: "only these: pending, ready, incomplete, invalid, unsupported"),
        Option(
          long: "name", short: "n", value: "PART", summary: "only names with PART in them, in large or small letters"),
        Option(long: "prefix", value: "PART", summary: "only names that begin with PART"),
        Option(
          long: "since", value: "T", summary: "only what was modified at T or later: 2026-01-31, 2026-01-31T12:00:00Z"),
        Option(long: "before", value: "T", summary: "only what was modified before T"),
        Option(long: "sort", short: "s", value: "KEY", summary: "by path, name, size, date or duration (path)"),
        Option(long: "reverse", short: "r", summary: "the last first"),
        Option(long: "limit", value: "N", summary: "at most N lines"),
        Option(long: "offset", value: "N", summary: "without the first N lines"),
        Self.state,
      ]
    case .info: [Self.json, Self.state]
    case .watch:
      [
        Self.json,
        Option(
          long: "since", value: "N", summary: "begin after event number N; without it, with what happens from now on"),
        Option(
          long: "type", short: "t", value: "TYPES",
          summary: "only these events (closed, ready, ...), and events of these types of document"),
        Option(
          long: "exec", short: "x", value: "CMD",
          summary: "run CMD once for each document that is whole; {} is its path", endsOptions: true),
        Option(long: "jobs", short: "j", value: "N", summary: "so many commands at once (one a processor)"),
      ]
    case .thumbnail:
      [Option(long: "size", short: "s", value: "N", summary: "fit into N x N pixels, 16 to 4096 (300x169)")]
    case .rescan: [Option(long: "timeout", value: "S", summary: "wait for S seconds at most")]
    case .check: [Self.json, Option(long: "repair", summary: "make them agree"), Self.state]
    case .types: [Self.json]
    case .import:
      [
        Option(long: "to", value: "DIR", summary: "the share, or a folder in it; the current folder without"),
        Option(long: "type", short: "t", value: "TYPES", summary: "refuse all other types; see `sharefs types`"),
        Option(long: "move", short: "m", summary: "remove the original once it is imported"),
        Option(long: "progress", short: "p", summary: "show how far it is, also where no terminal is"),
        Self.json, Self.state,
      ]
    case .bookmark:
      [
        Option(long: "read-only", short: "r", summary: "accesses by this bookmark may only read"),
        Option(long: "for", value: "S", summary: "end the access after S seconds"), Self.json, Self.state,
      ]
    case .cat: [Option(long: "timeout", value: "S", summary: "give up after S seconds"), Self.state]
    case .wait:
      [
        Self.json, Option(long: "timeout", value: "S", summary: "give up after S seconds"), Self.state,
      ]
    }
  }

  /// The exit codes that can come, `done` first.
  var exitCodes: [ExitCode] {
    switch self {
    case .mount: [.done, .usage, .mountFailed]
    case .umount: [.done, .usage, .noSuchThing, .timedOut, .permission, .mountFailed]
    case .status: [.done, .usage, .noSuchThing, .timedOut, .permission]
    case .list: [.done, .usage, .noSuchThing, .timedOut, .permission]
    case .info: [.done, .usage, .noSuchThing, .notWhole, .timedOut, .permission]
    case .watch: [.done, .usage, .noSuchThing, .timedOut, .permission]
    case .wait: [.done, .usage, .noSuchThing, .notWhole, .timedOut, .permission]
    case .thumbnail: [.done, .usage, .noSuchThing, .notWhole, .permission]
    case .rescan: [.done, .usage, .noSuchThing, .timedOut, .permission]
    case .check: [.done, .usage, .noSuchThing, .timedOut, .permission, .disagreement]
    case .types: [.done, .usage]
    case .import: [.done, .usage, .noSuchThing, .notWhole, .timedOut, .permission, .changed]
    case .bookmark:
      [
        .done, .usage, .noSuchThing, .timedOut, .permission, .unknownBookmark, .deleted, .unreadable, .replaced,
        .otherShare, .otherUser, .noAccess,
      ]
    case .cat: [.done, .usage, .noSuchThing, .timedOut, .permission, .changed]
    }
  }
}
