import Catalog
import Contracts
import Control
import Pipeline
import Posix
import Tree

/// Answers what is asked about bookmarks: for a daemon, whose pipeline writes the catalog, and for the command line where the share is not mounted.
struct BookmarkService {
  let bookmarks: Bookmarks
  /// Runs a step in a transaction of the catalog.
  let write: (@escaping @Sendable (Catalog) throws(CatalogError) -> Void) throws(BookmarkFailure) -> Void

  /// - Returns: nil for what needs a mount.
  func answer(_ request: BookmarkRequest, user: UInt32) throws(Refusal) -> BookmarkAnswer? {
    do throws(BookmarkFailure) {
      switch request {
      case .create(let path, let isReadOnly):
        let bookmark = try bookmarks.make(path, user: user, isReadOnly: isReadOnly)
        let (token, hash) = Bookmarks.token()
        try write { catalog throws(CatalogError) in try catalog.add(bookmark, token: hash) }
        var answer = BookmarkAnswer(bookmark)
        answer.token = token
        return answer
      case .resolve(let token):
        return try resolve(token, user).answer
      case .list:
        let all = Box<[Bookmark]>([])
        try write { catalog throws(CatalogError) in all.set(try catalog.bookmarks(of: user)) }
        var answer = BookmarkAnswer()
        answer.bookmarks = all.value.map { BookmarkAnswer($0) }
        return answer
      case .remove(let token):
        let (bookmark, _) = try owned(token, user)
        try write { catalog throws(CatalogError) in try catalog.remove(bookmark) }
        return BookmarkAnswer()
      case .start, .stop: return nil
      }
    } catch {
      throw Refusal(error)
    }
  }

  /// Where a token leads now; of a stale one with a fresh token.
  func resolve(_ token: String, _ user: UInt32) throws(BookmarkFailure) -> (bookmark: Bookmark, answer: BookmarkAnswer)
  {
    let (bookmark, hash) = try owned(token, user)
    let found = try bookmarks.find(bookmark)
    var answer = BookmarkAnswer(found.bookmark)
    answer.isStale = found.isStale
    if found.isStale {
      let fresh = Bookmarks.token()
      let renewed = found.bookmark
      try write { catalog throws(CatalogError) in try catalog.renew(renewed, old: hash, fresh: fresh.hash) }
      answer.token = fresh.text
    }
    return (found.bookmark, answer)
  }

  private func owned(_ token: String, _ user: UInt32) throws(BookmarkFailure) -> (Bookmark, [UInt8]) {
    guard let hash = Bookmarks.hash(token) else { throw .unknown }
    let found = Box<Bookmark?>(nil)
    try write { catalog throws(CatalogError) in found.set(try catalog.bookmark(of: hash)) }
    guard let bookmark = found.value else { throw .unknown }
    guard bookmark.user == user else { throw .notYours }
    return (bookmark, hash)
  }

  /// What a step of the catalog's thread hands over.
  private final class Box<Value: Sendable>: Sendable {
    private let state: Guarded<Value>
    init(_ value: Value) { state = Guarded(value) }
    func set(_ value: Value) { state.withLock { $0 = value } }
    var value: Value { state.withLock { $0 } }
  }
}

extension BookmarkAnswer {
  init(_ bookmark: Bookmark) {
    self.init()
    path = FileName(bookmark.path.bytes)
    isReadOnly = bookmark.isReadOnly
    isFolder = bookmark.isFolder
    asset = bookmark.asset == 0 ? nil : bookmark.asset
    created = Double(bookmark.created.nanoseconds / 1_000_000) / 1000
    if bookmark.id != 0 { id = bookmark.id }
  }
}

extension Refusal {
  init(_ failure: BookmarkFailure) {
    switch failure {
    case .unknown: self.init(.unknownBookmark, "There is no such bookmark in this share.")
    case .notYours: self.init(.notYours, "The bookmark is another user's.")
    case .deleted: self.init(.deleted, "The document was deleted.")
    case .replaced: self.init(.replaced, "The document is gone, and another one stands in its place.")
    case .unreadable(let error): self.init(.unreadable, "The document cannot be read: \(error).")
    case .notFoundInTime:
      self.init(.busy, "The document is not where it was, and the share is too large to be searched at once.")
    case .nothingThere(.invalid): self.init(.noSuchDocument, "Only documents and folders can be bookmarked.")
    case .nothingThere(let error): self.init(.noSuchDocument, "Nothing can be bookmarked there: \(error).")
    case .unavailable(let why): self.init(.busy, why)
    }
  }
}

extension DaemonHandler {
  func bookmark(_ request: BookmarkRequest, user: UInt32) throws(Refusal) -> BookmarkAnswer {
    let service: BookmarkService
    do throws(Errno) {
      let pipeline = pipeline
      service = BookmarkService(
        bookmarks: try Bookmarks(
          source: daemon.plan.sourceFolder.raw, catalogFolder: daemon.plan.location.data),
        write: { step throws(BookmarkFailure) in try pipeline.write(step) })
    } catch {
      throw Refusal(.busy, "The folder cannot be opened: \(error).")
    }
    switch request {
    case .start(let token, let seconds): return try start(token, seconds, service, user)
    case .stop(let access):
      guard access.utf8.count == 32, daemon.tree.stopAccess(FileName(access)) else {
        throw Refusal(.noAccess, "There is no such access, or it is over.")
      }
      return BookmarkAnswer()
    default:
      guard let answer = try service.answer(request, user: user) else {
        throw Refusal(.badRequest, "That cannot be asked of a share.")
      }
      return answer
    }
  }

  private func start(
    _ token: String, _ seconds: Double?, _ service: BookmarkService, _ user: UInt32
  ) throws(Refusal) -> BookmarkAnswer {
    var found: (bookmark: Bookmark, answer: BookmarkAnswer)
    do throws(BookmarkFailure) { found = try service.resolve(token, user) } catch { throw Refusal(error) }
    let access = Bookmarks.token().text
    do throws(Errno) {
      let path = try daemon.tree.startAccess(
        FileName(access), at: found.bookmark.path, found.bookmark.file, isReadOnly: found.bookmark.isReadOnly,
        until: seconds.map { Clock.now() + Clock.seconds($0) })
      found.answer.path = FileName(path.bytes)
      found.answer.access = access
      return found.answer
    } catch {
      throw Refusal(error == .noEntry ? .deleted : .unreadable, "The document cannot be reached: \(error).")
    }
  }
}
