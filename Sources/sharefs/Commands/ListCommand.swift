import Catalog
import Contracts
import Control
import Posix

/// `sharefs list`: the catalogued files, filtered, sorted, page by page.
enum ListCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    var search = try search(arguments)
    let share = try FoundShare.around(arguments.operands.first ?? FileName("."), state: arguments.value("state"))
    search.folder = share.path
    guard let catalog = try share.catalog() else {
      try requireFile(share)
      return .done
    }
    let isJSON = arguments.has("json")
    var table = Table([.left, .left, .right, .right, .right, .left], shrinking: 0)
    var lines: [UInt8] = []
    var failure: Failure?
    var count = 0
    try FoundShare.explained { () throws(CatalogError) in
      try catalog.find(search) { one in
        count += 1
        if !isJSON {
          table.row(row(one))
          return true
        }
        AssetRecord(path: FileName(one.path.bytes), asset: one.asset).object().append(to: &lines)
        if lines.count < 1 << 16 { return true }
        do throws(Failure) {
          try Output.write(lines)
          lines.removeAll(keepingCapacity: true)
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw failure }
    try Output.write(isJSON ? lines : Array(table.text(columns: System.columns(1)).utf8))
    if count == 0 { try requireFile(share) }
    return .done
  }

  private static func search(_ arguments: Arguments) throws(Failure) -> Search {
    var search = Search()
    search.types = try TypeSelector(arguments)
    for word in arguments.words(of: "verdict") {
      if word == "pending" {
        search.verdicts.insert(nil)
      } else if let verdict = Verdict.allCases.first(where: { $0.word == word }) {
        search.verdicts.insert(verdict)
      } else {
        throw .usage(
          "There is no verdict \"\(escaped(Array(word.utf8)))\"; they are pending, \(Verdict.allCases.map(\.word).joined(separator: ", ")).",
          .list)
      }
    }
    search.since = try arguments.time("since")
    search.before = try arguments.time("before")
    search.substring = arguments.value("name").map { $0.text ?? $0.description }
    search.prefix = arguments.value("prefix").map { $0.text ?? $0.description }
    if let word = arguments.value("sort") {
      guard let order = word.text.flatMap({ Search.Order(rawValue: $0) }) else {
        throw .usage(
          "\"--sort\" is one of \(Search.Order.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(word)\".",
          .list)
      }
      search.order = order
    }
    search.isReversed = arguments.has("reverse")
    search.limit = try arguments.number("limit", in: 0...Int64.max).map { Int($0) } ?? .max
    search.offset = try arguments.number("offset", in: 0...Int64.max).map { Int($0) } ?? 0
    return search
  }

  private static func row(_ one: Listing) -> [String] {
    let facts = one.asset.facts
    return [
      one.path.description, facts.type?.identifier ?? "", Words.size(one.asset.stamp.size),
      Words.duration(facts.duration),
      Words.dimensions(facts), AssetRecord.verdict(of: one.asset),
    ]
  }

  /// Nothing catalogued in a folder is no error; a path that leads nowhere is one.
  private static func requireFile(_ share: FoundShare) throws(Failure) {
    if share.path.isRoot { return }
    let whole = share.root.appending(FileName(share.path.bytes))
    _ = try explain(.noSuchThing, "\(whole)") { () throws(Errno) in try Files.status(whole) }
  }
}
