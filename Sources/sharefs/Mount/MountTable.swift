import Glibc
import Posix

/// One line of /proc/self/mountinfo.
struct Mount: Hashable, Sendable {
  let id: Int
  /// Major and minor number of the file system, such as `0:45`.
  let device: String
  let mountpoint: FileName
  let type: String
  let source: FileName
  /// The file system's own options, such as `user_id=1000`.
  let options: String

  var isOurs: Bool { type == "fuse.sharefs" }

  /// The user who mounted a FUSE file system.
  var user: UInt32? {
    options.split(separator: ",").first { $0.hasPrefix("user_id=") }.flatMap { UInt32($0.dropFirst(8)) }
  }
}

/// What is mounted where, as the kernel tells it. Nothing here touches the mounts themselves: a dead daemon's answers
/// with an error, a stopped one's not at all.
struct MountTable: Sendable {
  let mounts: [Mount]

  static func now() throws(Failure) -> MountTable {
    let bytes = try explain(.usage, "The table of mounts cannot be read") { () throws(Errno) in
      try Files.readStream(FileName("/proc/self/mountinfo"), limit: 64 << 20)
    }
    return MountTable(bytes)
  }

  init(_ text: [UInt8]) {
    mounts = text.split(separator: UInt8(ascii: "\n")).compactMap { Self.read($0) }
  }

  /// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`; the number of optional fields before the dash varies.
  private static func read(_ line: ArraySlice<UInt8>) -> Mount? {
    let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard fields.count >= 10, let id = Int(String(decoding: fields[0], as: UTF8.self)),
      let dash = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }), fields.count > dash + 3
    else { return nil }
    return Mount(
      id: id, device: String(decoding: fields[2], as: UTF8.self), mountpoint: FileName(unescape(fields[4])),
      type: String(decoding: fields[dash + 1], as: UTF8.self),
      source: FileName(unescape(fields[dash + 2])), options: String(decoding: fields[dash + 3], as: UTF8.self))
  }

  /// `\040` and its like: space, tab, newline, backslash, number sign.
  private static func unescape(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
      {
        let value = digits.reduce(0) { $0 * 8 + Int($1 - UInt8(ascii: "0")) }
        if (1...255).contains(value) {
          result.append(UInt8(value))
          rest.removeFirst(3)
          continue
        }
      }
      result.append(byte)
    }
    return result
  }

  /// What is seen at a mount point: the last one mounted there.
  func top(at mountpoint: FileName) -> Mount? { mounts.last { $0.mountpoint == mountpoint } }

  /// The share that an absolute path lies in.
  func share(around path: FileName) -> Mount? {
    var around: Mount?
    for mount in mounts where path.isWithin(mount.mountpoint) {
      if around.map({ mount.mountpoint.count >= $0.mountpoint.count }) ?? true { around = mount }
    }
    return around.flatMap { $0.isOurs ? $0 : nil }
  }

  var shares: [Mount] { mounts.filter { $0.isOurs && top(at: $0.mountpoint) == $0 } }
}

enum Health: Sendable {
  case alive
  /// Its daemon has gone and left the mount behind.
  case dead
  /// Its daemon does not answer.
  case silent

  /// Asks the mount itself, for two seconds at most; a folder that is none is alive.
  static func of(_ mountpoint: FileName) -> Health {
    let answer = Monitor<Health?>(nil)
    // A thread that never comes back is no harm: this process ends soon, and a wait for FUSE ends with it.
    _ = Thread("mount-health") {
      do throws(Errno) {
        try System.touchFileSystem(mountpoint)
        answer.change { $0 = .alive }
      } catch {
        answer.change { $0 = error == .notConnected ? .dead : .alive }
      }
    }
    return answer.wait(until: Clock.now() + Clock.seconds(2)) { $0 } ?? .silent
  }

  /// For whoever is about to look into a mount: a question to a share whose daemon is stopped is never answered, and cannot be interrupted.
  static func mustNotBeSilent(_ mountpoint: FileName) throws(Failure) {
    guard of(mountpoint) == .silent else { return }
    throw Failure(
      .timedOut, "The daemon of \(mountpoint) does not answer.",
      hint: "It is stopped, or overloaded: see `sharefs status`.")
  }
}

extension Mount {
  func mustNotBeSilent() throws(Failure) { try Health.mustNotBeSilent(mountpoint) }
  func health() -> Health { Health.of(mountpoint) }
}
