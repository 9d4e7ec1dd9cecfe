import CLinux
import Catalog
import Contracts
import Posix
import Synchronization

/// Tells of changes that did not come through the mount: where the source folder stands open beside it, others may write there too.
///
/// A thread of its own watches every folder. It only says where something happened; the writer looks at what is there now, so an event of the
/// mount's own doing, which comes here as well, finds nothing new.
final class SourceWatch: Sendable {
  private let source: Source
  private let inbox: Inbox
  private let scanner: Scanner
  private let problems: Problems
  private let wakeup: Wakeup
  private let isStopping = Atomic<Bool>(false)

  private static let events =
    IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK

  /// How long a name that has gone may take to come back as another one.
  private static let patience = Clock.seconds(1)

  init(source: Source, inbox: Inbox, scanner: Scanner, problems: Problems) throws(Errno) {
    self.source = source
    self.inbox = inbox
    self.scanner = scanner
    self.problems = problems
    wakeup = try Wakeup()
    // Whether a document is still being written is asked by a lease, and one that is broken at once sends it.
    Signals.ignore(SIGIO)
  }

  func stop() {
    isStopping.store(true, ordering: .releasing)
    wakeup.wake()
  }

  /// For its thread. The first scan begins when all folders are watched, so that nothing falls between the two.
  func run() {
    do throws(Errno) {
      var folders = Folders(source: source, notifications: try Notifications())
      watch(.root, &folders)
      scanner.request()
      try follow(&folders)
    } catch {
      problems.report(
        .warning,
        "The source folder cannot be watched: \(error). What is changed in it directly is found at the next mount, or by `sharefs rescan`."
      )
      scanner.request()
    }
  }

  private func follow(_ folders: inout Folders) throws(Errno) {
    var mustSweep: Clock.Instant?
    while true {
      var awaited = [Awaited(folders.notifications.raw), Awaited(wakeup.raw)]
      try Awaited.wait(&awaited, until: mustSweep)
      if isStopping.load(ordering: .acquiring) { return }
      if awaited[0].canRead {
        if take(try folders.notifications.read(), &folders) { mustSweep = Clock.now() + SourceWatch.patience }
      } else if mustSweep != nil {
        mustSweep = nil
        _ = inbox.postPatiently(.vanishedForGood)
      }
    }
  }

  /// - Returns: whether names have gone.
  private func take(_ events: [Notifications.Event], _ folders: inout Folders) -> Bool {
    var found: Set<SharePath> = []
    var gone: Set<SharePath> = []
    var touched: Set<SharePath> = []
    for event in events {
      if event.has(IN_Q_OVERFLOW) {
        problems.report(
          .notice, "More changed in the source folder than could be told; it is compared with the catalog.")
        watch(.root, &folders)
        scanner.request()
        continue
      }
      if event.has(IN_IGNORED) {
        folders.paths[event.watch] = nil
        continue
      }
      guard let folder = folders.paths[event.watch], let name = event.name else { continue }
      let path = folder.appending(name)
      if TemporaryNames.contains(path) {
        if event.has(IN_DELETE) || event.has(IN_MOVED_FROM), let finished = path.finishedDownload {
          found.insert(finished)
        }
        continue
      }
      let hasCome = event.has(IN_CLOSE_WRITE) || event.has(IN_CREATE) || event.has(IN_MOVED_TO)
      if event.has(IN_ISDIR) && (hasCome || event.has(IN_ATTRIB) && folders.closed.remove(path) != nil) {
        watch(path, &folders)
        scanner.request(path)
      } else if hasCome {
        found.insert(path)
      } else if event.has(IN_ATTRIB) {
        if !event.has(IN_ISDIR) { touched.insert(path) }
      } else {
        if event.has(IN_ISDIR) { folders.forget(within: path) }
        gone.insert(path)
      }
    }
    let now = Clock.now()
    for path in gone { _ = inbox.postPatiently(.vanished(path)) }
    for path in found { _ = inbox.postPatiently(.found(path)) }
    for path in touched { _ = inbox.postPatiently(.touched(path, at: now)) }
    return !gone.isEmpty
  }

  private func watch(_ folder: SharePath, _ folders: inout Folders) {
    do throws(Errno) {
      try folders.watch(folder) { self.isStopping.load(ordering: .acquiring) }
    } catch {
      problems.begin(
        .watches, .warning,
        "Not all of the source folder can be watched: \(error). What is changed in it directly is found at the next mount, or by `sharefs rescan`; raise the limit with `sysctl fs.inotify.max_user_watches`."
      )
    }
  }

  /// The folders that are watched.
  private struct Folders: ~Copyable {
    let source: Source
    let notifications: Notifications
    var paths: [CInt: SharePath] = [:]
    /// Those that we may not read. They are watched once we may.
    var closed: Set<SharePath> = []

    init(source: Source, notifications: consuming Notifications) {
      self.source = source
      self.notifications = notifications
    }

    /// - Throws: ENOSPC when there are too many.
    mutating func watch(_ root: SharePath, unless isStopping: () -> Bool) throws(Errno) {
      var rest = [root]
      while let folder = rest.popLast(), !isStopping() {
        let descriptor: Descriptor
        do throws(Errno) { descriptor = try Descriptor.openFolder(beneath: source.folder.raw, folder) } catch {
          // Gone again, or not ours to read: what stands in it is not in the catalog either.
          if error == .access { closed.insert(folder) }
          continue
        }
        paths[try notifications.watch(descriptor.raw, SourceWatch.events)] = folder
        var listing = Directory(descriptor)
        while let entry = try? listing.next() {
          if entry.name.isDots || TemporaryNames.contains(entry.name) { continue }
          // Where the file system does not say what it is, opening it as a folder does.
          if entry.kind == .folder || entry.kind == nil { rest.append(folder.appending(entry.name)) }
        }
      }
    }

    mutating func forget(within folder: SharePath) {
      closed = closed.filter { !$0.isWithin(folder) }
      for (watch, path) in paths where path.isWithin(folder) {
        notifications.forget(watch)
        paths[watch] = nil
      }
    }
  }
}
