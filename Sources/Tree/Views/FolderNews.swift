import Contracts
import Fuse
import Posix

/// Which folders of the view watchers know, so that a folder that gets its first picture, loses its last one, or is moved is made known to them
/// once. Everything here is done by the announcing thread.
final class FolderNews: Sendable {
  /// By path, whether it was last said to be there; nil is not known, and said again.
  private let said = Guarded<[SharePath: Bool]>([:])
  /// Beyond this, all is said anew: it costs watchers a second look.
  private static let most = 65536

  /// Makes a folder and those above it known, from the top.
  func reveal(_ path: SharePath, _ view: Thumbs) {
    guard let parent = path.parent, let name = path.name, said.withLock({ $0[path] }) != true else { return }
    reveal(parent, view)
    say(view.announce(.appears, name, in: parent) ? true : nil, path)
  }

  /// Makes known that a folder has nothing left to show, and then those above it.
  func check(_ path: SharePath, _ view: Thumbs) {
    guard let parent = path.parent, let name = path.name, said.withLock({ $0[path] }) != false,
      !view.showsMedia(path)
    else { return }
    say(view.announce(.vanishes, name, in: parent) ? false : nil, path)
    check(parent, view)
  }

  func moved(from: SharePath, to: SharePath, _ view: Thumbs) {
    forget(within: from)
    forget(within: to)
    guard view.showsMedia(to) else { return }
    if let parent = from.parent, let name = from.name, !TemporaryNames.contains(from) {
      say(view.announce(.vanishes, name, in: parent) ? false : nil, from)
      check(parent, view)
    }
    if !TemporaryNames.contains(to) { reveal(to, view) }
  }

  /// Nobody watches: whoever comes looks for himself.
  func forgetAll() { said.withLock { if !$0.isEmpty { $0 = [:] } } }

  private func say(_ isThere: Bool?, _ path: SharePath) {
    said.withLock { said in
      if said.count >= FolderNews.most { said = [:] }
      said[path] = isThere
    }
  }

  private func forget(within folder: SharePath) {
    said.withLock { said in said = said.filter { !$0.key.isWithin(folder) } }
  }
}

extension Thumbs {
  /// - Returns: whether it was made known.
  func announce(_ kind: Announcer.Kind, _ name: FileName, in parent: SharePath) -> Bool {
    guard let folder = holdReal(parent) else { return false }
    let key = folder.key
    releaseReal(folder)
    return announcer.act(Announcer.Action(kind: kind, folder: parent, name: name, isFolder: true, key: key))
  }

  /// Whether a folder is listed in the view: it is there and holds a document with a picture.
  func showsMedia(_ path: SharePath) -> Bool {
    guard let parent = path.parent, let name = path.name, let folder = holdReal(parent) else { return false }
    defer { releaseReal(folder) }
    guard let held = try? folder.open() else { return false }
    return holdsMedia(name, in: held.raw)
  }

  func folderMoved(from: SharePath, to: SharePath) {
    shelf?.noteChange()
    guard announcer.isWanted else { return news.forgetAll() }
    announcer.look { [self] in news.moved(from: from, to: to, self) }
  }

  func folderRemoved(_ path: SharePath) {
    shelf?.noteChange()
    guard announcer.isWanted else { return news.forgetAll() }
    announcer.look { [self] in news.check(path, self) }
  }
}

/// Passes on what happens to files, and tells the view what happens to folders.
final class FolderListener: Settled {
  let thumbs = Guarded<Thumbs?>(nil)
  private let next: any Settled

  init(_ next: any Settled) { self.next = next }

  func take(_ change: Change) {
    next.take(change)
    guard let thumbs = thumbs.withLock({ $0 }) else { return }
    thumbs.listed.noteChange()
    switch change {
    case .renamed(_, .folder, let from, let to, _): thumbs.folderMoved(from: from, to: to)
    case .exchanged(let first, let firstKind, let second, let secondKind):
      if firstKind == .folder { thumbs.folderMoved(from: second.path, to: first.path) }
      if secondKind == .folder { thumbs.folderMoved(from: first.path, to: second.path) }
    case .removed(let document, .folder, _): thumbs.folderRemoved(document.path)
    default: return
    }
  }
}
