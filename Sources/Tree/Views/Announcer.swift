import CLinux
import Contracts
import Fuse
import Posix
import Synchronization

/// Makes known to watchers (inotify, an open file manager window) what comes, changes and goes in the view.
///
/// What a FUSE daemon changes by itself raises no event; what is done through the mount does. So a thread of ours makes, touches and removes the
/// entry through the mount, where the view knows the thread and answers as if it had just been so. Nobody who answers requests ever waits for
/// this thread. Where nobody watches, nothing is done.
final class Announcer: Sendable {
  enum Kind: Sendable {
    case appears, changes, vanishes
  }

  struct Action: Sendable {
    let kind: Kind
    let folder: SharePath
    let name: FileName
    var isFolder = false
    /// The real folder.
    let key: NodeKey
  }

  private enum Task {
    case action(Action)
    /// What must first be looked at, by this thread.
    case look(@Sendable () -> Void)
  }

  private struct State {
    var waiting: [Task] = []
    var isStopping = false
  }

  /// More than these wait only when a whole share is catalogued at once; then an open window is told of the latest when it looks again.
  private static let most = 65536

  private let mountpoint: FileName
  private let view: FileName
  private let waits: FolderWaits
  private let watchers: Watchers
  /// What stands in the number of a folder of the view beside that of the real one.
  private let mark: UInt64
  private let state = Monitor(State())
  /// That of the mount.
  private let device = Guarded<UInt64?>(nil)
  private let acting = Guarded<Action?>(nil)
  private let threadID = Atomic<pid_t>(0)
  private let thread = OwnThread()

  init(mountpoint: FileName, view: FileName, mark: UInt64, waits: FolderWaits, watchers: Watchers) {
    self.mountpoint = mountpoint
    self.view = view
    self.mark = mark
    self.waits = waits
    self.watchers = watchers
  }

  func start() { thread.begin("sharefs-herald") { [self] in run() } }

  func stop() {
    waits.stop()
    state.change { $0.isStopping = true }
    thread.join()
  }

  /// Whether somebody may want to be told something.
  var isWanted: Bool { watchers.mayBeThere }

  func announce(_ action: Action) { add(.action(action)) }

  /// Has `look` called by the announcing thread, in its turn; it may call `act`.
  func look(_ look: @escaping @Sendable () -> Void) { add(.look(look)) }

  private func add(_ task: Task) {
    state.change { state in if state.waiting.count < Announcer.most { state.waiting.append(task) } }
  }

  /// Whether what is being announced is a folder.
  var isFolder: Bool { acting.withLock { $0?.isFolder ?? false } }

  /// What is being announced of this name, when it is the announcing thread that asks.
  func current(for thread: pid_t, in folder: NodeKey, _ name: FileName) -> Kind? {
    guard thread == threadID.load(ordering: .acquiring) else { return nil }
    return acting.withLock { action in
      guard let action, action.key == folder, action.name == name else { return nil }
      return action.kind
    }
  }

  private func run() {
    Thread.giveWay(.modest)
    threadID.store(Thread.currentID, ordering: .releasing)
    watchers.isOurs(Thread.currentID)
    // What lies under the mount is another device: after an unmount nothing of the user's is touched.
    guard let mount = try? FileStatus.of(mountpoint, in: AT_FDCWD).device else { return }
    device.withLock { $0 = mount }
    while let tasks = next() {
      for task in tasks {
        if state.withLock({ $0.isStopping }) { return }
        switch task {
        case .action(let action): _ = act(action)
        case .look(let look): look()
        }
      }
    }
  }

  /// All that waits, once something does; nil at the end.
  private func next() -> [Task]? {
    let tasks: [Task] = state.wait { state in
      if state.isStopping { return [] }
      if state.waiting.isEmpty { return nil }
      defer { state.waiting = [] }
      return state.waiting
    }
    return tasks.isEmpty ? nil : tasks
  }

  /// For the announcing thread alone.
  /// - Returns: whether it was made known: false where nobody watches the folder.
  func act(_ action: Action) -> Bool {
    guard let mount = device.withLock({ $0 }), !state.withLock({ $0.isStopping }),
      watchers.mayWatch(action.key.inode | mark, on: mount)
    else { return false }
    waits.waitUntilNone(action.key, deadline: Clock.now() + Clock.seconds(10))
    acting.withLock { $0 = action }
    let start = Clock.now()
    // A failure means that the entry has moved on, or the mount has gone: there is nothing to make known then.
    try? perform(action, on: mount)
    acting.withLock { $0 = nil }
    // A visit keeps the mount busy. Half of the time it is not, or nobody could unmount while much is told.
    Clock.pause(min(0.02, Double(Clock.now() - start) / 1e9))
    return true
  }

  private func perform(_ action: Action, on mount: UInt64) throws(Errno) {
    var path = Array(mountpoint.bytes) + [UInt8(ascii: "/")] + view.bytes
    if !action.folder.isRoot { path += [UInt8(ascii: "/")] + action.folder.bytes }
    let folder = try Descriptor.open(FileName(path), CInt(O_PATH) | O_DIRECTORY | O_NOFOLLOW)
    guard try folder.status().device == mount else { return }
    try unsafe action.name.withCString { name throws(Errno) in
      switch action.kind {
      case .appears where action.isFolder: _ = try check { unsafe mkdirat(folder.raw, name, 0o755) }
      case .vanishes where action.isFolder: _ = try check { unsafe unlinkat(folder.raw, name, AT_REMOVEDIR) }
      case .appears: _ = try check { unsafe mknodat(folder.raw, name, mode_t(S_IFREG) | 0o644, 0) }
      case .changes: _ = try check { unsafe utimensat(folder.raw, name, nil, AT_SYMLINK_NOFOLLOW) }
      case .vanishes: _ = try check { unsafe unlinkat(folder.raw, name, 0) }
      }
    }
  }
}

extension Thumbs {
  func pictureChanged(of document: Document, old: Picture?, new: Picture?) {
    shelf?.noteChange()
    guard announcer.isWanted else { return news.forgetAll() }
    guard let name = document.path.name, let parent = document.path.parent,
      !TemporaryNames.contains(document.path), let files = files.withLock({ $0 })
    else { return }
    guard let folder = files.holdFolder(at: parent) else {
      // It went with its folder.
      if new == nil { announcer.look { [self] in news.check(parent, self) } }
      return
    }
    defer { releaseReal(folder) }
    guard let thumb = try? thumbName(of: name, in: folder) else { return }
    let kind: Announcer.Kind = new == nil ? .vanishes : old == nil ? .appears : .changes
    if kind == .appears { announcer.look { [self] in news.reveal(parent, self) } }
    announcer.announce(Announcer.Action(kind: kind, folder: parent, name: thumb, key: folder.key))
    if kind == .vanishes { announcer.look { [self] in news.check(parent, self) } }
  }
}

extension Files {
  /// The real folder at a path, held; nil when there is none any more.
  func holdFolder(at path: SharePath) -> Node? {
    var node = table.root
    for name in path.components {
      let next = try? hold(in: node, name).0
      release(node.id, count: 1)
      guard let next else { return nil }
      guard next.kind == .folder else {
        release(next.id, count: 1)
        return nil
      }
      node = next
    }
    return node
  }
}
