import Glibc
import Posix

/// Where the state of one share is kept.
struct ShareLocation: Sendable {
  /// Folder name and 8 hex digits, such as `share-1c0ffee2`.
  let name: String
  /// Catalog, log, identity and lock.
  let data: FileName
  /// Thumbnails.
  let cache: FileName
  /// The control socket.
  let socket: FileName
  /// The card by which `status` and `umount` find the daemon; nil where the runtime folder cannot be used.
  let card: FileName?
  /// Held until the process ends: one daemon a share.
  private let lock: ShareLock

  var log: FileName { data.appending("sharefs.log") }

  /// Finds the state of a folder, or makes it, and locks it.
  ///
  /// It is the folder's when file system, inode and birth time agree, wherever the folder stands and whatever it is called now. A folder that is
  /// another one at the same path (a restored backup) takes the old state over, unless the old folder can still be seen.
  /// - Parameters:
  ///   - folder: an O_PATH descriptor of the share's folder itself, not of what covers it.
  ///   - state: given with `--state`: everything in this one folder.
  static func claim(
    folder: CInt, path: FileName, folders: StateFolders, state: FileName?
  ) throws(Failure) -> ShareLocation {
    let identity = try explain(.mountFailed, "\(path) cannot be looked at") { () throws(Errno) in
      try ShareIdentity.of(folder, path: path)
    }
    if let state { return try claim(identity, state: state, folders) }
    let (name, lock) = try claimName(identity, folders)
    let data = folders.data.appending(name)
    try identity.write(in: data)
    let cache = folders.cache.appending(name)
    try StateFolders.prepare(cache)
    try StateFolders.prepare(folders.runtime)
    return ShareLocation(
      name: name, data: data, cache: cache, socket: folders.runtime.appending(name + ".sock"),
      card: folders.runtime.appending(name + ".json"), lock: lock)
  }

  private static func claimName(_ identity: ShareIdentity, _ folders: StateFolders) throws(Failure) -> (
    String, ShareLock
  ) {
    let known = find(in: folders.data)
    if let same = known.first(where: { $0.identity.isSameFolder(as: identity) }) {
      return (same.name, try take(folders.data.appending(same.name), identity))
    }
    // Somebody else's by now when its folder was only moved aside, or is being served.
    if let former = known.first(where: { $0.identity.path == identity.path }), !former.identity.standsBeside,
      let lock = try tryLock(folders.data.appending(former.name))
    {
      return (former.name, lock)
    }
    let name = identity.shareName
    let data = folders.data.appending(name)
    try StateFolders.prepare(data)
    return (name, try take(data, identity))
  }

  private static func claim(
    _ identity: ShareIdentity, state: FileName, _ folders: StateFolders
  ) throws(Failure) -> ShareLocation {
    try StateFolders.prepare(state)
    if let former = ShareIdentity.read(in: state), !former.isSameFolder(as: identity), former.path != identity.path {
      throw Failure(
        .mountFailed, "\(state) holds the state of another share, \(former.path).",
        hint: "Choose another folder; or remove \(state.appending("identity")) to let \(identity.path) take it over.")
    }
    let lock = try take(state, identity)
    try identity.write(in: state)
    let cache = state.appending("cache")
    try StateFolders.prepare(cache)
    // The socket is in the state folder too; only its card lies where status looks.
    let card = (try? StateFolders.prepare(folders.runtime)).map {
      folders.runtime.appending(identity.shareName + ".json")
    }
    return ShareLocation(
      name: identity.shareName, data: state, cache: cache, socket: state.appending("control.sock"), card: card,
      lock: lock)
  }

  /// All states in a folder that carry an identity.
  static func find(in data: FileName) -> [(name: String, identity: ShareIdentity)] {
    ((try? Files.names(in: data)) ?? []).compactMap { name in
      guard let text = name.text, let identity = ShareIdentity.read(in: data.appending(name)) else { return nil }
      return (text, identity)
    }
  }

  private static func take(_ data: FileName, _ identity: ShareIdentity) throws(Failure) -> ShareLock {
    // After umount(8) its daemon goes on for a moment, to bring its catalog to an end: who mounts again at once waits for that.
    let deadline = Clock.now() + Clock.seconds(10)
    repeat {
      if let lock = try tryLock(data) { return lock }
      if try MountTable.now().shares.contains(where: { $0.source == identity.path }) { break }
      Clock.pause(0.02)
    } while Clock.now() < deadline
    throw Failure(
      .mountFailed, "\(identity.path) is already served by another daemon of sharefs.",
      hint: "See `sharefs status`; end it with `sharefs umount`.")
  }

  private static func tryLock(_ data: FileName) throws(Failure) -> ShareLock? {
    try explain(.mountFailed, "The state in \(data) cannot be locked") { () throws(Errno) in
      guard let lock = try FileLock.take(data.appending("lock")) else { return nil }
      return ShareLock(lock)
    }
  }
}

/// The lock of a share, with as many owners as copies of its location.
final class ShareLock: Sendable {
  private let lock: FileLock
  init(_ lock: consuming FileLock) { self.lock = lock }
}
