import CLinux
import Contracts
import Fuse
import Posix

/// An open folder of the view: what it held when the listing began.
final class OpenMirror: KernelHandle, Sendable {
  struct Line: Sendable {
    let name: FileName
    let inode: UInt64
    let kind: FileKind
  }

  let lines = Guarded<[Line]?>(nil)
}

extension Thumbs {
  /// How long a listing waits for pictures in the making, so that who lists right after a copy sees them. Short: a large
  /// copy shows what it has.
  static let listingPatience = Clock.seconds(1)
  private static let mostWaitedFor = 256

  func openFolder(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    do throws(Errno) {
      guard case .folder(let folder) = try find(node).what else { throw .notFolder }
      streams.lookAgain()
      let revision = try revision(of: folder)
      if let revision, listed.isKept(node, revision) { return opened(request, node, revision) }
      let pending = try inTheMaking(in: folder)
      if pending.isEmpty { return opened(request, node, revision) }
      let wait = Wait()
      let deferred = Deferred(request) { [projection] in if let token = wait.token { _ = projection.cancel(token) } }
      wait.token = projection.wait(for: pending, until: Clock.now() + Thumbs.listingPatience) { [self] in
        if let request = deferred.take() { opened(request, node, nil) }
      }
    } catch {
      request.fail(error)
    }
  }

  private func opened(_ request: consuming Request, _ node: NodeID, _ revision: ListedFolders.Revision?) {
    request.opened(OpenReply(handle: OpenMirror().handle(), flags: listed.open(node, revision)))
  }

  /// - Returns: nil when the listing may change and nothing would tell: by time, or behind our back.
  private func revision(of folder: Node) throws(Errno) -> ListedFolders.Revision? {
    guard settings.isExclusive, hidden.isEmpty else { return nil }
    // The counts first: what changes in between is met by the next look.
    let (pictures, names) = (projection.revision, listed.namesRevision)
    return ListedFolders.Revision(pictures: pictures, names: names, changed: try folder.status().changed)
  }

  /// Documents whose first picture is being made and without which the listing would lack a line: those of the folder, and those of folders in
  /// it that have no picture yet.
  func inTheMaking(in folder: Node) throws(Errno) -> [FileID] {
    var search = MediaSearch(self)
    let volume = folder.file.volume
    let held = try folder.open()
    var directory = try Directory(reading: held.raw)
    while let line = try directory.next(), search.pending.count < Thumbs.mostWaitedFor {
      if line.name.isDots || TemporaryNames.contains(line.name) { continue }
      if line.kind == .folder {
        _ = search.holdsMedia(line.name, in: held.raw)
      } else {
        search.note(line, in: held.raw, volume: volume)
      }
    }
    return search.pending
  }

  func readFolder(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, size: Int, withAttributes: Bool
  ) {
    do throws(Errno) {
      guard case .folder(let folder) = try find(node).what else { throw .notFolder }
      let mirror = OpenMirror.at(handle)
      var lines = mirror.lines.withLock { $0 }
      if lines == nil || offset == 0 {
        lines = try read(folder)
        mirror.lines.withLock { $0 = lines }
      }
      var listing = Listing(size: size)
      for (index, line) in (lines ?? []).enumerated().dropFirst(Int(clamping: offset)) {
        // Names alone: the kernel asks for each anew when it wants to know more, since none keeps its meaning for long.
        guard
          request.add(
            line.name, inode: line.inode, kind: line.kind, next: Int64(index) + 1, to: &listing,
            withAttributes: withAttributes)
        else { break }
      }
      request.listing(listing)
    } catch {
      request.fail(error)
    }
  }

