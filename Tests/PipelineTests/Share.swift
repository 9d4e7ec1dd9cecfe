import Catalog
import Contracts
import Glibc
import Pipeline
import Posix
import Testing

/// A folder of its own for one test.
final class Folder: Sendable {
  let path: FileName
  private let isOwn: Bool

  init(_ present: FileName? = nil) throws {
    isOwn = present == nil
    if let present {
      path = present
      return
    }
    var template = Array("/tmp/sharefs-test-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
    try #require(made)
    path = FileName(template.dropLast().map { UInt8(bitPattern: $0) })
  }

  deinit { if isOwn { Folder.remove(path) } }

  static func remove(_ folder: FileName) {
    for name in (try? Files.names(in: folder)) ?? [] {
      let path = folder.appending(name)
      do { try Files.remove(path) } catch { remove(path) }
    }
    try? Files.removeFolder(folder)
  }
}

func path(_ text: String) -> SharePath { SharePath(text)! }

/// Waits until it holds; a test that waits in vain has failed.
func eventually(
  _ what: String, within seconds: Double = 60, _ location: SourceLocation = #_sourceLocation,
  _ condition: () throws -> Bool
) throws {
  let deadline = Clock.now() + Clock.seconds(seconds)
  while try !condition() {
    if Clock.now() > deadline {
      Issue.record("in vain: \(what)", sourceLocation: location)
      throw InVain()
    }
    usleep(2000)
  }
}

struct InVain: Error {}

/// What is being written, as the filesystem would know.
final class Written: Sendable {
  let files = Guarded<Set<FileID>>([])
}

extension Files {
  static func link(_ old: FileName, _ new: FileName) throws(Errno) {
    try unsafe old.withCString { old throws(Errno) in
      _ = try unsafe new.withCString { new throws(Errno) in try check { unsafe Glibc.link(old, new) } }
    }
  }
}

/// What the observer and the reporter heard.
final class Recorder: ProjectionObserver, Reporter {
  struct Shown: Hashable {
    let path: SharePath
    let old: Picture?
    let new: Picture?
  }

  private let shown = Guarded<[Shown]>([])
  private let said = Guarded<[String]>([])
  private let wholes = Guarded<[String]>([])

  func pictureChanged(of document: Document, old: Picture?, new: Picture?) {
    shown.withLock { $0.append(Shown(path: document.path, old: old, new: new)) }
  }

  func wholenessChanged(of document: Document, isWhole: Bool) {
    wholes.withLock { $0.append("\(isWhole ? "+" : "-")\(document.path)") }
  }

  func report(_ severity: Severity, _ text: String) { said.withLock { $0.append(text) } }

  var pictures: [Shown] { shown.withLock { $0 } }
  /// `+path` for a document that became whole, `-path` for one that is not any more.
  var wholenesses: [String] { wholes.withLock { $0 } }
  var texts: [String] { said.withLock { $0 } }
}

/// A source folder and a pipeline over it, told what happens as the filesystem would tell it.
final class Share {
  let folder: Folder
  let recorder = Recorder()
  let written = Written()
  var pipeline: Pipeline!
  private var events: Subscription!
  var happened: [Event] = []
  let source: FileName
  var state: FileName { folder.path.appending("state") }
  var cache: FileName
  var worker: FileName { folder.path.appending("worker") }
  private let device: UInt64
  private let opened: SharedDescriptor
  var box = Box.standard
  var desktop: Settings.Desktop?
  var workers = 2
  var patience = Clock.seconds(10)

  /// - Parameter present: a folder of another process's share; it stays.
  init(starting: Bool = true, in present: FileName? = nil) throws {
    folder = try Folder(present)
    source = folder.path.appending("source")
    cache = folder.path.appending("cache")
    try Files.makeFolders(source)
    opened = SharedDescriptor(try Descriptor.open(source, O_PATH | O_DIRECTORY))
    device = try opened.descriptor.status().device
    try link(Share.double)
    if starting { try start() }
  }

  deinit { pipeline?.stop() }

  /// The stand-in for the worker, built beside this program.
  static var double: FileName {
    get throws { try built("worker-double") }
  }

  static func built(_ name: String) throws -> FileName {
    try #require(try Files.target(FileName("/proc/self/exe")).parent).appending(name)
  }

