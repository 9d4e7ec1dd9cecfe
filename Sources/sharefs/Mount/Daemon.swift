import Contracts
import Control
import Fuse
import Gallery
import Glibc
import Pipeline
import Posix
import Tree

/// Joins the parts and serves the share until it is unmounted.
/// - Returns: what the process ends with.
func runShare(_ plan: MountPlan, ready: consuming ReadyPipe) -> ExitCode {
  let daemon: Daemon
  do throws(Failure) {
    daemon = try Daemon(plan)
  } catch {
    ready.fail(error)
    return error.code
  }
  do throws(Failure) {
    try daemon.start()
  } catch {
    daemon.end()
    ready.fail(error)
    return error.code
  }
  let sentence = plan.isInPlace ? "\(plan.source) is mounted." : "\(plan.source) is mounted at \(plan.mountpoint)."
  ready.succeed(sentence)
  plan.log.report(.info, sentence)
  daemon.serve()
  plan.log.report(.info, "\(plan.mountpoint) is unmounted.")
  return .done
}

/// A share being served: the parts, and the order in which they begin and end.
final class Daemon: Sendable {
  let plan: MountPlan
  let pipeline: Pipeline
  let tree: ShareTree
  let session: Session
  private let signals: Received
  private let parts = Guarded(Parts())
  private let hasEnded = Monitor(false)

  private struct Parts {
    var server: Server?
    var session: Posix.Thread?
  }

  /// Signals, taken before any thread is there that they could hit.
  private final class Received: Sendable {
    let signals: Signals
    init() throws(Errno) { signals = try Signals([SIGTERM, SIGINT, SIGHUP]) }
  }

  /// Opens the catalog and mounts; nothing is answered yet.
  init(_ plan: MountPlan) throws(Failure) {
    self.plan = plan
    signals = try explain(.mountFailed, "Signals cannot be received") { () throws(Errno) in try Received() }
    Signals.ignore(SIGPIPE)
    // Documents that are open need two each, and there may be many.
    try explain(.mountFailed, "The number of open files cannot be raised") { () throws(Errno) in
      try System.raiseDescriptorLimit()
    }
    Signals.interrupt(SIGUSR2)
    let location = plan.location
    let late = LateParts()
    var settings = Settings(
      catalogFolder: location.data, cacheFolder: location.cache, worker: plan.worker, workers: System.processors,
      name: location.name, box: plan.options.thumbSize, source: plan.sourceFolder.raw,
      isBeingWritten: { late.isBeingWritten($0) })
    settings.requests = { late.requests }
    settings.watchesSource = !plan.isInPlace
    if plan.options.desktopThumbs {
      settings.desktop = Settings.Desktop(cacheFolder: try StateFolders.desktopCache(), mountpoint: plan.mountpoint)
    }
    do throws(PipelineError) {
      pipeline = try Pipeline(settings: settings, reporter: plan.log)
    } catch {
      throw Failure(.mountFailed, error.what)
    }
    let passthrough = plan.options.passthrough && Session.mayPassThrough
    let pipeline = pipeline
    var treeSettings = TreeSettings(
      isExclusive: plan.isInPlace, thumbs: plan.options.thumbs.setting, ready: plan.options.ready.setting,
      mountpoint: plan.mountpoint)
    // Where others may not enter, only the user's own processes can watch.
    treeSettings.seesAllProcesses = System.isRoot || !plan.options.allowOther
    tree = try explain(.mountFailed, "The folder \(plan.source) cannot be served") { () throws(Errno) in
      try ShareTree(
        source: try plan.sourceFolder.descriptor.duplicate(),
        settings: treeSettings,
        passthrough: passthrough, settled: pipeline, projection: pipeline,
        pages: Gallery(catalog: location.data, share: plan.source.lastComponent, reporter: plan.log))
    }
    late.tree.withLock { [tree] in $0 = tree }
    do throws(SessionError) {
      session = try Session(
        SessionSettings(
          source: plan.source, mountpoint: plan.mountpoint, allowOther: plan.options.allowOther || System.isRoot,
          passthrough: passthrough, readOnly: plan.options.isReadOnly, isExclusive: plan.isInPlace,
          further: plan.options.kernel), operations: tree)
    } catch {
      throw Daemon.failure(error, plan)
    }
    late.session.withLock { [session] in $0 = session }
  }

