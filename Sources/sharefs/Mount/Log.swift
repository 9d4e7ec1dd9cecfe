import Contracts
import Control
import Glibc
import Posix

/// The daemon's log: the terminal or journal when it runs in the foreground, else a file that is kept below a megabyte. The newest errors
/// stay in memory for `status`. A message that repeats is written once, then counted.
final class Log: Reporter {
  enum Goal {
    case standardError
    /// As `standardError`, with `<6>` before each line for the journal.
    case journal
    case file(FileName)
  }

  /// Bytes; then the file becomes `NAME.1` and a new one is begun.
  private static let longest = 1 << 20
  private static let mostComplaints = 20
  /// A message that goes on repeating is told again after this time.
  private static let foldedFor = Clock.seconds(60)

  private struct State {
    var size = 0
    var last = ""
    var lastSeverity = Severity.info
    var lastWritten: Clock.Instant = 0
    var repeats = 0
    var complaints: [ShareStatus.Complaint] = []
  }

  private let goal: Goal
  private let least: Severity
  private let state = Guarded(State())

  /// - Parameter verbose: whether every event is told.
  init(_ goal: Goal, verbose: Bool) throws(Errno) {
    self.goal = goal
    least = verbose ? .debug : .info
    if case .file(let path) = goal {
      let size = try Self.begin(path)
      state.withLock { $0.size = size }
    }
  }

  /// For the foreground: the journal's form when that listens.
  static func foreground(verbose: Bool) throws(Errno) -> Log {
    try Log(Systemd.readsStandardError ? .journal : .standardError, verbose: verbose)
  }

  /// The newest last.
  var complaints: [ShareStatus.Complaint] { state.withLock { $0.complaints } }

  func report(_ severity: Severity, _ text: String) {
    if severity > least { return }
    let (day, clock) = System.localTime(Clock.wall())
    let now = Clock.now()
    // Lines are written under the lock: their order is part of what they tell, and both goals take them at once.
    state.withLock { state in
      if text == state.last && severity == state.lastSeverity {
        state.repeats += 1
        if now - state.lastWritten < Self.foldedFor { return }
      }
      if state.repeats > 0 {
        write(&state, state.lastSeverity, "\(day) \(clock)", "(the same again, \(state.repeats) times)")
        state.repeats = 0
      }
      if severity <= .warning {
        state.complaints.append(.init(time: "\(day) \(clock)", text: text))
        if state.complaints.count > Self.mostComplaints { state.complaints.removeFirst() }
      }
      if text != state.last || severity != state.lastSeverity { write(&state, severity, "\(day) \(clock)", text) }
      state.last = text
      state.lastSeverity = severity
      state.lastWritten = now
    }
  }

  private func write(_ state: inout State, _ severity: Severity, _ time: String, _ text: String) {
    let line =
      switch goal {
      case .journal: "<\(severity.rawValue)>\(text)\n"
      case .standardError: "sharefs: \(severity.word)\(text)\n"
      case .file: "\(time) \(severity.word)\(text)\n"
      }
    // A full disk or a closed terminal must not end the daemon, and there is nowhere to tell it.
    try? System.write(2, Array(line.utf8))
    state.size += line.utf8.count
    if case .file(let path) = goal, state.size > Self.longest {
      try? Files.rename(path, to: FileName(Array(path.bytes) + Array(".1".utf8)))
      state.size = (try? Self.begin(path)) ?? 0
    }
  }

  /// Opens the file as the standard error output, so that what the Swift runtime says before it traps stands there too.
  /// - Returns: its size in bytes.
  private static func begin(_ path: FileName) throws(Errno) -> Int {
    let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o600)
    let size = try file.status().size
    try System.redirect(2, to: file.raw)
    return Int(size)
  }
}

extension Severity {
  fileprivate var word: String {
    switch self {
    case .error: "error: "
    case .warning: "warning: "
    default: ""
    }
  }
}
