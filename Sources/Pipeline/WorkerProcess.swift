import Contracts
import Posix

/// One `sharefs-worker` and our end of its channel. Belongs to one thread.
final class WorkerProcess {
  enum Failure: Error {
    /// It had ended before it got the job.
    case notThere
    /// It ended, hung or lied over the job.
    case broken(String)
    /// Memory or descriptors are lacking on our side, or the program cannot be run.
    case ours(Errno)
    case stopped
  }

  private let channel: Channel
  private var child: Child?
  private(set) var jobs = 0
  private let patience: Clock.Instant
  private let isStopping: @Sendable () -> Bool

  /// After so many jobs a worker is replaced, so that what leaks in a decoder does not add up.
  static let life = 500
  /// A stop is noticed within this time; an answer at once.
  private static let slice = Clock.seconds(0.1)

  /// Starts the program and waits until it is ready.
  static func start(
    _ program: FileName, patience: Clock.Instant, isStopping: @escaping @Sendable () -> Bool
  ) throws(Failure) -> WorkerProcess {
    let worker: WorkerProcess
    do throws(Errno) {
      worker = try Channel.pair { ours, theirs throws(Errno) in
        // A session of its own, so that Ctrl-C at a terminal does not look like a crash.
        let child = try Child.spawn(program, [program], descriptors: [2: 2, 3: theirs.descriptor.raw], session: true)
        return WorkerProcess(ours, child, patience: patience, isStopping: isStopping)
      }
    } catch {
      throw .ours(error)
    }
    guard try worker.receive(limit: 16) == [1] else { throw .broken("it did not say that it is ready") }
    return worker
  }

  private init(
    _ channel: consuming Channel, _ child: consuming Child, patience: Clock.Instant,
    isStopping: @escaping @Sendable () -> Bool
  ) {
    self.channel = channel
    self.child = consume child
    self.patience = patience
    self.isStopping = isStopping
  }

  deinit { end() }

  /// Ends the program, whatever it does.
  /// - Returns: how it ended.
  @discardableResult
  func end() -> Child.Ending? {
    guard let child = self.child.take() else { return nil }
    child.kill()
    do throws(Errno) {
      return try child.wait()
    } catch {
      // Somebody else took it; there is nothing left of it.
      return nil
    }
  }

  /// Has a job done.
  /// - Parameter document: stays the caller's.
  /// - Returns: the checked outcome and the pictures' bytes, in the order of the boxes.
  func run(_ job: Job, document: CInt? = nil) throws(Failure) -> (outcome: Outcome, pictures: [[UInt8]]) {
    let memory: Descriptor
    do throws(Errno) { memory = try Descriptor.memory("sharefs-picture") } catch { throw .ours(error) }
    do throws(Errno) {
      try channel.send(Frame.encode(job), descriptors: (document.map { [$0] } ?? []) + [memory.raw])
    } catch {
      throw error == .pipe || error == .connectionReset ? .notThere : .ours(error)
    }
    jobs += 1
    let message = try receive(limit: Frame.limit)
    let size: Int
    do throws(Errno) { size = Int(clamping: try memory.status().size) } catch { throw .ours(error) }
    let outcome: Outcome
    do throws(FrameError) { outcome = try Frame.outcome(message, for: job, memory: size) } catch {
      throw .broken("it answered nonsense: \(error.what)")
    }
    var pictures: [[UInt8]] = []
    for drawn in outcome.pictures { pictures.append(try read(drawn, from: memory)) }
    return (outcome, pictures)
  }

  /// Takes a copy before it looks: the worker may go on writing.
  private func read(_ drawn: Outcome.Drawn, from memory: borrowing Descriptor) throws(Failure) -> [UInt8] {
    guard drawn.length <= PNGCheck.longest(width: drawn.width, height: drawn.height) else {
      throw .broken("it made a picture of \(drawn.length) bytes")
    }
    let bytes: [UInt8]
    do throws(Errno) { bytes = try memory.read(at: drawn.offset, count: drawn.length) } catch { throw .ours(error) }
    if let fault = PNGCheck.fault(bytes, width: drawn.width, height: drawn.height) {
      throw .broken("it made \(fault)")
    }
    return bytes
  }

  private func receive(limit: Int) throws(Failure) -> [UInt8] {
    let deadline = Clock.now() + patience
    let received: (message: [UInt8], descriptors: [CInt])?
    do throws(Errno) {
      while try !channel.waitReadable(until: min(deadline, Clock.now() + WorkerProcess.slice)) {
        if isStopping() || Clock.now() >= deadline { break }
      }
      if isStopping() {
        received = nil
      } else if try channel.waitReadable(until: 0) {
        received = try channel.receive(limit: limit)
      } else {
        received = ([], [])
      }
    } catch {
      throw .broken("its answer cannot be received: \(error)")
    }
    guard let received else { throw isStopping() ? .stopped : .broken(ending()) }
    for raw in received.descriptors { _ = Descriptor(owning: raw) }
    guard received.descriptors.isEmpty else { throw .broken("it sent descriptors") }
    guard !received.message.isEmpty else {
      throw .broken("it gave no answer within \(Double(patience) / 1e9) s")
    }
    return received.message
  }

  private func ending() -> String {
    switch end() {
    case .killed(let signal): "it was ended by signal \(signal)"
    case .exited(let code): "it ended with code \(code)"
    case nil: "it ended"
    }
  }
}
