import Control
import Glibc
import Posix

/// The card that a daemon leaves in the runtime folder, so that it is found also while it does not answer.
struct RunningShare: Hashable, Sendable {
  let pid: Int32
  let mountpoint: FileName
  let source: FileName
  let state: FileName
  let socket: FileName

  init(_ plan: MountPlan) {
    pid = ProcessTable.own
    mountpoint = plan.mountpoint
    source = plan.source
    state = plan.location.data
    socket = plan.location.socket
  }

  /// Leaves the card of a share that this process is about to mount.
  static func announce(_ plan: MountPlan) throws(Failure) {
    guard let card = plan.location.card else { return }
    let line = try Output.line(of: RunningShare(plan))
    try explain(.mountFailed, "The share cannot be announced in \(card)") { () throws(Errno) in
      try Files.replace(card, with: line)
    }
  }

  /// Takes the card away.
  static func withdraw(_ plan: MountPlan) {
    // One that stays is recognised as stale by whoever reads it next.
    if let card = plan.location.card { try? Files.remove(card) }
  }

  /// The daemons that are there. Cards of our own that died are removed; root believes no other user's card enough to remove or
  /// make a file by it.
  static func all() -> [RunningShare] {
    var all: [RunningShare] = []
    for folder in StateFolders.readableRuntimes {
      let isOwn = (try? Files.status(folder))?.user == System.user
      for name in (try? Files.names(in: folder)) ?? [] where name.hasSuffix(".json") {
        let card = folder.appending(name)
        guard let bytes = try? Files.read(card, limit: 65536), let share = try? JSONLine.decode(Self.self, bytes) else {
          continue
        }
        if !isOwn || FileLock.isHeld(share.state.appending("lock")) {
          all.append(share)
        } else {
          try? Files.remove(card)
          try? Files.remove(share.socket)
        }
      }
    }
    return all
  }

  static func at(_ mountpoint: FileName) -> RunningShare? { all().first { $0.mountpoint == mountpoint } }
}

extension RunningShare: Codable {
  private enum Key: String, CodingKey {
    case pid, mountpoint, source, state, socket
    case mountpointBytes = "mountpoint_bytes"
    case sourceBytes = "source_bytes"
    case stateBytes = "state_bytes"
    case socketBytes = "socket_bytes"
  }

  init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    pid = try box.decode(Int32.self, forKey: .pid)
    mountpoint = try box.decodePath(.mountpoint, bytes: .mountpointBytes)
    source = try box.decodePath(.source, bytes: .sourceBytes)
    state = try box.decodePath(.state, bytes: .stateBytes)
    socket = try box.decodePath(.socket, bytes: .socketBytes)
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(pid, forKey: .pid)
    try box.encode(path: mountpoint, .mountpoint, bytes: .mountpointBytes)
    try box.encode(path: source, .source, bytes: .sourceBytes)
    try box.encode(path: state, .state, bytes: .stateBytes)
    try box.encode(path: socket, .socket, bytes: .socketBytes)
  }
}
