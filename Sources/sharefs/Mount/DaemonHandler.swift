import Catalog
import Contracts
import Control
import Fuse
import Glibc
import Pipeline
import Posix
import Tree

/// Answers what is asked on the control socket.
final class DaemonHandler: Handler {
  private let daemon: Daemon

  init(_ daemon: Daemon) { self.daemon = daemon }

  func status() -> ShareStatus {
    let plan = daemon.plan
    let state = daemon.pipeline.status()
    let summary = state.summary ?? Summary()
    func count(_ verdict: Verdict) -> Int { summary.verdicts[verdict] ?? 0 }
    let reason = passthroughReason
    return ShareStatus(
      pid: ProcessTable.own, mountpoint: plan.mountpoint, source: plan.source, state: plan.location.data,
      passthrough: reason == nil, passthroughReason: reason, pending: summary.pending + state.backlog,
      running: state.running,
      counts: .init(
        ready: count(.ready), incomplete: count(.incomplete), invalid: count(.invalid),
        unsupported: count(.unsupported)),
      scan: state.isScanning ? .running : state.isScanComplete ? .done : .failed, workers: state.workers,
      lastErrors: plan.log.complaints, version: version)
  }

  private var passthroughReason: String? {
    let plan = daemon.plan
    if !plan.options.passthrough { return "It is switched off by -o nopassthrough." }
    if !Session.mayPassThrough { return "Only a mount made by root may pass through." }
    if !daemon.session.isPassthroughOffered { return "This kernel does not offer it; Linux 6.9 and later do." }
    if let error = daemon.tree.passthroughError { return "The kernel refuses it for this folder: \(error)." }
    return nil
  }

  func document(_ path: SharePath) -> DocumentStatus? {
    // A request of our own goes through the kernel's queue behind every release that was queued before: what was closed
    // before the question has been counted when it is answered.
    try? System.touchFileSystem(daemon.plan.mountpoint)
    guard let status = try? Descriptor.open(beneath: daemon.plan.sourceFolder.raw, path, O_PATH | O_NOFOLLOW).status()
    else { return nil }
    let shown = FileName(path.bytes)
    guard status.kind == .regular, !TemporaryNames.contains(path) else {
      return DocumentStatus(path: shown, state: .ignored, writers: 0, asset: nil)
    }
    let root = (try? daemon.plan.sourceFolder.descriptor.status().device) ?? status.device
    let file = status.id(root: root)
    let isWriting = daemon.tree.isBeingWritten(file)
    let asset = try? CatalogReader(folder: daemon.plan.location.data)?.asset(at: path)
    let isReady =
      if case .ready = daemon.pipeline.picture(volume: file.volume, inode: file.inode) { true } else { false }
    return DocumentStatus(
      path: shown, state: isWriting ? .writing : isReady ? .settled : .pending,
      writers: daemon.tree.writers(of: file), asset: asset?.id)
  }

  func rescan() { daemon.pipeline.rescan() }

  func stop() { daemon.requestEnd() }

  func watch(_ subscriber: Subscriber) {
    let events = daemon.pipeline.events.subscribe()
    let log = daemon.plan.log
    _ = Posix.Thread("sharefs-watch") {
      defer { events.cancel() }
      while !subscriber.isGone {
        do {
          switch events.next(until: Clock.now() + Clock.seconds(1)) {
          case .event(let event): try subscriber.send(EventLine(event))
          case .overflow(let number): try subscriber.send(OverflowLine(resumeFrom: number))
          case .timedOut: continue
          case .ended: return
          }
        } catch {
          log.report(.error, "An event cannot be written as JSON: \(error).")
          return
        }
      }
    }
  }
}

/// One event as a line of JSON.
private struct EventLine: Encodable {
  let event: Event
  init(_ event: Event) { self.event = event }

  private enum Key: String, CodingKey {
    case number, time, event, asset, path, from, size, version, verdict
    case pathBytes = "path_bytes"
    case fromBytes = "from_bytes"
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode(event.number, forKey: .number)
    try box.encode(Double(event.time.nanoseconds) / 1e9, forKey: .time)
    try box.encode(event.kind.rawValue, forKey: .event)
    if event.asset != 0 { try box.encode(event.asset, forKey: .asset) }
    try box.encode(path: FileName(event.path.bytes), .path, bytes: .pathBytes)
    if let from = event.from { try box.encode(path: FileName(from.bytes), .from, bytes: .fromBytes) }
    try box.encode(event.size, forKey: .size)
    try box.encode(event.version, forKey: .version)
    try box.encodeIfPresent(event.verdict.map { "\($0)" }, forKey: .verdict)
  }
}

/// Told to a watcher that did not keep up.
private struct OverflowLine: Encodable {
  let resumeFrom: UInt64
  private enum Key: String, CodingKey {
    case event
    case resumeFrom = "resume_from"
  }

  func encode(to encoder: any Encoder) throws {
    var box = encoder.container(keyedBy: Key.self)
    try box.encode("overflow", forKey: .event)
    try box.encode(resumeFrom, forKey: .resumeFrom)
  }
}
