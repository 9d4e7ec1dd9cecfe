import Contracts
import Posix

/// The `-o` list, understood.
struct MountOptions: Hashable, Sendable {
  enum Thumbs: String, Sendable, CaseIterable {
    case listed, hidden, off
  }

  var thumbs = Thumbs.listed
  /// The view of whole documents.
  var ready = Thumbs.hidden
  /// What a picture must fit into.
  var thumbSize = Box.standard
  /// Whether the kernel may read and write the files without us.
  var passthrough = true
  /// Whether the user's own thumbnail cache gets pictures too.
  var desktopThumbs = false
  /// Whether users other than the one who mounts may enter.
  var allowOther = false
  var isReadOnly = false
  /// Whether what is mounted already shall get other flags.
  var isRemount = false
  /// Options that libfuse makes flags of mount(2) from, in the order given.
  var kernel: [String] = []

  /// An option of ours as it is typed and as help tells it.
  struct Known: Sendable {
    let spelling: String
    let summary: String
    var name: String { String(spelling.prefix { $0 != "=" }) }
  }

  static let known = [
    Known(
      spelling: "thumbs=listed|hidden|off", summary: "show .thumbs, let it only be opened, or leave it out (listed)"),
    Known(
      spelling: "ready=hidden|listed|off",
      summary: "let .ready (whole documents only) be opened, show it, or leave it out"),
    Known(spelling: "thumb_size=WxH", summary: "what a thumbnail must fit into, in pixels, 16 to 4096 (300x169)"),
    Known(
      spelling: "desktop_thumbs=on|off", summary: "give thumbnails to the desktop's file managers too (off)"),
    Known(spelling: "nopassthrough", summary: "let all reads and writes go through the daemon"),
    Known(spelling: "allow_other", summary: "let other users in, as every mount of root does"),
    Known(spelling: "ro", summary: "read-only"),
    Known(
      spelling: "remount", summary: "change ro, rw and those below while it is mounted (root only)"),
    Known(
      spelling: "noatime, nosuid, nodev, noexec, sync, dirsync", summary: "as for every mount, and their opposites"),
  ]

  /// Flags of mount(2) that libfuse knows by these names.
  private static let flags: Set<String> = [
    "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "async", "sync", "noatime", "dirsync",
  ]

  /// What mount(8), fstab and systemd mean for themselves, or what holds anyway. (libfuse does not know `nodiratime`; access times of folders are those
  /// of the folder below.)
  private static let ignored: Set<String> = [
    "_netdev", "nofail", "fail", "auto", "noauto", "user", "nouser", "users", "owner", "group", "defaults", "atime",
    "diratime", "nodiratime",
    "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime", "silent", "loud", "mand",
    "nomand", "iversion",
    "noiversion", "default_permissions", "passthrough",
  ]

  private static let ignoredPrefixes = ["x-", "X-", "comment=", "user=", "helper=", "uhelper=", "fsname=", "subtype="]

  /// What the table of mounts says of every FUSE file system, and `mount -o remount` gives back to us.
  private static let fromTable = ["user_id=", "group_id=", "max_read=", "blksize="]

  init() {}

  /// - Parameters:
  ///   - lists: each of options separated by commas; the last word on a matter counts.
  ///   - sloppy: whether unknown options are passed over, as `mount -s` wants it.
  init(_ lists: [FileName], sloppy: Bool = false) throws(Failure) {
    for list in lists {
      for part in list.bytes.split(separator: UInt8(ascii: ",")) {
        guard let option = FileName(part).text else { throw Self.unknown(FileName(part).description) }
        try take(option, sloppy)
      }
    }
  }

  private mutating func take(_ option: String, _ sloppy: Bool) throws(Failure) {
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts[0], parts.count > 1 ? parts[1] : nil) {
    case ("thumbs", let value?): thumbs = try Self.visibility("thumbs", value)
    case ("ready", let value?): ready = try Self.visibility("ready", value)
    case ("thumb_size", let value?):
      guard let size = Self.size(value) else {
        throw .usage("\"thumb_size\" is WIDTHxHEIGHT, each 16 to 4096, not \"\(escaped(Array(value.utf8)))\".", .mount)
      }
      thumbSize = size
    case ("desktop_thumbs", let value?):
      guard value == "on" || value == "off" else {
        throw .usage("\"desktop_thumbs\" is on or off, not \"\(escaped(Array(value.utf8)))\".", .mount)
      }
      desktopThumbs = value == "on"
    case ("thumbs", nil), ("ready", nil), ("thumb_size", nil), ("desktop_thumbs", nil):
      throw .usage("The mount option \"\(parts[0])\" needs a value.", .mount)
    case ("nopassthrough", nil): passthrough = false
    case ("allow_other", nil): allowOther = true
    case ("remount", nil): isRemount = true
    case ("ro", nil):
      isReadOnly = true
      kernel.append("ro")
    default:
      if Self.flags.contains(option) {
        if option == "rw" { isReadOnly = false }
        kernel.append(option)
      } else if !Self.ignored.contains(option),
        !(Self.ignoredPrefixes + Self.fromTable).contains(where: { option.hasPrefix($0) }), !sloppy
      {
        throw Self.unknown(escaped(Array(option.utf8)))
      }
    }
  }

  private static func visibility(_ name: String, _ value: Substring) throws(Failure) -> Thumbs {
    guard let visibility = Thumbs(rawValue: String(value)) else {
      throw .usage("\"\(name)\" is listed, hidden or off, not \"\(escaped(Array(value.utf8)))\".", .mount)
    }
    return visibility
  }

  private static func size(_ text: Substring) -> Box? {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else { return nil }
    let allowed = 16...Frame.largestEdge
    return allowed.contains(width) && allowed.contains(height) ? Box(width: width, height: height) : nil
  }

  private static func unknown(_ option: String) -> Failure {
    let names = known.map(\.name).joined(separator: ", ")
    return Failure(
      .usage, "There is no mount option \"\(option)\".", hint: "Known are \(names), and those of mount(8).")
  }
}
