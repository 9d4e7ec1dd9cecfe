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
  case unknownBookmark = 10
  case deleted = 11
  case unreadable = 12
  case replaced = 13
  case otherShare = 14
  case otherUser = 15
  case noAccess = 16
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
    case .unknownBookmark: "no such bookmark"
    case .deleted: "the bookmark's document was deleted"
    case .unreadable: "the bookmark's document cannot be read"
    case .replaced: "another document stands in the place of the bookmark's"
    case .otherShare: "the bookmark is of another share"
    case .otherUser: "the bookmark is another user's"
    case .noAccess: "no such access, or it is over"
    case .mountFailed: "not mounted, or not unmounted"
    }
  }
}

let version = "0.1.0"
