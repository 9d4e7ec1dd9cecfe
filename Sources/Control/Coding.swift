import Posix

/// The names on the wire. They are a promise to scripts (docs/cli.md): added to, never changed.

extension Request: Codable {
  private enum Key: String, CodingKey {
    case op, path, since, repair
    case pathBytes = "path_bytes"
  }

  public init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    switch try box.decode(String.self, forKey: .op) {
    case "status": self = .status
    case "stop": self = .stop
    case "rescan": self = .rescan(repairs: try box.decodeIfPresent(Bool.self, forKey: .repair) ?? false)
    case "watch": self = .watch(since: try box.decodeIfPresent(UInt64.self, forKey: .since))
    case "document":
      let name = try box.decodePath(.path, bytes: .pathBytes)
      guard let path = SharePath(Array(name.bytes)) else {
        throw Refusal(.badRequest, "The path must be relative to the share, without empty parts and dots.")
      }
      self = .document(path)
    case let other:
      if let request = try BookmarkRequest(other, decoder) {
        self = .bookmark(request)
        return
      }
      throw Refusal(.badRequest, "There is no op \"\(escaped(Array(other.utf8.prefix(40))))\".")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    if case .bookmark(let request) = self { return try request.encode(to: encoder) }
    var box = encoder.container(keyedBy: Key.self)
    switch self {
    case .bookmark: break
    case .status: try box.encode("status", forKey: .op)
    case .stop: try box.encode("stop", forKey: .op)
    case .rescan(let repairs):
      try box.encode("rescan", forKey: .op)
      if repairs { try box.encode(true, forKey: .repair) }
    case .watch(let since):
      try box.encode("watch", forKey: .op)
      try box.encodeIfPresent(since, forKey: .since)
    case .document(let path):
      try box.encode("document", forKey: .op)
      try box.encode(path: FileName(path.bytes), .path, bytes: .pathBytes)
    }
  }
}

extension ShareStatus: Codable {
  private enum Key: String, CodingKey {
    case pid, mountpoint, source, state, passthrough, pending, running, counts, scan, workers, version, library, kinds
    case protocolNumber = "protocol"
    case mountpointBytes = "mountpoint_bytes"
    case sourceBytes = "source_bytes"
    case stateBytes = "state_bytes"
    case passthroughReason = "passthrough_reason"
    case lastErrors = "last_errors"
  }

  public init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    self.init(
      pid: try box.decode(Int32.self, forKey: .pid),
      mountpoint: try box.decodePath(.mountpoint, bytes: .mountpointBytes),
      source: try box.decodePath(.source, bytes: .sourceBytes),
      state: try box.decodePath(.state, bytes: .stateBytes),
      passthrough: try box.decode(Bool.self, forKey: .passthrough),
      passthroughReason: try box.decodeIfPresent(String.self, forKey: .passthroughReason),
      pending: try box.decode(Int.self, forKey: .pending),
      running: try box.decode(Int.self, forKey: .running),
      counts: try box.decode(Counts.self, forKey: .counts),
      scan: try box.decode(Scan.self, forKey: .scan),
      workers: try box.decode(Int.self, forKey: .workers),
      lastErrors: try box.decode([Complaint].self, forKey: .lastErrors),
      version: try box.decode(String.self, forKey: .version))
    protocolNumber = try box.decode(Int.self, forKey: .protocolNumber)
    library = try box.decode(Library.self, forKey: .library)
    kinds = try box.decode([String: Pickable].self, forKey: .kinds)
  }

  public func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(pid, forKey: .pid)
    try box.encode(path: mountpoint, .mountpoint, bytes: .mountpointBytes)
    try box.encode(path: source, .source, bytes: .sourceBytes)
    try box.encode(path: state, .state, bytes: .stateBytes)
    try box.encode(passthrough, forKey: .passthrough)
    try box.encodeIfPresent(passthroughReason, forKey: .passthroughReason)
    try box.encode(pending, forKey: .pending)
    try box.encode(running, forKey: .running)
    try box.encode(counts, forKey: .counts)
    try box.encode(scan, forKey: .scan)
    try box.encode(workers, forKey: .workers)
    try box.encode(lastErrors, forKey: .lastErrors)
    try box.encode(version, forKey: .version)
    try box.encode(protocolNumber, forKey: .protocolNumber)
    try box.encode(library, forKey: .library)
    try box.encode(kinds, forKey: .kinds)
  }
}

extension DocumentStatus: Codable {
  private enum Key: String, CodingKey {
    case path, state, writers, asset, verdict, reason, version
    case pathBytes = "path_bytes"
  }

  public init(from decoder: any Decoder) throws {
    let box = try decoder.container(keyedBy: Key.self)
    self.init(
      path: try box.decodePath(.path, bytes: .pathBytes), state: try box.decode(State.self, forKey: .state),
      writers: try box.decode(Int.self, forKey: .writers), asset: try box.decodeIfPresent(Int64.self, forKey: .asset))
    verdict = try box.decodeIfPresent(String.self, forKey: .verdict)
    reason = try box.decodeIfPresent(String.self, forKey: .reason)
    version = try box.decodeIfPresent(Int64.self, forKey: .version)
  }

  public func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(path: path, .path, bytes: .pathBytes)
    try box.encode(state, forKey: .state)
    try box.encode(writers, forKey: .writers)
    try box.encodeIfPresent(asset, forKey: .asset)
    try box.encodeIfPresent(verdict, forKey: .verdict)
    try box.encodeIfPresent(reason, forKey: .reason)
    try box.encodeIfPresent(version, forKey: .version)
  }
}
