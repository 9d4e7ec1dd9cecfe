import CLinux
import Contracts
import Fuse
import Glibc
import Posix

/// What tells two nodes of a mirror apart; the same file by two accesses is two nodes.
enum MirrorKey: Hashable, Sendable {
  case real(NodeID, access: UInt64)
  /// Where accesses stand, and one of them.
  case top
  case access(UInt64)
  /// What the announcer takes away: nobody else ever sees it.
  case ghost
}

enum MirrorContent: Sendable {
  case folder(Node, Access?)
  case document(Node, Access?)
  case top
  case access(Access)
  case ghost
}

/// A view that shows the share's own files and folders under other names. Data goes the way that it goes for the file itself; what may be seen, opened and
/// changed, the view decides.
protocol Mirror: View {
  var nodes: ViewNodes<MirrorKey, MirrorContent> { get }
  var table: NodeTable { get }
  /// Joined after both are made.
  var joined: Guarded<Files?> { get }

  /// Whether a folder's line is shown.
  func shows(_ line: DirectoryEntry, in folder: Node, _ raw: CInt, _ access: Access?) -> Bool
  /// - Throws: why the document cannot be opened in this way now.
  func admit(_ document: Node, _ access: Access?, writes: Bool) throws(Errno)
  /// The entries of a folder that is none of the share's.
  func entries(of content: MirrorContent) -> [(FileName, UInt64, FileKind)]
}

extension Mirror {
  typealias MirrorNode = ViewNode<MirrorKey, MirrorContent>

  /// Seconds: what is shown and how may change at any moment.
  static var lifetime: Double { 0 }

  func files() throws(Errno) -> Files {
    guard let files = joined.withLock({ $0 }) else { throw .noDevice }
    return files
  }

  // MARK: Nodes

  /// Counts once for the kernel; the real node is held as long as its mirror.
  func hold(_ content: MirrorContent) -> MirrorNode {
    let key: MirrorKey
    var real: Node?
    switch content {
    case .folder(let node, let access), .document(let node, let access):
      key = .real(node.id, access: access?.number ?? 0)
      real = node
    case .top: key = .top
    case .access(let access): key = .access(access.number)
    case .ghost: key = .ghost
    }
    // Counted once too often when the mirror was there already.
    let isHeld = real.map { table.hold($0) } ?? false
    let (node, isNew) = nodes.hold(key, content)
    if !isNew, isHeld, let real { try? files().release(real.id, count: 1) }
    return node
  }

  func forget(_ id: NodeID, count: UInt64) {
    switch nodes.forget(id, count: count)?.what {
    case .folder(let real, _)?, .document(let real, _)?: try? files().release(real.id, count: 1)
    case .top?, .access?, .ghost?, nil: break
    }
  }

  func answer(_ request: consuming Request, _ content: MirrorContent, _ status: FileStatus) {
    let node = hold(content)
    let entry = Entry(node: node.id, status: status, nameLifetime: 0, attributesLifetime: Self.lifetime)
    if !request.entry(entry) { forget(node.id, count: 1) }
  }

  // MARK: Attributes

  func status(of content: MirrorContent) throws(Errno) -> FileStatus {
    switch content {
    case .folder(let real, _), .document(let real, _): return try shown(real.status())
    case .top, .access:
      var status = try shown(table.root.status())
      // Only who knows the name gets in.
      status.permissions = 0o711
      status.links = 1
      status.inode = NodeID.viewBit | 1 << 61
      if case .access(let access) = content { status.inode |= access.number }
      return status
    case .ghost:
      var status = try shown(table.root.status())
      status.kind = .regular
      status.permissions &= 0o644
      status.size = 0
      status.blocks = 0
      status.inode = NodeID.viewBit | 1 << 62
      return status
    }
  }

  /// As the file itself has them, its number too: programs that ask whether two names lead to one file are told the truth. A folder's number is
  /// another one, since a folder that stands in itself is an error to all who walk through trees.
  func shown(_ status: FileStatus) throws(Errno) -> FileStatus {
    var status = try files().shown(status)
    if status.kind == .folder { status.inode = Self.folderNumber(status.inode) }
    return status
  }

  /// What stands in a folder's number beside that of the real one.
  static var folderMark: UInt64 { NodeID.viewBit | 1 << 60 }

  private static func folderNumber(_ inode: UInt64) -> UInt64 { inode | folderMark }

  func attributes(_ request: consuming Request, of node: NodeID, handle: UInt64?) {
    do throws(Errno) {
      request.attributes(try status(of: try nodes.find(node).what), lifetime: Self.lifetime)
    } catch {
      request.fail(error)
    }
  }

