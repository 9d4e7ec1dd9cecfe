import Catalog
import Contracts
import Posix

/// Moves what is committed from the catalog's log into the database, on a thread of its own: that ends in waiting for the disk, and no event
/// shall wait with it.
final class Checkpointer: Sendable {
  private struct State {
    var isDue = false
    var isRunning = false
    /// Somebody replaces the database.
    var isHeld = false
    var isStopping = false
  }

  /// Pages of 4 KiB in the log, from which on it is worth the while.
  private static let due = 1000
  /// The log begins anew only where all of it is moved while nobody writes: from here on the writer waits for that after all.
  private static let most = 16_000

  private let folder: FileName
  private let problems: Problems
  private let state = Monitor(State())

  init(folder: FileName, problems: Problems) {
    self.folder = folder
    self.problems = problems
  }

  /// Something was written.
  /// - Parameter pages: in the log by now.
  func committed(_ pages: Int) {
    if pages < Self.due { return }
    state.change { $0.isDue = true }
    if pages >= Self.most { state.wait { $0.isStopping || !($0.isDue || $0.isRunning) ? true : nil } }
  }

  func stop() { state.change { $0.isStopping = true } }

  /// Nothing of ours has the database open until `go`.
  func hold() {
    state.change { $0.isHeld = true }
    state.wait { $0.isRunning ? nil : true }
  }

  func go() { state.change { $0.isHeld = false } }

  func run() {
    while true {
      let goesOn = state.wait { state -> Bool? in
        if state.isStopping { return false }
        guard state.isDue && !state.isHeld else { return nil }
        state.isDue = false
        state.isRunning = true
        return true
      }
      if !goesOn { return }
      do throws(CatalogError) {
        try Catalog.checkpoint(folder: folder)
        problems.end(.log, "The catalog's log can be moved into the database again.")
      } catch {
        // Nothing is lost: the log is a part of the catalog. A full disk or damage is met, and told, by the writer too.
        problems.begin(.log, .warning, "The catalog's log cannot be moved into the database; it grows. \(error)")
      }
      state.change { $0.isRunning = false }
    }
  }
}
