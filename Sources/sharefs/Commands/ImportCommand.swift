import Catalog
import Contracts
import Control
import Glibc
import Pipeline
import Posix

/// `sharefs import`: files into a share, and out of it the URLs by which they are known from then on.
enum ImportCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let types = try TypeSelector(arguments)
    let typed = arguments.value("to") ?? FileName(".")
    let share = try FoundShare.around(typed, state: arguments.value("state"))
    try Health.mustNotBeSilent(share.root)
    let folder = share.path.isRoot ? share.root : share.root.appending(FileName(share.path.bytes))
    let status = try explain(.noSuchThing, "The folder \(folder) cannot be reached") { () throws(Errno) in
      try Files.status(folder)
    }
    guard status.kind == .folder else { throw Failure(.noSuchThing, "\(folder) is not a folder.") }
    let signals = try explain(.usage, "Signals cannot be received") { () throws(Errno) in try Interruption() }
    let importer = Importer(share: share, folder: folder, types: types, worker: try Daemonize.worker())
    signals.onSignal { importer.abandon() }
    let bar = ProgressBar(isShown: arguments.has("progress") || System.columns(2) != nil)

    var code = ExitCode.done
    var copied: [Importer.Copied] = []
    func refuse(_ file: FileName, _ error: ImportError) throws(Failure) {
      if code == .done { code = error.code.exitCode }
      try tell(file, error, isJSON: arguments.has("json"))
    }
    for operand in arguments.operands {
      do throws(ImportError) {
        let one = try importer.take(operand) { done, size in bar.show(operand, done, size) }
        bar.clear()
        copied.append(one)
      } catch {
        bar.clear()
        try refuse(operand, error)
      }
    }
    if copied.isEmpty { return code }
    for (one, outcome) in try verdicts(copied, share, arguments.value("state")) {
      do throws(ImportError) {
        try finish(one, outcome, share, arguments)
      } catch {
        try refuse(one.source, error)
      }
    }
    return code
  }

  /// What the share says of what was copied into it.
  private static func verdicts(
    _ copied: [Importer.Copied], _ share: FoundShare, _ state: FileName?
  ) throws(Failure) -> [(Importer.Copied, DocumentWatch.Item)] {
    if share.running == nil { try OfflineShare.catalog(share.root, state: state) }
    let watch = DocumentWatch(share)
    try watch.begin()
    var items: [(Importer.Copied, DocumentWatch.Item)] = []
    for one in copied {
      let prefix = share.root.bytes.last == UInt8(ascii: "/") ? share.root.count : share.root.count + 1
      guard let path = SharePath(Array(one.path.bytes.dropFirst(prefix))) else { continue }
      items.append((one, try watch.add(path, typed: one.path)))
    }
    try watch.wait(until: nil)
    return items
  }

  private static func finish(
    _ one: Importer.Copied, _ item: DocumentWatch.Item, _ share: FoundShare, _ arguments: Arguments
  ) throws(ImportError) {
    switch item.outcome {
    case .whole(let asset, let verdict, _)?:
      let path = share.root.appending(FileName(item.path.bytes))
      let url = AssetURL(share: share.name ?? "", asset: asset, path: item.path).text
      do throws(Failure) {
        if arguments.has("json") {
          var object = JSONObject()
          object.add("file", bytes: "file_bytes", path: one.source)
          object.add("url", url)
          object.add("path", bytes: "path_bytes", path: path)
          object.add("asset", asset)
          object.add("verdict", verdict)
          try Output.write(object.line)
        } else {
          try Output.write("\(url)\t\(path)\n")
        }
      } catch {
        throw ImportError(.unknown, error.sentence)
      }
      if arguments.has("move") {
        do throws(Errno) { try Files.remove(one.source) } catch {
          throw ImportError(error, "\(one.source) is imported, but cannot be removed")
        }
      }
    case .broken(_, let verdict, _, let reason)?:
      // It was whole when it was looked at: nothing of it stays all the same.
      try? Files.remove(one.path)
      throw ImportError(
        verdict == "incomplete" ? .incomplete : .invalidData,
        "\(one.source) is \(verdict): \(escaped(Array(reason.utf8)))")
    case .removed?: throw ImportError(.changed, "\(one.path) was removed before the share had looked at it.")
    case .timedOut?, .noDocument?, .unmounted?, nil:
      throw ImportError(.unavailable, "\(one.path) is copied, but the share does not say what it is.")
    }
  }

  private static func tell(_ file: FileName, _ error: ImportError, isJSON: Bool) throws(Failure) {
    if isJSON {
      var object = JSONObject()
      object.add("file", bytes: "file_bytes", path: file)
      object.add("error", error.object)
      try Output.write(object.line)
    } else {
      Output.complain("sharefs: \(error.reason)\n  \(error.code.suggestion)\n")
    }
  }
}

/// Lets a command that is ended tidy up first. Made before any thread is there that a signal could hit.
final class Interruption: Sendable {
  private let signals: Signals
  init() throws(Errno) { signals = try Signals([SIGINT, SIGTERM, SIGHUP]) }

  func onSignal(_ body: @escaping @Sendable () -> Void) {
    _ = Posix.Thread("sharefs-signals") { [self] in
      guard let signal = try? signals.next() else { return }
      body()
      System.exit(128 + signal)
    }
  }
}

/// How far a copy is, on a line of its own of the terminal.
final class ProgressBar {
  private let isShown: Bool
  private var last = -1

  init(isShown: Bool) { self.isShown = isShown }

  func show(_ name: FileName, _ done: Int64, _ size: Int64) {
    guard isShown else { return }
    let percent = size > 0 ? Int(Double(done) / Double(size) * 100) : 100
    if percent == last { return }
    last = percent
    let bars = String(repeating: "#", count: percent / 5) + String(repeating: " ", count: 20 - percent / 5)
    Output.complain("\r[\(bars)] \(percent) %  \(name.lastComponent)")
  }

  func clear() {
    if isShown && last >= 0 { Output.complain("\r\u{1b}[K") }
    last = -1
  }
}
