import Catalog
import Posix
import Testing

@testable import Pipeline

/// The front of the queue in memory, the rest in the catalog.
@Suite("Scheduler") struct SchedulerTests {
  /// The pending rows, in the place of the catalog.
  private struct Rows {
    var turns: [Catalog.Turn]
    var done: Set<Int64> = []

    func after(_ last: Catalog.Turn, limit: Int) -> [Catalog.Turn] {
      Array(
        turns.lazy.filter { ($0.queued, $0.asset) > (last.queued, last.asset) && !done.contains($0.asset) }
          .prefix(limit))
    }
  }

  /// Hands all out, as the writer does, and says in which order.
  private func drain(_ scheduler: inout Scheduler, _ rows: inout Rows, at: (Int64, inout Scheduler, inout Rows) -> Void)
    -> [Int64]
  {
    var order: [Int64] = []
    while true {
      if scheduler.needsMore { scheduler.take(rows.after(scheduler.last, limit: Scheduler.portion)) }
      guard let id = scheduler.next(now: 0) else {
        if scheduler.needsMore { continue }
        return order
      }
      order.append(id)
      rows.done.insert(id)
      scheduler.finish(id)
      at(id, &scheduler, &rows)
    }
  }

  @Test func theOldestFirstEachOnce() {
    var scheduler = Scheduler(slots: 2)
    var rows = Rows(turns: (1...25_000).map { Catalog.Turn(queued: $0, asset: $0) })
    let order = drain(&scheduler, &rows) { _, _, _ in }
    #expect(order == Array(1...25_000))
  }

  /// More come than are held in memory, and one that was out comes back meanwhile: none is lost.
  @Test func moreThanAreHeld() {
    var scheduler = Scheduler(slots: 2)
    var rows = Rows(turns: [])
    scheduler.take([])
    for id in Int64(1)...30_000 {
      rows.turns.append(Catalog.Turn(queued: id, asset: id))
      scheduler.add(id)
    }
    var hasComeBack = false
    let order = drain(&scheduler, &rows) { id, scheduler, rows in
      guard id == 5, !hasComeBack else { return }
      hasComeBack = true
      rows.done.remove(5)
      // While the queue is full.
      for more in Int64(30_001)...30_100 {
        rows.turns.append(Catalog.Turn(queued: more, asset: more))
        scheduler.add(more)
      }
      scheduler.add(5)
    }
    #expect(order.filter { $0 == 5 }.count == 2)
    #expect(Set(order) == Set(1...30_100) && order.count == 30_101)
  }
}
