/// What the command says to the shell that called it. A promise: added to, never changed.
enum ExitCode: Int32, CaseIterable {
  case done = 0
  case usage = 1
  case noSuchThing = 2
  case notWhole = 3
  case timedOut = 4
  case permission = 5
  case changed = 6
  case disagreement = 7
  case mountFailed = 32

  /// As each help says it.
  var meaning: String {
    switch self {
    case .done: "done"
    case .usage: "wrong usage, or an error that has no code of its own"
    case .noSuchThing: "no such file, asset or mount"
    case .notWhole: "the medium is incomplete or invalid"
    case .timedOut: "not done in time, or the daemon does not answer"
    case .permission: "no permission"
    case .changed: "the document was changed while it was read"
    case .disagreement: "folder, catalog and thumbnails do not agree"
    case .mountFailed: "not mounted, or not unmounted"
    }
  }
}

let version = "0.1.0"