  private static func failure(_ error: SessionError, _ plan: MountPlan) -> Failure {
    switch error {
    case .refused(let words):
      Failure(.mountFailed, "\(plan.mountpoint) cannot be mounted: libfuse refuses (\(words)).")
    case .notMounted(let errno, let words):
      Failure(
        .mountFailed,
        "\(plan.mountpoint) cannot be mounted: \(words.isEmpty ? "\(errno)" : words).",
        hint: System.isRoot ? nil : "fusermount3 says why on its standard error output; see also /etc/fuse.conf.")
    }
  }

  /// Answers from now on; returns when the mount does.
  func start() throws(Failure) {
    tree.attach(session)
    let session = session
    let hasEnded = hasEnded
    let thread = Posix.Thread("sharefs-session") {
      session.run()
      hasEnded.change { $0 = true }
    }
    parts.withLock { $0.session = thread }
    try explain(.mountFailed, "The mount at \(plan.mountpoint) does not answer") { () throws(Errno) in
      try System.touchFileSystem(plan.mountpoint)
    }
    pipeline.start(observer: tree)
    let log = plan.log
    let server = try explain(.mountFailed, "The control socket \(plan.location.socket) cannot be made") {
      () throws(Errno) in
      try Server(socket: plan.location.socket, handler: DaemonHandler(self)) { log.report(.warning, $0) }
    }
    parts.withLock { $0.server = server }
    if let name = tree.thumbsName, name != FileName(".thumbs") {
      log.report(.warning, "The folder has a .thumbs of its own, which is shown; the thumbnails stand in \(name).")
    }
  }

  /// Waits until somebody unmounts, a signal says to end, or `requestEnd`; then ends all parts.
  func serve() {
    let signals = signals
    // Ends with the process.
    _ = Posix.Thread("sharefs-signals") { [self] in
      while let signal = try? signals.signals.next() {
        plan.log.report(.info, "Signal \(signal): unmounting.")
        unmount()
      }
    }
    _ = hasEnded.wait { $0 ? true : nil }
    end()
  }

  /// Begins to end, from any thread.
  func requestEnd() { _ = Posix.Thread("sharefs-umount") { [self] in unmount() } }

  /// Takes the mount away: at once when nobody uses it, else out of the tree now, and whoever still has files open is let go after
  /// a moment.
  private func unmount() {
    Systemd.notify("STOPPING=1\nSTATUS=Unmounting.")
    guard let table = try? MountTable.now(), let mount = table.top(at: plan.mountpoint) else { return session.stop() }
    do throws(Errno) {
      do throws(Errno) {
        try Unmount.takePatiently(mount, daemon: ProcessTable.own)
      } catch .busy {
        let holders = Unmount.holders(of: mount, daemon: ProcessTable.own)
        let names = holders.prefix(5).map { "\($0.name) (\($0.process))" }.joined(separator: ", ")
        plan.log.report(
          .warning, "The mount is in use\(names.isEmpty ? "" : " by \(names)"); it is taken away all the same.")
        try Unmount.take(mount, lazy: true)
      }
    } catch {
      plan.log.report(.error, "\(plan.mountpoint) cannot be unmounted: \(error).")
    }
    if hasEnded.wait(until: Clock.now() + Clock.seconds(2), { $0 ? true : nil }) == nil { session.stop() }
  }

  /// Ends all parts, in this order: who waits for a picture is answered while there is a connection; the connection goes, which lets those
  /// threads of ours go that ask through the mount; then their owners.
  func end() {
    let (server, thread) = parts.withLock { ($0.server, $0.session) }
    if thread != nil, !hasEnded.withLock({ $0 }) { session.stop() }
    thread?.join()
    pipeline.stop()
    session.close()
    server?.stop()
    tree.detach()
  }
}

/// Tree and session, for the pipeline that is made before them.
private final class LateParts: Sendable {
  let tree = Guarded<ShareTree?>(nil)
  let session = Guarded<Session?>(nil)

  var requests: UInt64 { session.withLock { $0 }?.requests ?? 0 }

  func isBeingWritten(_ file: FileID) -> Bool { tree.withLock { $0 }?.isBeingWritten(file) ?? false }
}

extension MountOptions.Thumbs {
  fileprivate var setting: TreeSettings.Thumbs {
    switch self {
    case .listed: .listed
    case .hidden: .hidden
    case .off: .off
    }
  }
}
