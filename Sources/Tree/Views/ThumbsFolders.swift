import CLinux
import Contracts
import Fuse
import Posix

/// An open folder of the view: what it held when the listing began.
final class OpenMirror: KernelHandle, Sendable {
  enum Line: Sendable {
    case dots(FileName, UInt64)
    case folder(FileName, UInt64)
    /// The picture's name, the document's, and its inode.
    case picture(FileName, document: FileName, UInt64)
    case note(Note)
    case page
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
      let pending = try inTheMaking(in: folder)
      if pending.isEmpty { return request.opened(OpenReply(handle: OpenMirror().handle(), flags: [])) }
      let wait = Wait()
      let deferred = Deferred(request) { [projection] in if let token = wait.token { _ = projection.cancel(token) } }
      wait.token = projection.wait(for: pending, until: Clock.now() + Thumbs.listingPatience) {
        deferred.take()?.opened(OpenReply(handle: OpenMirror().handle(), flags: []))
      }
    } catch {
      request.fail(error)
    }
  }

  /// Documents whose first picture is being made and without which the listing would lack a line: those of the folder, and those of folders in
  /// it that have no picture yet.
  func inTheMaking(in folder: Node) throws(Errno) -> [FileID] {
    var search = MediaSearch(self)
    let volume = folder.file.volume
    var directory = try Directory(reading: folder.descriptor.raw)
    while let line = try directory.next(), search.pending.count < Thumbs.mostWaitedFor {
      if line.name.isDots || TemporaryNames.contains(line.name) { continue }
      if line.kind == .folder {
        _ = search.holdsMedia(line.name, in: folder.descriptor.raw)
      } else {
        search.note(line, in: folder.descriptor.raw, volume: volume)
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
        guard try add(line, of: folder, next: Int64(index) + 1, to: &listing, request, withAttributes) else { break }
      }
      request.listing(listing)
    } catch {
      request.fail(error)
    }
  }

  func read(_ folder: Node) throws(Errno) -> [OpenMirror.Line] {
    var folders: [(FileName, UInt64)] = []
    var documents: [(FileName, UInt64)] = []
    var directory = try Directory(reading: folder.descriptor.raw)
    while let line = try directory.next() {
      if line.name.isDots || TemporaryNames.contains(line.name) { continue }
      switch line.kind ?? (try? FileStatus.of(line.name, in: folder.descriptor.raw))?.kind {
      case .folder: folders.append((line.name, line.inode))
      case .regular: documents.append((line.name, line.inode))
      default: continue
      }
    }
    let names = Set(folders.map { $0.0 })
    let own = try folder.status().inode | NodeID.viewBit
    var lines: [OpenMirror.Line] = [.dots(FileName("."), own), .dots(FileName(".."), own)]
    if folder.id == .root { lines += Note.allCases.map { .note($0) } }
    if shelf != nil, !names.contains(Thumbs.pageName) { lines.append(.page) }
    for (name, inode) in folders {
      var search = MediaSearch(self)
      guard search.holdsMedia(name, in: folder.descriptor.raw) else { continue }
      lines.append(.folder(name, inode | NodeID.viewBit))
    }
    for (document, inode) in documents where isPictured(inode, volume: folder.file.volume) {
      let usual = ThumbName.usual(for: document)
      let name = usual.map { names.contains($0) } ?? true ? ThumbName.short(for: document) : usual!
      lines.append(.picture(name, document: document, inode))
    }
    return lines.filter { line in
      switch line {
      case .folder(let name, _), .picture(let name, _, _): !hidden.hides(.init(folder: folder.key, name: name))
      case .note(let note): !hidden.hides(.init(folder: folder.key, name: note.name))
      case .page: !hidden.hides(.init(folder: folder.key, name: Thumbs.pageName))
      case .dots: true
      }
    }
  }

  fileprivate func isPictured(_ inode: UInt64, volume: UInt64) -> Bool {
    switch projection.picture(volume: volume, inode: inode) {
    case .ready, .making(previous: .some): true
    case .unknown, .making(previous: nil): false
    }
  }

  private func add(
    _ line: OpenMirror.Line, of folder: Node, next: Int64, to listing: inout Listing, _ request: borrowing Request,
    _ withAttributes: Bool
  ) throws(Errno) -> Bool {
    func nameOnly(_ name: FileName, _ inode: UInt64, _ kind: FileKind) -> Bool {
      request.add(name, inode: inode, kind: kind, next: next, to: &listing, withAttributes: withAttributes)
    }
    switch line {
    case .dots(let name, let inode): return nameOnly(name, inode, .folder)
    case .folder(let name, let inode): return nameOnly(name, inode, .folder)
    case .note(let note): return nameOnly(note.name, NodeID.viewBit | 1 << 62 | note.rawValue, .regular)
    case .page: return nameOnly(Thumbs.pageName, pageInode(of: try folder.status()), .regular)
    case .picture(let name, let document, let inode):
      // Attributes only of a picture that is there: for the others the kernel asks when it wants to know.
      guard withAttributes, let status = try documentStatus(document, in: folder), status.inode == inode,
        case .ready(let picture) = projection.picture(volume: volume(of: status), inode: inode)
      else { return nameOnly(name, inode | NodeID.viewBit, .regular) }
      let node = holdPicture(picture, of: document, status, in: folder)
      let entry = Entry(
        node: node.id, status: pictured(status, picture), nameLifetime: 0,
        attributesLifetime: Thumbs.attributesLifetime)
      guard request.add(name, entry, next: next, to: &listing) else {
        forget(node.id, count: 1)
        return false
      }
      return true
    }
  }

  func releaseFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    OpenMirror.take(handle)
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
