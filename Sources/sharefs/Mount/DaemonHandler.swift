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
  let daemon: Daemon
  var pipeline: Pipeline { daemon.pipeline }
  var log: Log { daemon.plan.log }

  init(_ daemon: Daemon) { self.daemon = daemon }

  func status() -> ShareStatus {
    let plan = daemon.plan
    let state = daemon.pipeline.status()
    let summary = state.summary ?? Summary()
    func count(_ verdict: Verdict) -> Int { summary.verdicts[verdict] ?? 0 }
    let reason = passthroughReason
    var status = ShareStatus(
      pid: ProcessTable.own, mountpoint: plan.mountpoint, source: plan.source, state: plan.location.data,
      passthrough: reason == nil, passthroughReason: reason, pending: summary.pending + state.backlog,
      running: state.running,
      counts: .init(
        ready: count(.ready), incomplete: count(.incomplete), invalid: count(.invalid),
        unsupported: count(.unsupported)),
      scan: state.isScanning ? .running : state.isScanComplete ? .done : .failed, workers: state.workers,
      lastErrors: plan.log.complaints, version: version)
    status.library = .init(
      available: state.summary != nil, permission: plan.options.isReadOnly ? .readOnly : .readWrite,
      thumbnails: state.workerFailure == nil)
    for kind in MediaKind.allCases { status.kinds[kind.word] = .init(count: summary.whole[kind] ?? 0) }
    return status
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
    // First the index, then the catalog: whatever the one says is settled, the other has.
    let isReady = if case .ready = pipeline.picture(volume: file.volume, inode: file.inode) { true } else { false }
    var asset: Asset?
    do throws(CatalogError) {
      asset = try CatalogReader(folder: daemon.plan.location.data)?.asset(of: file)
    } catch {
      log.report(.warning, error.what)
    }
    // Changed while nobody looked, such as before this daemon's start, and the scan has not come to it yet. What others write in the source is not taken
    // before it rests.
    let isAsKnown = asset.map { $0.stamp == status.stamp } ?? true
    if isReady, !isWriting, !isAsKnown, daemon.plan.isInPlace {
      pipeline.take(.seen(Document(file: file, path: path), status.stamp))
    }
    var known = DocumentStatus(
      path: shown, state: isWriting ? .writing : isReady && isAsKnown ? .settled : .pending,
      writers: daemon.tree.writers(of: file), asset: asset?.id)
    if known.state == .settled, let asset, asset.state == .done {
      known.verdict = AssetRecord.verdict(of: asset)
      known.reason = asset.reason.isEmpty ? nil : asset.reason
      known.version = asset.version
    }
    return known
  }

  func rescan(repairs: Bool) { pipeline.rescan(repairs: repairs) }

  func stop() { daemon.requestEnd() }
}
