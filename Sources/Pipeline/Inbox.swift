import Contracts
import Posix

/// What the writer is told.
enum Message: Sendable {
  /// - counted: whether the index waits for it to be applied.
  case change(Change, counted: Bool)
  /// Somebody waits for these pictures.
  case want([FileID])
  /// - tries: how often it was put off to be judged later.
  case finished(Ticket, JobResult, tries: Int)
  /// Found by a scan.
  case found(SharePath)
  /// Its metadata changed while nobody told us.
  case touched(SharePath, at: Clock.Instant)
  /// A scan found nothing where this asset should be.
  case missing(SharePath, asset: Int64)
  /// A name, or all that stood in a folder, has gone while nobody told us; it may have become another.
  case vanished(SharePath)
  /// What has gone does not come back.
  case vanishedForGood
  /// - mayForget: whether what no name leads to is gone.
  case scanEnded(isComplete: Bool, mayForget: Bool)
  /// The stored picture is not there any more.
  case lost(asset: Int64, version: Int64)
  /// Something that only the writer may do.
  case step(Step)
  /// Its time to be tried again has come.
  case retry(asset: Int64)
}

extension Message {
  /// What a scan would find too.
  var isFoundAgain: Bool {
    switch self {
    case .change, .found, .touched, .missing, .vanished: true
    default: false
    }
  }
}

/// Where changes wait for the writer. Taking one is a push under a lock: no system call, no SQL.
final class Inbox: Sendable {
  private struct State {
    var messages: [Message?] = []
    /// Where each file's last `touched` stands: of several only the last matters.
    var touched: [FileID: Int] = [:]
    var hasOverflowed = false
    var isStopping = false
    /// Whether somebody waits for a picture by what has come.
    var isWanted = false
    /// Taken and neither committed nor announced yet, those that wait here included.
    var open = 0
  }

  /// Beyond it changes are dropped and found again by a scan (some hundred bytes each, here and at the writer): only a catalog that cannot be
  /// written for long gets there, or names that change for a minute faster than it takes them.
  private static let most = 200_000
  /// Beyond it a scan holds back.
  private static let ease = 20_000

  private let state = Monitor(State())
  private let index: ThumbnailIndex

  init(index: ThumbnailIndex) { self.index = index }

  func take(_ change: Change) {
    let isTemporary =
      switch change {
      case .settled(let document, _), .seen(let document, _): TemporaryNames.contains(document.path)
      default: false
      }
    state.change { state in
      guard state.open < Inbox.most else {
        state.hasOverflowed = true
        return
      }
      if case .touched(let file, _) = change {
        if let before = state.touched[file] {
          state.messages[before] = nil
          state.open -= 1
        }
        state.touched[file] = state.messages.count
      }
      state.messages.append(.change(change, counted: index.note(change, isTemporary: isTemporary)))
      state.open += 1
    }
    index.flush()
  }

  func post(_ message: Message) {
    state.change { state in
      state.messages.append(message)
      state.open += 1
      if case .want = message { state.isWanted = true }
    }
  }

  /// For a scan: waits while much is to do.
  /// - Returns: false when the pipeline is being stopped.
  func postPatiently(_ message: Message) -> Bool {
    state.wait { state -> Bool? in
      if state.isStopping { return false }
      return state.messages.count < Inbox.ease ? true : nil
    }
      ? {
        post(message)
        return true
      }() : false
  }

  struct Batch {
    let messages: [Message]
    let hasOverflowed: Bool
    let isLast: Bool
  }

  /// Waits for messages; empty when the time came first.
  func next(until deadline: Clock.Instant?) -> Batch {
    let take: (inout State) -> Batch? = { state in
      guard !state.messages.isEmpty || state.isStopping || state.hasOverflowed else { return nil }
      let batch = Batch(
        messages: state.messages.compactMap { $0 }, hasOverflowed: state.hasOverflowed, isLast: state.isStopping)
      state.messages = []
      state.touched = [:]
      state.hasOverflowed = false
      state.isWanted = false
      return batch
    }
    let batch = if let deadline { state.wait(until: deadline, take) } else { state.wait(take) }
    // A scan that holds back may go on.
    state.change { _ in }
    return batch ?? Batch(messages: [], hasOverflowed: false, isLast: false)
  }

  /// Waits without taking anything.
  /// - Returns: whether the pipeline is being stopped.
  func rest(until deadline: Clock.Instant) -> Bool {
    state.wait(until: deadline) { state -> Bool? in state.isStopping ? true : nil } ?? false
  }

  func stop() { state.change { $0.isStopping = true } }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Whether what has come shall not wait for more.
  var isPressing: Bool { state.withLock { $0.isWanted || $0.isStopping } }

  /// So many messages of the last batches are committed and announced.
  func done(_ count: Int) { state.withLock { $0.open -= count } }

  /// Messages that are not committed and announced yet.
  var backlog: Int { state.withLock { $0.open } }
}
