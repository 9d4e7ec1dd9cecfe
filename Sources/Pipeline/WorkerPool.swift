import Contracts
import Posix

/// One worker process per core and one thread for each, which waits for it; and one more for what somebody waits for, which is there
/// only while the others have to do with what nobody asked for. How a worker does a job is in `WorkerPool+Jobs`.
final class WorkerPool: Sendable {
  private struct State {
    /// What somebody waits for comes before all else.
    var asked: [Ticket] = []
    var queue: [Ticket] = []
    /// Workers that have a document, and of these the modest ones.
    var running = 0
    var modest = 0
    /// Placeholders that are not in the store.
    var missing: [PlaceholderKind] = []
    var up = 0
    var failure: String?
    var isStopping = false

    /// Whether somebody waits for what no modest worker can begin.
    func needsAdditional(_ workers: Int) -> Bool { !asked.isEmpty && modest >= workers }
  }

  /// Seconds after which the additional worker ends when nobody waited for anything.
  private static let leisure = 30.0

  private enum Turn {
    case draw(PlaceholderKind)
    case document(Ticket)
    case stop
  }

  let settings: Settings
  let source: Source
  let store: ThumbnailStore
  let desktop: DesktopCache?
  let problems: Problems
  private let deliver: @Sendable (Ticket, JobResult) -> Void
  private let state = Monitor(State())
  /// Whether the additional worker's thread has something to look at; apart, so that it is not woken up for every document.
  private let call = Monitor(false)

  init(
    settings: Settings, source: Source, store: ThumbnailStore, desktop: DesktopCache?, problems: Problems,
    deliver: @escaping @Sendable (Ticket, JobResult) -> Void
  ) {
    self.settings = settings
    self.source = source
    self.store = store
    self.desktop = desktop
    self.problems = problems
    self.deliver = deliver
  }

  func start() -> [Thread] {
    (0..<settings.workers).map { number in Thread("sharefs-pool-\(number)") { self.serve() } }
      + [Thread("sharefs-asked") { self.serveAsked() }]
  }

  /// - Parameter ahead: assets that somebody waits for; they come before what stands in the queue already.
  func add(_ tickets: [Ticket], ahead: Set<Int64>) {
    guard !tickets.isEmpty else { return }
    let isLate = state.change { state in
      if !state.isStopping {
        state.asked = tickets.filter { ahead.contains($0.asset) } + state.asked
        state.queue += tickets.filter { !ahead.contains($0.asset) }
      }
      return state.isStopping
    }
    if isLate { for ticket in tickets { deliver(ticket, .abandoned) } }
    callAdditional()
  }

  /// Somebody waits for it.
  func hurry(_ asset: Int64) {
    state.change { state in
      guard let position = state.queue.firstIndex(where: { $0.asset == asset }) else { return }
      state.asked.insert(state.queue.remove(at: position), at: 0)
    }
    callAdditional()
  }

  private func callAdditional() {
    if state.withLock({ $0.needsAdditional(settings.workers) }) { call.change { $0 = true } }
  }

  func draw(_ kinds: [PlaceholderKind]) {
    state.change { state in
      for kind in kinds where !state.missing.contains(kind) { state.missing.append(kind) }
    }
  }

  /// Every worker is ended and every ticket delivered, as abandoned if need be.
  func stop() {
    let left = state.change { state in
      state.isStopping = true
      defer { (state.asked, state.queue) = ([], []) }
      return state.asked + state.queue
    }
    call.change { $0 = true }
    for ticket in left { deliver(ticket, .abandoned) }
  }

  /// - Returns: jobs being done now, worker processes there, and why there are fewer than wanted.
  var now: (running: Int, up: Int, failure: String?) { state.withLock { ($0.running, $0.up, $0.failure) } }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  // MARK: - One thread of a modest worker

