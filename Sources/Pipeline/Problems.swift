public import Contracts
public import Posix

/// An error in the background, as `status` shows it.
public struct Problem: Hashable, Sendable {
  public let time: FileTime
  public let severity: Severity
  public let text: String
}

/// Passes background errors on to the reporter and remembers the last ones. What goes on and on is told once, and once more when it has ended.
final class Problems: Sendable {
  private struct State {
    var last: [Problem] = []
    var standing: Set<Standing> = []
  }

  /// Troubles that last until something changes.
  enum Standing: Hashable {
    case catalog, log, cache, worker, placeholders, source, emptySource, watches, desktop, names
  }

  private static let most = 20
  private let reporter: any Reporter
  private let state = Monitor(State())

  init(_ reporter: any Reporter) { self.reporter = reporter }

  func report(_ severity: Severity, _ text: String) {
    let problem = Problem(time: Clock.wall(), severity: severity, text: text)
    if severity <= .warning {
      state.withLock { state in
        if state.last.count == Problems.most { state.last.removeFirst() }
        state.last.append(problem)
      }
    }
    reporter.report(severity, text)
  }

  /// Tells of a trouble that may last; nothing while it stands already.
  func begin(_ trouble: Standing, _ severity: Severity, _ text: @autoclosure () -> String) {
    if state.withLock({ $0.standing.insert(trouble).inserted }) { report(severity, text()) }
  }

  func end(_ trouble: Standing, _ text: @autoclosure () -> String) {
    if state.withLock({ $0.standing.remove(trouble) != nil }) { report(.notice, text()) }
  }

  var last: [Problem] { state.withLock { $0.last } }
}
