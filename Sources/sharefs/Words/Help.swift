/// The texts of `--help`, made from the verbs' own table; kept as snapshots by the tests.
enum Help {
  static var all: String {
    var text = "sharefs: a shared folder that catalogs and thumbnails the videos dropped into it\n\nUsage:\n"
    for verb in Verb.allCases { for line in verb.synopsis { text += "  sharefs \(line)\n" } }
    text += "  sharefs --help | --version\n\nVerbs:\n"
    text += table(Verb.allCases.map { ($0.rawValue, $0.summary) })
    text +=
      "\n`sharefs VERB --help` tells the rest. As mount helper: mount.sharefs SOURCE MOUNTPOINT [-sfnv] [-o LIST].\n"
    return text + exitCodes(ExitCode.allCases)
  }

  static func of(_ verb: Verb) -> String {
    var text = "sharefs \(verb.rawValue): \(verb.summary)\n\nUsage:\n"
    for line in verb.synopsis { text += "  sharefs \(line)\n" }
    text += "\n\(verb.details)\n\nOptions:\n"
    text += table(verb.shownOptions.map { ($0.spelling, $0.summary) })
    if verb == .mount {
      text += "\nMount options:\n" + table(MountOptions.known.map { ($0.spelling, $0.summary) })
      text +=
        "  The options that mount(8) and systemd keep for themselves (_netdev, nofail, noauto, user, x-...) are accepted.\n"
    }
    return text + exitCodes(verb.exitCodes)
  }

  private static func exitCodes(_ codes: [ExitCode]) -> String {
    "\nExit codes:\n" + table(codes.map { ("\($0.rawValue)", $0.meaning) }, least: 2)
  }

  /// - Parameter least: letters of the left column.
  private static func table(_ rows: [(left: String, right: String)], least: Int = 0) -> String {
    let width = rows.reduce(least) { max($0, $1.left.count) }
    return rows.map { left, right in "  \(left)\(String(repeating: " ", count: width - left.count))  \(right)\n" }
      .joined()
  }
}
