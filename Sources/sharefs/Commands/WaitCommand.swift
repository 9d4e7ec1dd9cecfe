import Catalog
import Contracts
import Control
import Posix

/// `sharefs wait`: returns when each document is whole, or turned out not to be.
enum WaitCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let seconds = try arguments.seconds("timeout")
    let deadline = seconds.map { Clock.now() + Clock.seconds($0) }
    let state = arguments.value("state")
    var watches: [DocumentWatch] = []
    var items: [(watch: DocumentWatch, item: DocumentWatch.Item)] = []
    for operand in arguments.operands {
      let share = try FoundShare.around(operand, state: state)
      let known = watches.first { $0.share.root == share.root && $0.share.data == share.data }
      let watch = known ?? DocumentWatch(share)
      if known == nil {
        // Before anything is asked, so that nothing that happens afterwards is missed.
        try watch.begin(until: deadline)
        watches.append(watch)
      }
      items.append((watch, try watch.add(share.path, typed: operand)))
    }
    for watch in watches { try watch.wait(until: deadline) }
    var code = ExitCode.done
    for (_, item) in items {
      let outcome = item.outcome ?? .timedOut
      if arguments.has("json") { try Output.write(outcome.line(item)) }
      guard outcome.code != .done else { continue }
      if code == .done { code = outcome.code }
      if !arguments.has("json") { Output.complain("sharefs: \(item.typed) \(outcome.sentence)\n") }
    }
    return code
  }
}

/// What became of a document that was waited for.
enum DocumentOutcome: Hashable {
  case whole(asset: Int64, verdict: String, version: Int64)
  case broken(asset: Int64, verdict: String, version: Int64, reason: String)
  case removed
  case timedOut
  /// Nothing that could become whole, and why.
  case noDocument(String)
  /// Nobody will tell: the share is not mounted.
  case unmounted(String)

  var code: ExitCode {
    switch self {
    case .whole: .done
    case .broken: .notWhole
    case .removed: .noSuchThing
    case .timedOut, .unmounted: .timedOut
    case .noDocument: .usage
    }
  }

  /// What stands behind the path.
  var sentence: String {
    switch self {
    case .whole: "is whole."
    case .broken(_, let verdict, _, let reason): "is \(verdict): \(escaped(Array(reason.utf8)))"
    case .removed: "was removed."
    case .timedOut: "was not whole in time."
    case .noDocument(let why), .unmounted(let why): why
    }
  }

  func line(_ item: DocumentWatch.Item) -> [UInt8] {
    var object = JSONObject()
    object.add("path", bytes: "path_bytes", path: FileName(item.path.bytes))
    switch self {
    case .whole(let asset, let verdict, let version), .broken(let asset, let verdict, let version, _):
      object.add("asset", asset)
      object.add("verdict", verdict)
      object.add("version", version)
    case .removed: object.add("verdict", "removed")
    case .timedOut, .noDocument, .unmounted: break
    }
    if code != .done { object.add("error", sentence) }
    object.add("code", code.rawValue)
    return object.line
  }
}
