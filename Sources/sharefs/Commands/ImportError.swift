import Control
import Posix

/// Why a file was not imported. Domain, codes and names are a promise (docs/cli.md).
struct ImportError: Error, Hashable {
  enum Code: Int, CaseIterable {
    case noSuchFile = 1
    case notAFile = 2
    case insideShare = 3
    case otherShare = 4
    case noPermission = 5
    case noSpace = 6
    case wrongType = 7
    case incomplete = 8
    case invalidData = 9
    case changed = 10
    case unavailable = 11
    case unknown = 99

    var name: String {
      switch self {
      case .noSuchFile: "no_such_file"
      case .notAFile: "not_a_file"
      case .insideShare: "source_inside_share"
      case .otherShare: "url_of_another_share"
      case .noPermission: "no_permission"
      case .noSpace: "no_space"
      case .wrongType: "wrong_type"
      case .incomplete: "incomplete"
      case .invalidData: "invalid_data"
      case .changed: "changed_meanwhile"
      case .unavailable: "share_unavailable"
      case .unknown: "unknown"
      }
    }

    var exitCode: ExitCode {
      switch self {
      case .noSuchFile, .notAFile: .noSuchThing
      case .insideShare, .otherShare, .noSpace, .unknown: .usage
      case .noPermission: .permission
      case .wrongType, .incomplete, .invalidData: .notWhole
      case .changed: .changed
      case .unavailable: .timedOut
      }
    }

    /// What can be done about it.
    var suggestion: String {
      switch self {
      case .noSuchFile: "Look for a mistake in the path."
      case .notAFile: "Give the files in it one by one."
      case .insideShare: "It is in the share already: use cp or mv."
      case .otherShare: "Give the file itself, by its path."
      case .noPermission: "Change its permissions, or ask as its owner."
      case .noSpace: "Make room on the share's disk, and import it again."
      case .wrongType: "Give another --type, or none."
      case .incomplete: "Copy it again from where it came."
      case .invalidData: "Open it with the program that made it, and save it again."
      case .changed: "Import it again when nobody writes it any more."
      case .unavailable: "See `sharefs status`."
      case .unknown: "Try again; the reason may say more."
      }
    }
  }

  static let domain = "sharefs.import"

  let code: Code
  /// One sentence.
  let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// From an error of the system.
  init(_ errno: Errno, _ what: String) {
    let code: Code =
      switch errno {
      case .noEntry, .notFolder, .loop: .noSuchFile
      case .access, .notPermitted, .readOnly: .noPermission
      case .noSpace, Errno.quotaExceeded, Errno.fileTooLarge: .noSpace
      case .notConnected: .unavailable
      default: .unknown
      }
    self.init(code, "\(what): \(errno).")
  }

  var object: JSONObject {
    var object = JSONObject()
    object.add("domain", Self.domain)
    object.add("code", code.rawValue)
    object.add("name", code.name)
    object.add("failure_reason", reason)
    object.add("recovery_suggestion", code.suggestion)
    return object
  }
}