  func read(_ folder: Node) throws(Errno) -> [OpenMirror.Line] {
    var folders: [(FileName, UInt64)] = []
    var documents: [(FileName, UInt64)] = []
    let held = try folder.open()
    var directory = try Directory(reading: held.raw)
    while let line = try directory.next() {
      if line.name.isDots || TemporaryNames.contains(line.name) { continue }
      switch line.kind ?? (try? FileStatus.of(line.name, in: held.raw))?.kind {
      case .folder: folders.append((line.name, line.inode))
      case .regular: documents.append((line.name, line.inode))
      default: continue
      }
    }
    let names = Set(folders.map { $0.0 })
    let own = try folder.status().inode | NodeID.viewBit
    var lines: [OpenMirror.Line] = []
    func add(_ name: FileName, _ inode: UInt64, _ kind: FileKind) {
      if hidden.hides(HiddenNames.Key(folder: folder.key, name: name)) { return }
      lines.append(OpenMirror.Line(name: name, inode: inode, kind: kind))
    }
    add(FileName("."), own, .folder)
    add(FileName(".."), own, .folder)
    if folder.id == .root { for note in Note.allCases { add(note.name, note.inode, .regular) } }
    if shelf != nil, !names.contains(Thumbs.pageName) { add(Thumbs.pageName, pageInode(own), .regular) }
    for (name, inode) in folders {
      if holdsMedia(name, in: held.raw) { add(name, inode | NodeID.viewBit, .folder) }
    }
    for (document, inode) in documents where isPictured(inode, volume: folder.file.volume) {
      let usual = ThumbName.usual(for: document)
      let name = usual.map { names.contains($0) } ?? true ? ThumbName.short(for: document) : usual!
      add(name, inode | NodeID.viewBit, .regular)
    }
    return lines
  }

  /// Whether a folder is shown; see `MediaSearch`.
  func holdsMedia(_ name: FileName, in parent: CInt) -> Bool {
    var search = MediaSearch(self)
    return search.holdsMedia(name, in: parent)
  }

  fileprivate func isPictured(_ inode: UInt64, volume: UInt64) -> Bool {
    switch projection.picture(volume: volume, inode: inode) {
    case .ready, .making(previous: .some): true
    case .unknown, .making(previous: nil): false
    }
  }

  func releaseFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    OpenMirror.take(handle)
    listed.close(node)
    request.done()
  }

  func fileSystem(_ request: consuming Request, _ node: NodeID) { request.fail(.noSystemCall) }
}

/// Looks for documents with pictures below folders.
private struct MediaSearch {
  private let view: Thumbs
  private var left = 0
  /// Documents met on the way whose first picture is being made.
  private(set) var pending: [FileID] = []

  init(_ view: Thumbs) { self.view = view }

  /// Whether there is a document with a picture somewhere below: looked for until the first one, and through a thousand entries
  /// at most; a folder so large is shown.
  mutating func holdsMedia(_ name: FileName, in parent: CInt) -> Bool {
    left = 1000
    let before = pending
    let isFound = look(name, parent)
    // It is shown anyway: nobody need wait for the rest.
    if isFound { pending = before }
    return isFound
  }

  private mutating func look(_ name: FileName, _ parent: CInt) -> Bool {
    // What cannot be read holds nothing that could be shown.
    guard let descriptor = try? Descriptor.open(at: parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
      let device = try? descriptor.status().device
    else { return false }
    let volume = device == view.root.key.device ? 0 : device
    var folders: [FileName] = []
    var directory = Directory(descriptor)
    let raw = directory.descriptor.raw
    while let line = try? directory.next() {
      left -= 1
      if left < 0 { return true }
      if line.name.isDots || TemporaryNames.contains(line.name) { continue }
      if line.kind == .folder {
        folders.append(line.name)
      } else if view.isPictured(line.inode, volume: volume) {
        return true
      } else {
        note(line, in: raw, volume: volume)
      }
    }
    for folder in folders where look(folder, raw) { return true }
    return false
  }

  /// Notes a document whose first picture is being made.
  mutating func note(_ line: DirectoryEntry, in folder: CInt, volume: UInt64) {
    guard line.kind == .regular || line.kind == nil,
      case .making(previous: nil) = view.projection.picture(volume: volume, inode: line.inode),
      let status = try? FileStatus.of(line.name, in: folder), status.kind == .regular,
      !view.streams.isBeingWritten(NodeKey(device: status.device, inode: status.inode))
    else { return }
    pending.append(status.id(root: view.root.key.device))
  }
}
