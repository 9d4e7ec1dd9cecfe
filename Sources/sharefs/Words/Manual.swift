/// The manual pages, made from the texts of `--help`.
enum Manual {
  /// sharefs(1)
  static var command: String {
    var page = Page(name: "sharefs", section: 1)
    page.section("Name")
    page.text("sharefs \\- a shared folder that catalogs and thumbnails the videos dropped into it", isPlain: false)
    page.section("Synopsis")
    for verb in Verb.allCases { for line in verb.synopsis { page.synopsis("sharefs \(line)") } }
    page.synopsis("sharefs --help | --version")
    page.section("Description")
    page.text(
      """
      sharefs turns a folder into a share that understands what is dropped into it. It sees the exact moment at which the last
      writer of a file goes away, catalogs the file, and makes a thumbnail in a sandboxed process. The pictures stand in the
      folder .thumbs of the share, for every program that can open a file.
      """)
    page.section("Verbs")
    for verb in Verb.allCases {
      page.subsection(verb.rawValue)
      page.text(verb.summary.prefix(1).uppercased() + verb.summary.dropFirst() + ".")
      page.text(verb.details)
      for option in verb.shownOptions { page.item(option.spelling.drop { $0 == " " }, option.summary) }
      page.paragraph()
      page.text("Exit codes: " + verb.exitCodes.map { "\($0.rawValue)" }.joined(separator: ", ") + ".")
    }
    mountOptions(&page)
    exitCodes(&page, ExitCode.allCases)
    files(&page)
    page.section("See also")
    page.text("mount.sharefs(8), fusermount3(1), mount(8), systemd.mount(5)")
    return page.roff
  }

  /// mount.sharefs(8)
  static var helper: String {
    var page = Page(name: "mount.sharefs", section: 8)
    page.section("Name")
    page.text("mount.sharefs, mount.fuse.sharefs \\- mount a folder as a share", isPlain: false)
    page.section("Synopsis")
    page.synopsis("mount -t fuse.sharefs SOURCE MOUNTPOINT [-o LIST]")
    page.synopsis("mount.sharefs SOURCE MOUNTPOINT [-sfnv] [-o LIST]")
    page.section("Description")
    page.text(
      """
      The helper by which mount(8), fstab(5) and systemd mount a share. SOURCE is shown at MOUNTPOINT, an empty folder; the
      same folder twice is mounted in place, covered by its own share. It returns when the mount answers. A mount left dead by a daemon
      that was killed is cleaned up first. What a share is and does: sharefs(1).
      """)
    page.section("Options")
    page.item("-o LIST", "mount options, separated by commas; see below")
    page.item("-s", "pass over mount options that are not known")
    page.item("-f", "look whether it could be mounted, and do not")
    page.item("-n", "accepted and without meaning")
    page.item("-v", "log every event")
    mountOptions(&page)
    page.section("Examples")
    page.text("In fstab(5), in place, when the system starts:")
    page.example("/srv/clips /srv/clips fuse.sharefs nofail,allow_other 0 0")
    page.text("Mounted when it is first looked into; an automount needs two folders:")
    page.example("/srv/.clips /srv/clips fuse.sharefs noauto,nofail,x-systemd.automount,allow_other 0 0")
    page.text("By hand:")
    page.example("mount -t fuse.sharefs /srv/clips /mnt/clips -o thumb_size=600x338")
    page.text("Read-only from now on, and back:")
    page.example("mount -o remount,ro /srv/clips")
    page.example("mount -o remount,rw /srv/clips")
    exitCodes(&page, Verb.mount.exitCodes)
    files(&page)
    page.section("See also")
    page.text("sharefs(1), mount(8), fstab(5), systemd.automount(5)")
    return page.roff
  }

  private static func mountOptions(_ page: inout Page) {
    page.section("Mount options")
    for option in MountOptions.known { page.item(option.spelling[...], option.summary) }
    page.paragraph()
    page.text(
      "The options that mount(8) and systemd keep for themselves (_netdev, nofail, noauto, user, x-...) are accepted.")
  }

  private static func exitCodes(_ page: inout Page, _ codes: [ExitCode]) {
    page.section("Exit status")
    for code in codes { page.item("\(code.rawValue)", code.meaning) }
  }

  private static func files(_ page: inout Page) {
    page.section("Files")
    page.item("/var/lib/sharefs/NAME/", "catalog and log of a share of root's")
    page.item("/var/cache/sharefs/NAME/", "its thumbnails")
    page.item("/run/sharefs/", "its control socket")
    page.item("$XDG_DATA_HOME/sharefs/NAME/", "catalog and log of a user's share")
    page.item("$XDG_CACHE_HOME/sharefs/NAME/", "its thumbnails")
    page.item("$XDG_RUNTIME_DIR/sharefs/", "its control socket")
  }
}

/// One page in the language of man(7).
private struct Page {
  private(set) var roff: String

  init(name: String, section: Int) {
    roff = ".TH \(name.uppercased()) \(section) \"\" \"sharefs \(version)\"\n"
  }

  mutating func section(_ title: String) { roff += ".SH \(title.uppercased())\n" }
  mutating func subsection(_ title: String) { roff += ".SS \(Self.plain(title))\n" }
  mutating func paragraph() { roff += ".PP\n" }
  mutating func synopsis(_ line: String) { roff += ".br\n\(Self.plain(line))\n" }
  mutating func item(_ tag: some StringProtocol, _ text: String) {
    roff += ".TP\n.B \(Self.plain(String(tag)))\n\(Self.plain(text))\n"
  }
  mutating func example(_ line: String) { roff += ".PP\n.nf\n.RS\n\(Self.plain(line))\n.RE\n.fi\n.PP\n" }

  /// - Parameter isPlain: false for text that is roff already.
  mutating func text(_ text: some StringProtocol, isPlain: Bool = true) {
    for line in text.split(separator: "\n") { roff += (isPlain ? Self.plain(String(line)) : String(line)) + "\n" }
    if isPlain { paragraph() }
  }

  /// Text that must not be taken for roff: backslashes, hyphens that are typed as such, dots and quotes at the start of a line.
  private static func plain(_ text: String) -> String {
    let escaped = text.map { character in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "`": "\\(ga"
      case "'": "\\(aq"
      default: String(character)
      }
    }.joined()
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }
}
