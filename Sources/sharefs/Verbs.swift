/// An option as it is typed, and as help tells it.
struct Option: Sendable {
  let long: String
  var short: Character?
  /// What stands for the value in help; nil for a switch.
  var value: String?
  /// Empty for one that only our own programs give.
  let summary: String

  /// `-o, --options LIST`
  var spelling: String {
    "\(short.map { "-\($0), " } ?? "    ")--\(long)\(value.map { " \($0)" } ?? "")"
  }
}

/// What the command can be told to do. Everything that help, the parser and the tests know of a verb stands here.
enum Verb: String, CaseIterable, Sendable {
  case mount, umount, status, list, info

  var summary: String {
    switch self {
    case .mount: "turn a folder into a share"
    case .umount: "end a share; the folder is a plain folder again"
    case .status: "tell what is mounted, and how it is"
    case .list: "list the catalogued files"
    case .info: "tell everything that is known of a file"
    }
  }

  var synopsis: [String] {
    switch self {
    case .mount: ["mount [options] DIR", "mount [options] SOURCE MOUNTPOINT"]
    case .umount: ["umount [--lazy | --wait] MOUNTPOINT"]
    case .status: ["status [--json] [MOUNTPOINT]"]
    case .list: ["list [--json] [--type TYPES] [--state DIR] [PATH]"]
    case .info: ["info [--json] [--state DIR] PATH|ASSET"]
    }
  }

  var operands: ClosedRange<Int> {
    switch self {
    case .mount: 1...2
    case .umount, .info: 1...1
    case .status, .list: 0...1
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
          summary: "only these, separated by commas: video, image, audio, document, or a type such as public.mpeg-4"),
        Self.state,
      ]
    case .info: [Self.json, Self.state]
    }
  }

  /// The exit codes that can come, `done` first.
  var exitCodes: [ExitCode] {
    switch self {
    case .mount: [.done, .usage, .mountFailed]
    case .umount: [.done, .usage, .noSuchThing, .timedOut, .permission, .mountFailed]
    case .status: [.done, .usage, .noSuchThing, .timedOut, .permission]
    case .list: [.done, .usage, .noSuchThing, .permission]
    case .info: [.done, .usage, .noSuchThing, .notWhole, .permission]
    }
  }

  /// Paragraphs for help, each line as it shall stand.
  var details: String {
    switch self {
    case .mount:
      """
      With one folder, the share is mounted in place: DIR (made when missing) is covered by the share, and shows its own
      files and `.thumbs`. With two, SOURCE is shown at MOUNTPOINT, an empty folder. The command returns when the mount
      answers. A mount left dead by a daemon that was killed is cleaned up first.
      """
    case .umount:
      """
      Returns when the daemon has ended. Pictures not yet made are made after the next mount; it says how many. When files
      are in use, it says by whom. A dead mount is cleaned up.
      """
    case .status:
      """
      Without MOUNTPOINT, all shares of yours (root: everybody's). Any path inside a share serves as MOUNTPOINT.
      """
    case .list:
      """
      PATH is a share or anything in it, mounted or not; the current folder without PATH. Columns: path, type, size,
      duration, dimensions, verdict.
      """
    case .info:
      """
      A file by its path, in a share mounted or not, or by its asset id in the share of the current folder.
      """
    }
  }
}