  func attribute(_ request: consuming Request, of node: NodeID, _ name: FileName, size: Int) {
    do throws(Errno) {
      let (files, real) = try self.real(node)
      files.attribute(request, of: real, name, size: size)
    } catch {
      request.fail(error == .isFolder ? .noData : error)
    }
  }

  func attributeNames(_ request: consuming Request, of node: NodeID, size: Int) {
    do throws(Errno) {
      let (files, real) = try self.real(node)
      files.attributeNames(request, of: real, size: size)
    } catch {
      request.fail(error == .isFolder ? .noData : error)
    }
  }

  private func real(_ node: NodeID) throws(Errno) -> (Files, NodeID) {
    switch try nodes.find(node).what {
    case .folder(let real, _), .document(let real, _): return (try files(), real.id)
    case .top, .access, .ghost: throw .isFolder
    }
  }

  // MARK: Open documents

  func open(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    do throws(Errno) {
      guard case .document(let real, let access) = try nodes.find(node).what else { throw .isFolder }
      try admit(real, access, writes: flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0)
      try files().open(request, real.id, flags: flags, isMirrored: true)
    } catch {
      request.fail(error)
    }
  }

  func release(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    // The handle alone tells what it is of.
    let file = OpenFile.at(handle)
    let (writes, real) = (file.isWriter, file.node.id)
    do throws(Errno) {
      let files = try files()
      files.release(request, node, handle: handle)
      if writes { files.changedElsewhere(real) }
    } catch {
      request.fail(error)
    }
  }

  func read(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, count: Int) {
    do throws(Errno) {
      try files().read(request, node, handle: handle, offset: offset, count: count)
    } catch {
      request.fail(error)
    }
  }

  func seek(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, whence: CInt) {
    do throws(Errno) {
      let (files, real) = try self.real(node)
      files.seek(request, real, handle: handle, offset: offset, whence: whence)
    } catch {
      request.fail(error)
    }
  }

  func fileSystem(_ request: consuming Request, _ node: NodeID) { request.fail(.noSystemCall) }

  func change(_ request: consuming Request, _ node: NodeID, _ change: AttributeChange, handle: UInt64?) {
    request.fail(.readOnly)
  }
  func unlink(_ request: consuming Request, in parent: NodeID, _ name: FileName) { request.fail(.readOnly) }
  func removeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName) { request.fail(.readOnly) }
}

/// An open folder of a mirror: what it held when the listing began.
final class OpenMirrorFolder: KernelHandle, Sendable {
  let lines = Guarded<[(FileName, UInt64, FileKind)]?>(nil)
}

extension Mirror {
  func openFolder(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    do throws(Errno) {
      if case .document = try nodes.find(node).what { throw .notFolder }
      request.opened(OpenReply(handle: OpenMirrorFolder().handle(), flags: []))
    } catch {
      request.fail(error)
    }
  }

  func readFolder(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, size: Int, withAttributes: Bool
  ) {
    do throws(Errno) {
      let open = OpenMirrorFolder.at(handle)
      var lines = open.lines.withLock { $0 }
      if lines == nil || offset == 0 {
        lines = try read(try nodes.find(node).what)
        open.lines.withLock { [lines] in $0 = lines }
      }
      var listing = Listing(size: size)
      for (index, line) in (lines ?? []).enumerated().dropFirst(Int(clamping: offset)) {
        guard
          request.add(
            line.0, inode: line.1, kind: line.2, next: Int64(index) + 1, to: &listing, withAttributes: withAttributes)
        else { break }
      }
      request.listing(listing)
    } catch {
      request.fail(error)
    }
  }

  private func read(_ content: MirrorContent) throws(Errno) -> [(FileName, UInt64, FileKind)] {
    var lines: [(FileName, UInt64, FileKind)] = []
    let own = try status(of: content).inode
    for name in [".", ".."] { lines.append((FileName(name), own, .folder)) }
    guard case .folder(let folder, let access) = content else { return lines + entries(of: content) }
    let descriptor = try folder.open()
    var directory = try Directory(reading: descriptor.raw)
    while let line = try directory.next() {
      if line.name.isDots || !shows(line, in: folder, descriptor.raw, access) { continue }
      let kind = line.kind ?? (try? FileStatus.of(line.name, in: descriptor.raw))?.kind ?? .regular
      lines.append((line.name, kind == .folder ? Self.folderNumber(line.inode) : line.inode, kind))
    }
    return lines
  }

  func releaseFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    OpenMirrorFolder.take(handle)
    request.done()
  }
}
