import Catalog
import Posix

/// Which pending asset is looked at next: those that somebody waits for, then the oldest. Belongs to the writer thread.
///
/// It holds the front of the queue; how it goes on stands in the catalog, so a folder of a million files costs no more than one of ten thousand.
struct Scheduler {
  private var wanted: [Int64] = []
  private var urgentOnes: Set<Int64> = []
  private var waiting: [Int64] = []
  private var head = 0
  private var queued: Set<Int64> = []
  private var running: Set<Int64> = []
  /// Settled again while being looked at.
  private var again: Set<Int64> = []
  /// Whether more wait in the catalog than stand here, and after which one they come.
  private var isCutOff = true
  private(set) var last = Catalog.Turn.first
  private let slots: Int
  /// After a failure that is not a document's: nothing goes out until then, and then one alone.
  private(set) var pausedUntil: Clock.Instant?
  private var pause: Clock.Instant = 0

  /// How many beyond the slots may go out because somebody waits for them.
  private static let urgent = 8

  /// How many stand here, and how many are taken over from the catalog at once.
  static let most = 10_000
  static let portion = 5000

  init(slots: Int) { self.slots = slots }

  /// Whether `take` should be given what the catalog has after `last`.
  var needsMore: Bool { isCutOff && waiting.count - head < Scheduler.portion }

  /// - Parameter turns: the next in the catalog, `portion` at most; fewer are all there are.
  mutating func take(_ turns: [Catalog.Turn]) {
    for turn in turns where !running.contains(turn.asset) && queued.insert(turn.asset).inserted {
      waiting.append(turn.asset)
    }
    last = turns.last ?? last
    isCutOff = turns.count == Scheduler.portion
  }

  var runningCount: Int { running.count }

  mutating func add(_ id: Int64) {
    if running.contains(id) {
      again.insert(id)
    } else if waiting.count - head >= Scheduler.most {
      // It may be an old one that came back: the queue is read from its start again, without those that stand here.
      isCutOff = true
      last = .first
    } else if queued.insert(id).inserted {
      waiting.append(id)
    }
  }

  /// Those given out because somebody waits for them, since this was asked last.
  mutating func takeUrgent() -> Set<Int64> {
    defer { urgentOnes = [] }
    return urgentOnes
  }

  /// - Returns: whether it is out already.
  mutating func want(_ id: Int64) -> Bool {
    if running.contains(id) { return true }
    queued.insert(id)
    wanted.append(id)
    return false
  }

  mutating func next(now: Clock.Instant) -> Int64? {
    if let until = pausedUntil, now < until || !running.isEmpty { return nil }
    while !wanted.isEmpty && running.count < slots + Scheduler.urgent {
      let id = wanted.removeFirst()
      if start(id) {
        urgentOnes.insert(id)
        return id
      }
    }
    guard running.count < slots else { return nil }
    while head < waiting.count {
      let id = waiting[head]
      head += 1
      if head > 1024 && head * 2 > waiting.count {
        waiting.removeFirst(head)
        head = 0
      }
      if start(id) { return id }
    }
    return nil
  }

  private mutating func start(_ id: Int64) -> Bool {
    guard queued.remove(id) != nil else { return false }
    running.insert(id)
    return true
  }

  /// It is out no more; when it settled meanwhile it is queued again.
  mutating func finish(_ id: Int64) {
    running.remove(id)
    if again.remove(id) != nil { add(id) }
  }

  mutating func forget(_ id: Int64) {
    queued.remove(id)
    again.remove(id)
  }

  mutating func clear() {
    wanted = []
    waiting = []
    head = 0
    queued = []
    again = []
    last = .first
  }

  /// Waits longer with each failure, up to a minute.
  mutating func hold(now: Clock.Instant) {
    pause = min(Clock.seconds(60), max(Clock.seconds(0.5), pause * 2))
    pausedUntil = now + pause
  }

  mutating func goOn() {
    pausedUntil = nil
    pause = 0
  }
}
