/// How much a message matters, as syslog counts.
public enum Severity: Int, Sendable, Comparable {
  case error = 3
  case warning = 4
  case notice = 5
  case info = 6
  case debug = 7

  public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
}

/// Where an error in the background goes, so that the log and `status` know it. Never blocks for long.
public protocol Reporter: Sendable {
  /// - Parameter text: one sentence: what, why, what to do.
  func report(_ severity: Severity, _ text: String)
}