  private func serve() {
    // The worker that it starts is as modest.
    Thread.giveWay(.modest)
    var worker: WorkerProcess?
    while true {
      renew(&worker)
      if worker == nil { return }
      switch next() {
      case .stop:
        retire(&worker)
        return
      case .draw(let kind): draw(kind, with: &worker)
      case .document(let ticket):
        callAdditional()
        let result = work(on: ticket, with: &worker)
        state.withLock { state in
          state.running -= 1
          state.modest -= 1
        }
        deliver(ticket, result)
      }
    }
  }

  private func next() -> Turn {
    state.wait { [settings] state -> Turn? in
      if state.isStopping { return .stop }
      if !state.missing.isEmpty { return .draw(state.missing.removeFirst()) }
      // While the additional worker has something to do, its processor is not given to what nobody asked for.
      guard !state.asked.isEmpty || (!state.queue.isEmpty && state.running < settings.workers) else { return nil }
      state.running += 1
      state.modest += 1
      return .document(state.asked.isEmpty ? state.queue.removeFirst() : state.asked.removeFirst())
    }
  }

  // MARK: - The thread for what somebody waits for

  private func serveAsked() {
    // Not modest, and neither is its worker: it gets most of a processor that a modest one has.
    var worker: WorkerProcess?
    while true {
      switch need(until: worker == nil ? nil : Clock.now() + Clock.seconds(WorkerPool.leisure)) {
      case nil: retire(&worker)
      case false?:
        retire(&worker)
        return
      case true?:
        renew(&worker)
        guard worker != nil, let ticket = takeAsked() else { continue }
        let result = work(on: ticket, with: &worker)
        state.change { $0.running -= 1 }
        deliver(ticket, result)
      }
    }
  }

  /// - Returns: whether somebody waits for what no modest worker can begin; false when it stops, nil when nobody did in time.
  private func need(until deadline: Clock.Instant?) -> Bool? {
    while true {
      let isNeeded: Bool? = state.withLock { state in
        if state.isStopping { return false }
        return state.needsAdditional(settings.workers) ? true : nil
      }
      if let isNeeded { return isNeeded }
      let wasCalled = { (call: inout Bool) -> Void? in
        defer { call = false }
        return call ? () : nil
      }
      if let deadline {
        if call.wait(until: deadline, wasCalled) == nil { return nil }
      } else {
        call.wait(wasCalled)
      }
    }
  }

  /// - Returns: nil when another has taken it meanwhile.
  private func takeAsked() -> Ticket? {
    state.withLock { state in
      guard !state.asked.isEmpty, !state.isStopping else { return nil }
      state.running += 1
      return state.asked.removeFirst()
    }
  }

  /// Starts one where there is none, or in place of one that has done enough; none when the pipeline is being stopped.
  private func renew(_ worker: inout WorkerProcess?) {
    if let worker, worker.jobs < WorkerProcess.life { return }
    retire(&worker)
    worker = launch()
  }

  /// - Returns: nil when the pipeline is being stopped.
  func launch() -> WorkerProcess? {
    var delay = Clock.seconds(0.5)
    while !isStopping {
      do throws(WorkerProcess.Failure) {
        let worker = try WorkerProcess.start(
          settings.worker, patience: settings.patience, isStopping: { [state] in state.withLock { $0.isStopping } })
        state.withLock { state in
          state.up += 1
          state.failure = nil
        }
        problems.end(.worker, "The media worker runs again.")
        return worker
      } catch {
        let why =
          switch error {
          case .ours(let error): "\(error)"
          case .broken(let what): what
          case .notThere, .stopped: "it ended at once"
          }
        if isStopping { return nil }
        let text = "The media worker \(settings.worker) cannot be started: \(why). Documents stay pending."
        state.withLock { $0.failure = text }
        problems.begin(.worker, .error, text)
        let until = Clock.now() + delay
        _ = state.wait(until: until) { state -> Bool? in state.isStopping ? true : nil }
        delay = min(Clock.seconds(60), delay * 2)
      }
    }
    return nil
  }

  func retire(_ worker: inout WorkerProcess?) {
    guard let old = worker else { return }
    old.end()
    worker = nil
    state.withLock { $0.up -= 1 }
  }
}
