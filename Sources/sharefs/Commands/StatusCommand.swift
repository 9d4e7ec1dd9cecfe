import Control
import Glibc
import Posix

/// `sharefs status`: what is mounted, and how it is.
enum StatusCommand {
  /// A share as it was found.
  private enum Found {
    case answering(ShareStatus)
    /// Mounted, without an answer; `code` tells scripts which kind.
    case mute(mountpoint: FileName, source: FileName, pid: Int32?, why: String, code: ExitCode)

    var mountpoint: FileName {
      switch self {
      case .answering(let status): status.mountpoint
      case .mute(let mountpoint, _, _, _, _): mountpoint
      }
    }
  }

  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let table = try MountTable.now()
    var mounts = table.shares
    if let operand = arguments.operands.first {
      let path = try Paths.real(operand, table: table)
      guard let mount = table.share(around: path) else {
        throw Failure(.noSuchThing, "\(path) is not in a mounted share.", hint: "See `sharefs status` for all.")
      }
      mounts = [mount]
    }
    let running = RunningShare.all()
    let found = mounts.sorted { $0.mountpoint < $1.mountpoint }
      .map { mount in look(mount, running.last { $0.mountpoint == mount.mountpoint }) }
    if arguments.has("json") {
      for one in found { try Output.write(try json(one)) }
    } else if found.isEmpty {
      Output.complain("No share is mounted.\n")
    } else {
      try Output.write(found.map { text($0) }.joined(separator: "\n"))
    }
    // Of one share that was asked for, the exit code tells how it is.
    if !arguments.operands.isEmpty, case .mute(_, _, _, _, let code) = found[0] { return code }
    return .done
  }

  private static func look(_ mount: Mount, _ card: RunningShare?) -> Found {
    func mute(_ why: String, _ code: ExitCode) -> Found {
      .mute(mountpoint: mount.mountpoint, source: mount.source, pid: card?.pid, why: why, code: code)
    }
    let dead = "dead: its daemon was killed; mount it again, or unmount it"
    let noAnswer = "its daemon does not answer"
    guard let card else {
      switch mount.health() {
      case .dead: return mute(dead, .noSuchThing)
      case .silent: return mute(noAnswer, .timedOut)
      case .alive:
        if let user = mount.user, user != System.user {
          return mute("another user's (user id \(user)), who may ask it", .permission)
        }
        return mute("its control socket is gone; unmount it and mount it again", .timedOut)
      }
    }
    do throws(Client.Failure) {
      var client = try Client.connect(to: card.socket)
      return .answering(try client.ask(.status, for: ShareStatus.self))
    } catch {
      switch error {
      case .silent: return mute(noAnswer, .timedOut)
      case .unreachable(.access), .unreachable(.notPermitted): return mute("another user's", .permission)
      case .unreachable, .ended:
        if mount.health() == .dead {
          return mute(dead, .noSuchThing)
        }
        return mute("its daemon is starting or ending", .timedOut)
      case .refused(let refusal): return mute("refused: \(escaped(Array(refusal.error.utf8)))", .permission)
      case .strange: return mute("its daemon is of another version; mount it again", .timedOut)
      }
    }
  }

  private static func json(_ found: Found) throws(Failure) -> [UInt8] {
    switch found {
    case .answering(let status): try Output.line(of: status)
    case .mute(let mountpoint, let source, let pid, let why, let code):
      try Output.line(
        of: Mute(mountpoint: mountpoint, source: source, pid: pid, error: why, isOthers: code == .permission))
    }
  }

  private static func text(_ found: Found) -> String {
    switch found {
    case .mute(let mountpoint, _, let pid, let why, _):
      return "\(mountpoint)\n  \(why)\(pid.map { " (process \($0))" } ?? "")\n"
    case .answering(let status):
      var lines = ["\(status.mountpoint)"]
      func line(_ name: String, _ value: String) {
        lines.append("  \(name)\(String(repeating: " ", count: 12 - name.count))\(value)")
      }
      line("source", status.source == status.mountpoint ? "in place" : "\(status.source)")
      line("daemon", "process \(status.pid), version \(status.version), \(status.workers) workers")
      line(
        "mode",
        status.passthrough ? "passthrough" : "through the daemon: \(status.passthroughReason ?? "no reason given")")
      line("state", "\(status.state)")
      line("waiting", status.pending == 0 ? "nothing" : "\(status.pending), of which \(status.running) are being made")
      let counts = status.counts
      line(
        "catalogued",
        "\(counts.ready) ready, \(counts.incomplete) incomplete, \(counts.invalid) invalid, \(counts.unsupported) unsupported"
      )
      line("scan", status.scan.rawValue)
      for (index, complaint) in status.lastErrors.enumerated() {
        line(index == 0 ? "last errors" : "", "\(complaint.time) \(escaped(Array(complaint.text.utf8)))")
      }
      return lines.joined(separator: "\n") + "\n"
    }
  }
}

/// A mounted share that did not answer, in JSON: it has `error`, and none of the fields that only its daemon knows.
private struct Mute: Encodable {
  let mountpoint: FileName
  let source: FileName
  let pid: Int32?
  let error: String
  let isOthers: Bool

  private enum Key: String, CodingKey {
    case mountpoint, source, pid, error, library
    case mountpointBytes = "mountpoint_bytes"
    case sourceBytes = "source_bytes"
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(path: mountpoint, .mountpoint, bytes: .mountpointBytes)
    try box.encode(path: source, .source, bytes: .sourceBytes)
    try box.encodeIfPresent(pid, forKey: .pid)
    try box.encode(error, forKey: .error)
    try box.encode(
      ShareStatus.Library(available: false, permission: isOthers ? .none : .readWrite, thumbnails: false),
      forKey: .library)
  }
}
