import Catalog
import Contracts
import Posix

/// `sharefs list`: the catalogued files.
enum ListCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let types = try TypeFilter(arguments.values("type"))
    let share = try FoundShare.around(arguments.operands.first ?? FileName("."), state: arguments.value("state"))
    guard let catalog = try share.catalog() else { return .done }
    let isJSON = arguments.has("json")
    var table = Table([.left, .left, .right, .right, .right, .left], shrinking: 0)
    var lines: [UInt8] = []
    var failure: Failure?
    var count = 0
    try FoundShare.explained { () throws(CatalogError) in
      try catalog.list(within: share.path) { one in
        guard types.matches(one.asset.facts.type) else { return true }
        count += 1
        if !isJSON {
          table.row(row(one))
          return true
        }
        do throws(Failure) {
          lines += try Output.line(of: AssetRecord(path: FileName(one.path.bytes), asset: one.asset))
          if lines.count > 1 << 16 {
            try Output.write(lines)
            lines.removeAll(keepingCapacity: true)
          }
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw failure }
    try Output.write(isJSON ? lines : Array(table.text(columns: System.columns(1)).utf8))
    if count == 0 && !share.path.isRoot { try requireFile(share) }
    return .done
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
    let whole = share.root.appending(FileName(share.path.bytes))
    _ = try explain(.noSuchThing, "\(whole)") { () throws(Errno) in try Files.status(whole) }
  }
}

/// What `--type` lets through.
struct TypeFilter {
  /// Empty lets all through.
  private var names: Set<String> = []

  private static let kinds = ["video", "image", "audio", "document"]

  init(_ lists: [FileName]) throws(Failure) {
    for list in lists {
      for part in list.bytes.split(separator: UInt8(ascii: ",")) {
        let name = String(decoding: part, as: UTF8.self).lowercased()
        // With a dot a uniform type identifier, with a slash a MIME type: of these there are more than we know.
        guard Self.kinds.contains(name) || name.contains(".") || name.contains("/") else {
          throw .usage(
            "There is no type \"\(escaped(part))\"; the kinds are \(Self.kinds.joined(separator: ", ")).", .list)
        }
        names.insert(name)
      }
    }
  }

  func matches(_ type: MediaType?) -> Bool {
    if names.isEmpty { return true }
    guard let type else { return false }
    let kind =
      switch type.kind {
      case .video: "video"
      case .image: "image"
      case .audio: "audio"
      case .document: "document"
      }
    return names.contains(kind) || names.contains(type.identifier.lowercased())
      || names.contains(type.mime.lowercased())
  }
}
