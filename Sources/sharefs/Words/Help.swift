/// The texts of `--help`, made from the verbs' own table; kept as snapshots by the tests.
enum Help {
  static var all: String {
    var text = "sharefs: a shared folder that catalogs and thumbnails the videos dropped into it\n\nUsage:\n"
    for verb in Verb.allCases { for line in verb.synopsis { text += "  sharefs \(line)\n" } }
    text += "  sharefs --help | --version\n\nVerbs:\n"
    let widest = Verb.allCases.map(\.rawValue.count).max() ?? 0
    for verb in Verb.allCases { text += "  \(pad(verb.rawValue, widest))  \(verb.summary)\n" }
    text +=
      "\n`sharefs VERB --help` tells the rest. As mount helper: mount.sharefs SOURCE MOUNTPOINT [-sfnv] [-o LIST].\n"
    return text + exitCodes(ExitCode.allCases)
  }

  static func of(_ verb: Verb) -> String {
    var text = "sharefs \(verb.rawValue): \(verb.summary)\n\nUsage:\n"
    for line in verb.synopsis { text += "  sharefs \(line)\n" }
    text += "\n\(verb.details)\n\nOptions:\n"
    let shown = verb.shownOptions
    let widest = shown.map(\.spelling.count).max() ?? 0
    for option in shown { text += "  \(pad(option.spelling, widest))  \(option.summary)\n" }
    if verb == .mount {
      text += "\nMount options:\n"
      let widest = MountOptions.known.map(\.spelling.count).max() ?? 0
      for option in MountOptions.known { text += "  \(pad(option.spelling, widest))  \(option.summary)\n" }
      text +=
        "  The options that mount(8) and systemd keep for themselves (_netdev, nofail, noauto, user, x-...) are accepted.\n"
    }
    return text + exitCodes(verb.exitCodes)
  }

  private static func exitCodes(_ codes: [ExitCode]) -> String {
    "\nExit codes:\n"
      + codes.map { "  \(pad("\($0.rawValue)", 2))  \($0.meaning)\n" }.joined()
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
