import CFuse
import CLinux
import Posix

/// A request in its buffer, owned by one thread at a time.
@safe final class Work: @unchecked Sendable {
  // Sound since it is handed from one thread to the next through the pool's monitor.
  var buffer = unsafe fuse_buf()

  deinit { unsafe free(buffer.mem) }
}

/// Threads for what may take long, and the buffers that go round between them and the reader.
final class Pool: Sendable {
  private struct State {
    var waiting: [Work] = []
    var free: [Work] = []
    var isStopping = false
  }

  private static let threads = 8
  /// A buffer holds a write of 1 MiB.
  private static let keptBuffers = 16

  private let state = Monitor(State())
  private let started = Monitor<[Thread]>([])

  func start(_ body: @escaping @Sendable (Work) -> Void) {
    let threads = (0..<Pool.threads).map { number in
      Thread("fuse-pool-\(number)") { [self] in
        Credentials.prepareThread()
        while let work = next() {
          body(work)
          giveBack(work)
        }
      }
    }
    started.withLock { $0 = threads }
  }

  func fresh() -> Work { state.withLock { $0.free.popLast() } ?? Work() }

  func giveBack(_ work: Work) {
    let excess: Work? = state.withLock { state in
      if state.free.count >= Pool.keptBuffers { return work }
      state.free.append(work)
      return nil
    }
    _ = excess
  }

  func hand(over work: Work) { state.changeForOne { $0.waiting.append(work) } }

  /// Does what is waiting, then ends.
  func stop() {
    state.change { $0.isStopping = true }
    for thread in started.withLock({ threads in
      defer { threads = [] }
      return threads
    }) { thread.join() }
  }

  private func next() -> Work? {
    state.wait { state -> Work?? in
      if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
      return state.isStopping ? .some(nil) : nil
    }
  }
}