  /// Which program is the worker; by a name in the test's folder, beside which the double finds its orders.
  func link(_ program: FileName) throws {
    try? Files.remove(worker)
    try unsafe program.withCString { program in
      try unsafe worker.withCString { worker in try #require(unsafe symlink(program, worker) == 0) }
    }
  }

  func start(scanned: Bool = true) throws {
    var settings = Settings(
      catalogFolder: state, cacheFolder: cache, worker: worker, workers: workers, box: box, source: opened.raw,
      patience: patience, isBeingWritten: { [written] file in written.files.withLock { $0.contains(file) } })
    settings.desktop = desktop
    pipeline = try Pipeline(settings: settings, reporter: recorder)
    events = pipeline.events.subscribe()
    pipeline.start(observer: recorder)
    if scanned { try eventually("the first scan") { self.pipeline.status().scanEnded != nil } }
  }

  func stop() {
    pipeline.stop()
    pipeline = nil
  }

  func restart() throws {
    stop()
    try start()
  }

  // MARK: - Files

  func real(_ path: SharePath) -> FileName { path.isRoot ? source : source.appending(FileName(path.bytes)) }

  /// Writes without telling anybody.
  func store(_ path: SharePath, _ content: String) throws {
    if let parent = path.parent { try Files.makeFolders(real(parent)) }
    try Descriptor.createFile(real(path), mode: 0o644).write(Array(content.utf8))
  }

  func document(_ path: SharePath) throws -> (Document, ContentStamp) {
    let status = try Files.status(real(path))
    return (Document(file: status.id(root: device), path: path), status.stamp)
  }

  /// Writes a document, and tells it as a write stream's beginning and end.
  @discardableResult
  func put(_ path: SharePath, _ content: String) throws -> FileID {
    try store(path, content)
    let (document, stamp) = try document(path)
    pipeline.take(.started(document))
    pipeline.take(.settled(document, stamp))
    return document.file
  }

  func move(_ from: SharePath, _ to: SharePath) throws {
    let status = try Files.status(real(from))
    let replaced = try? Files.status(real(to)).id(root: device)
    if let parent = to.parent { try Files.makeFolders(real(parent)) }
    try Files.rename(real(from), to: real(to))
    // In the order in which the tree tells it.
    if status.kind == .regular { try touch(to) }
    pipeline.take(.renamed(status.id(root: device), status.kind, from: from, to: to, replaced: replaced))
  }

  /// A rename changes the change time, so does chmod.
  func touch(_ path: SharePath) throws {
    let (document, stamp) = try document(path)
    pipeline.take(.touched(document.file, stamp))
  }

  func remove(_ path: SharePath) throws {
    let status = try Files.status(real(path))
    try Files.remove(real(path))
    pipeline.take(.removed(Document(file: status.id(root: device), path: path), .regular, wasLast: status.links == 1))
  }

  // MARK: - What came of it

  func picture(_ file: FileID) -> PictureState { pipeline.picture(volume: file.volume, inode: file.inode) }

  func isReady(_ file: FileID) -> Bool {
    if case .ready = picture(file) { return true }
    return false
  }

  /// Waits for the picture as a lookup does.
  func ready(_ file: FileID, within seconds: Double = 60, _ location: SourceLocation = #_sourceLocation) throws
    -> Picture
  {
    try eventually("a picture", within: seconds, location) { self.isReady(file) }
    guard case .ready(let picture) = picture(file) else { throw InVain() }
    return picture
  }

  func content(_ picture: Picture) throws -> [UInt8] { try pipeline.open(picture).readAll(limit: 1 << 20) }

  func reader() throws -> CatalogReader { try #require(try CatalogReader(folder: state)) }

  func asset(_ path: SharePath) throws -> Asset { try #require(try reader().asset(at: path)) }

  /// The double's jobs, placeholders left out.
  func jobs() -> [String] {
    let log = FileName(Array(worker.bytes) + Array(".log".utf8))
    let bytes = (try? Files.read(log, limit: 1 << 24)) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { !$0.hasPrefix("placeholder ") }
  }

  /// Lets all documents go that hold a worker up.
  func go() throws { try Files.replace(FileName(Array(worker.bytes) + Array(".go".utf8)), with: []) }

  func collect() {
    while case .event(let event) = events.next(until: 0) { happened.append(event) }
  }

  func idle(_ location: SourceLocation = #_sourceLocation) throws {
    try eventually("nothing pending", within: 60, location) {
      let status = self.pipeline.status()
      return status.summary?.pending == 0 && status.backlog == 0 && status.running == 0 && !status.isScanning
    }
    collect()
  }
}
