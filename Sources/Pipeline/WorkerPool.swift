import Contracts
import Posix

/// One worker process per core and one thread for each, which waits for it.
final class WorkerPool: Sendable {
  private struct State {
    var queue: [Ticket] = []
    var running = 0
    /// Placeholders that are not in the store.
    var missing: [PlaceholderKind] = []
    var up = 0
    var failure: String?
    var isStopping = false
  }

  private enum Turn {
    case draw(PlaceholderKind)
    case document(Ticket)
    case stop
  }

  private let settings: Settings
  private let source: Source
  private let store: ThumbnailStore
  private let desktop: DesktopCache?
  private let problems: Problems
  private let deliver: @Sendable (Ticket, JobResult) -> Void
  private let state = Monitor(State())

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
  }

  /// - Parameter ahead: assets that somebody waits for; they come before what stands in the queue already.
  func add(_ tickets: [Ticket], ahead: Set<Int64>) {
    guard !tickets.isEmpty else { return }
    let isLate = state.change { state in
      if !state.isStopping {
        state.queue =
          tickets.filter { ahead.contains($0.asset) } + state.queue + tickets.filter { !ahead.contains($0.asset) }
      }
      return state.isStopping
    }
    if isLate { for ticket in tickets { deliver(ticket, .abandoned) } }
  }

  /// Somebody waits for it.
  func hurry(_ asset: Int64) {
    state.withLock { state in
      guard let position = state.queue.firstIndex(where: { $0.asset == asset }), position > 0 else { return }
      state.queue.insert(state.queue.remove(at: position), at: 0)
    }
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
      defer { state.queue = [] }
      return state.queue
    }
    for ticket in left { deliver(ticket, .abandoned) }
  }

  /// - Returns: jobs being done now, worker processes there, and why there are fewer than wanted.
  var now: (running: Int, up: Int, failure: String?) { state.withLock { ($0.running, $0.up, $0.failure) } }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  // MARK: - One thread

  private func serve() {
    // The worker that it starts is as modest.
    Thread.giveWay(.modest)
    var worker: WorkerProcess?
    while true {
      if worker == nil || worker!.jobs >= WorkerProcess.life {
        retire(&worker)
        worker = launch()
        if worker == nil { return }
      }
      switch next() {
      case .stop:
        retire(&worker)
        return
      case .draw(let kind): draw(kind, with: &worker)
      case .document(let ticket):
        let result = work(on: ticket, with: &worker)
        state.withLock { $0.running -= 1 }
        deliver(ticket, result)
      }
    }
  }

  private func next() -> Turn {
    state.wait { state -> Turn? in
      if state.isStopping { return .stop }
      if !state.missing.isEmpty { return .draw(state.missing.removeFirst()) }
      guard !state.queue.isEmpty else { return nil }
      state.running += 1
      return .document(state.queue.removeFirst())
    }
  }

  /// - Returns: nil when the pipeline is being stopped.
  private func launch() -> WorkerProcess? {
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

  private func retire(_ worker: inout WorkerProcess?) {
    guard let old = worker else { return }
    old.end()
    worker = nil
    state.withLock { $0.up -= 1 }
  }

  /// Has a job done, by a new worker when the old one had gone before.
  private func run(
    _ job: Job, document: CInt? = nil, with worker: inout WorkerProcess?
  ) throws(WorkerProcess.Failure) -> (outcome: Outcome, pictures: [[UInt8]]) {
    for _ in 0..<3 {
      guard let present = worker else { throw .stopped }
      do throws(WorkerProcess.Failure) {
        return try present.run(job, document: document)
      } catch {
        switch error {
        case .ours: throw error
        case .notThere:
          retire(&worker)
          worker = launch()
        case .broken, .stopped:
          retire(&worker)
          throw error
        }
      }
    }
    throw .broken("it ends before it gets a job")
  }

  /// What fails is tried again when somebody needs it.
  private func draw(_ kind: PlaceholderKind, with worker: inout WorkerProcess?) {
    do throws(WorkerProcess.Failure) {
      let job = Job(number: UInt64.max - UInt64(kind.rawValue), task: .placeholder(kind), boxes: [settings.box])
      guard let bytes = try run(job, with: &worker).pictures.first else {
        throw .broken("it drew nothing")
      }
      do throws(Errno) {
        try store.write(bytes, kind)
        isStoring()
        problems.end(.placeholders, "Placeholders can be drawn again.")
      } catch {
        problems.begin(.cache, .error, cannotStore(error))
      }
    } catch {
      if case .broken(let what) = error {
        problems.begin(.placeholders, .error, "The media worker cannot draw the placeholder \(kind): \(what).")
      }
    }
  }

  private func isStoring() { problems.end(.cache, "Thumbnails can be stored again.") }

  func cannotStore(_ error: Errno) -> String {
    "Thumbnails cannot be stored in \(settings.cacheFolder): \(error). Documents stay pending."
  }

  private func work(on ticket: Ticket, with worker: inout WorkerProcess?) -> JobResult {
    let document: Descriptor
    let before: ContentStamp
    let name: [UInt8]
    switch find(ticket) {
    case .failure(let result): return result.result
    case .success(let found):
      document = Descriptor(owning: found.raw)
      before = found.stamp
      name = found.name
    }
    do throws(WorkerProcess.Failure) {
      let job = Job(number: ticket.number, task: .document(name: name), boxes: settings.boxes)
      let (outcome, pictures) = try run(job, document: document.raw, with: &worker)
      do throws(Errno) {
        let after = try document.status().stamp
        if let bytes = pictures.first {
          do throws(Errno) {
            try store.write(bytes, asset: ticket.asset, version: ticket.version)
            isStoring()
            desktop?.bring(Array(pictures.dropFirst()), of: ticket.asset, version: ticket.version)
          } catch {
            return .unstored(error)
          }
          return .done(outcome, pictureSize: Int64(bytes.count), before: before, after: after)
        }
        return .done(outcome, pictureSize: nil, before: before, after: after)
      } catch {
        return .unreadable(error)
      }
    } catch {
      switch error {
      case .ours(let error): return .failed(error)
      case .broken(let what): return .crashed(what)
      case .notThere, .stopped: return .abandoned
      }
    }
  }

  private struct Found {
    let raw: CInt
    let stamp: ContentStamp
    let name: [UInt8]
  }

  private struct NotFound: Error {
    let result: JobResult
  }

  /// Opens the document by one of its names, if that leads to it.
  private func find(_ ticket: Ticket) -> Result<Found, NotFound> {
    var worst: Errno?
    for place in ticket.places {
      do throws(Errno) {
        let document = try source.open(place)
        let status = try document.status()
        guard status.kind == .regular, source.id(status) == ticket.file else { continue }
        return .success(Found(raw: document.release(), stamp: status.stamp, name: Array(place.name?.bytes ?? [])))
      } catch {
        if !error.isAbsence { worst = error }
      }
    }
    guard let worst else { return .failure(NotFound(result: .gone)) }
    let isOurs = [.tooManyOpen, .noMemory, .notConnected, .again, .tooManyOpenInAll].contains(worst)
    return .failure(NotFound(result: isOurs ? .failed(worst) : .unreadable(worst)))
  }
}
