import Catalog
import Contracts
import Control
import Glibc
import Pipeline
import Posix

/// `sharefs bookmark`: tokens that find their documents again, and accesses to nothing but them.
enum BookmarkCommand {
  /// Seconds: with all that the command does besides, the answer is there within one.
  private static let patience = 0.9
  /// Letters behind a token's dash: the end of the name of its share.
  private static let tag = 8

  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let words = arguments.operands
    let action = words[0].text ?? ""
    guard ["create", "resolve", "list", "remove", "start", "stop"].contains(action) else {
      throw .usage("\"\(words[0])\" is nothing that can be done with bookmarks.", .bookmark)
    }
    guard words.count == 2 || (action == "list" && words.count == 1) else {
      let word = action == "create" || action == "list" ? "path" : action == "stop" ? "access" : "token"
      throw .usage("`sharefs bookmark \(action)` takes one \(word).", .bookmark)
    }
    let state = arguments.value("state")
    switch action {
    case "create":
      let share = try FoundShare.around(words[1], state: state)
      let answer = try ask(share, .create(share.path, isReadOnly: arguments.has("read-only")), state)
      try tell(answer, share, arguments)
    case "list":
      let share = try FoundShare.around(words.count > 1 ? words[1] : FileName("."), state: state)
      for one in try ask(share, .list, state).bookmarks ?? [] { try tell(one, share, arguments) }
    default:
      let (share, secret) = try named(words[1], state)
      let request: BookmarkRequest =
        switch action {
        case "resolve": .resolve(secret)
        case "remove": .remove(secret)
        case "start": .start(secret, seconds: try arguments.seconds("for"))
        default: .stop(secret)
        }
      let answer = try ask(share, request, state)
      if action == "resolve" || action == "start" { try tell(answer, share, arguments) }
    }
    return .done
  }

  // MARK: Tokens

  /// The share and the secret part of a token, or of an access.
  private static func named(_ word: FileName, _ state: FileName?) throws(Failure) -> (FoundShare, String) {
    guard let parts = word.text?.split(separator: "-"), parts.count == 2, parts[0].utf8.count == 32,
      parts[1].utf8.count == tag
    else {
      throw Failure(.unknownBookmark, "\"\(word)\" is no token and no access of sharefs.")
    }
    let share = try FoundShare.ending(String(parts[1]), state: state)
    guard let share else {
      throw Failure(
        .otherShare, "This belongs to another share, which is not known here.",
        hint: "Give `--state DIR` when it is not mounted and was mounted with that.")
    }
    return (share, String(parts[0]))
  }

  private static func whole(_ secret: String, _ share: FoundShare) -> String {
    "\(secret)-\(String((share.name ?? "").suffix(tag)))"
  }

  // MARK: Asking

  private static func ask(
    _ share: FoundShare, _ request: BookmarkRequest, _ state: FileName?
  ) throws(Failure) -> BookmarkAnswer {
    guard let running = share.running else { return try askCatalog(share, request, state) }
    do throws(Client.Failure) {
      var client = try Client.connect(to: running.socket)
      return try client.ask(.bookmark(request), for: BookmarkAnswer.self, within: Self.patience)
    } catch {
      switch error {
      case .refused(let refusal): throw failure(refusal)
      case .unreachable(.access), .unreachable(.notPermitted):
        throw Failure(.permission, "The share \(share.root) is another user's.")
      case .strange: throw Failure(.usage, "The daemon of \(share.root) is of another version.")
      case .silent, .ended, .unreachable:
        throw Failure(.timedOut, "The daemon of \(share.root) does not answer.", hint: "See `sharefs status`.")
      }
    }
  }

  /// Of a share that is not mounted: its catalog, locked as by a mount.
  private static func askCatalog(
    _ share: FoundShare, _ request: BookmarkRequest, _ state: FileName?
  ) throws(Failure) -> BookmarkAnswer {
    let folder = try explain(.noSuchThing, "The folder \(share.root) cannot be opened") { () throws(Errno) in
      try Descriptor.open(share.root, O_PATH | O_DIRECTORY)
    }
    let location = try ShareLocation.claim(
      folder: folder.raw, path: share.root, folders: try StateFolders.own(),
      state: try state.map { path throws(Failure) in try Paths.absolute(path) })
    let catalog = try FoundShare.explained { () throws(CatalogError) in
      try Catalog(folder: location.data) { Output.complain("sharefs: The catalog is damaged. It is kept as \($0).\n") }
    }
    if try FoundShare.explained({ () throws(CatalogError) in try catalog.setting(Catalog.shareName) }) == nil {
      try FoundShare.explained { () throws(CatalogError) in try catalog.set(Catalog.shareName, location.name) }
    }
    let bookmarks = try explain(.noSuchThing, "The folder \(share.root) cannot be opened") { () throws(Errno) in
      try Bookmarks(source: folder.raw, catalogFolder: location.data)
    }
    let service = BookmarkService(
      bookmarks: bookmarks,
      write: { step throws(BookmarkFailure) in
        do throws(CatalogError) {
          try catalog.transaction { () throws(CatalogError) in try step(catalog) }
        } catch {
          throw .unavailable(error.what)
        }
      })
    do throws(Refusal) {
      if let answer = try service.answer(request, user: System.user) { return answer }
    } catch {
      throw failure(error)
    }
    throw Failure(.noSuchThing, "\(share.root) is not mounted: an access needs a mount.")
  }

  private static func failure(_ refusal: Refusal) -> Failure {
    let code: ExitCode =
      switch refusal.code {
      case .unknownBookmark: .unknownBookmark
      case .notYours: .otherUser
      case .deleted: .deleted
      case .replaced: .replaced
      case .unreadable: .unreadable
      case .noAccess: .noAccess
      case .noSuchDocument: .noSuchThing
      case .notAllowed: .permission
      case .busy: .timedOut
      case .badRequest, .tooLong: .usage
      }
    return Failure(code, escaped(Array(refusal.error.utf8)))
  }

  // MARK: Telling

  private static func tell(_ answer: BookmarkAnswer, _ share: FoundShare, _ arguments: Arguments) throws(Failure) {
    var answer = answer
    answer.token = answer.token.map { whole($0, share) }
    answer.access = answer.access.map { whole($0, share) }
    answer.path = answer.path.map { $0.isEmpty ? share.root : share.root.appending($0) }
    if arguments.has("json") { return try Output.json(answer) }
    var lines: [String] = []
    switch arguments.operands[0].text {
    case "create": lines.append(answer.token ?? "")
    case "start": lines += [answer.access ?? "", answer.path?.description ?? ""]
    case "list":
      lines.append(
        "\(answer.id ?? 0)  \(answer.isReadOnly == true ? "read-only" : "writable")  \(answer.path ?? FileName(""))")
    default: lines.append(answer.path?.description ?? "")
    }
    try Output.write(lines.map { $0 + "\n" }.joined())
    if answer.isStale == true, let token = answer.token, arguments.operands[0].text != "create" {
      Output.complain("sharefs: It has moved or was replaced; its token is from now on\n  \(token)\n")
    }
  }
}
