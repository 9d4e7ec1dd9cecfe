import CLinux
import Contracts
import Fuse
import Glibc
import Posix

// What makes, moves and removes names.
extension Files {
  func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64) {
    unsafe make(request, in: parent, name, mode) { folder, name throws(Errno) in
      _ = try check { unsafe mknodat(folder, name, mode, dev_t(device)) }
    }
  }

  func makeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t) {
    unsafe make(request, in: parent, name, mode) { folder, name throws(Errno) in
      _ = try check { unsafe mkdirat(folder, name, mode) }
    }
  }

  func makeLink(_ request: consuming Request, in parent: NodeID, _ name: FileName, target: FileName) {
    unsafe make(request, in: parent, name, 0) { folder, name throws(Errno) in
      try unsafe target.withCString { target throws(Errno) in _ = try check { unsafe symlinkat(target, folder, name) } }
    }
  }

  private func make(
    _ request: consuming Request, in parent: NodeID, _ name: FileName, _ mode: mode_t,
    _ body: (CInt, UnsafePointer<CChar>) throws(Errno) -> Void
  ) {
    do throws(Errno) {
      try refuseViewName(name, in: parent)
      let folder = try table.find(parent)
      let held = try folder.open()
      try Credentials.acting(as: request.caller, mode: mode) { () throws(Errno) in
        try unsafe name.withCString { name throws(Errno) in try unsafe body(held.raw, name) }
      }
      let (node, status) = try hold(in: folder, name)
      if node.kind == .regular { streams.cameToName(node) }
      if !request.entry(entry(node, status)) { release(node.id, count: 1) }
    } catch {
      request.fail(error)
    }
  }

  func link(_ request: consuming Request, _ node: NodeID, to parent: NodeID, _ name: FileName) {
    do throws(Errno) {
      try refuseViewName(name, in: parent)
      let node = try table.find(node)
      let folder = try table.find(parent)
      let old = node.path
      let (held, heldFolder) = (try node.open(), try folder.open())
      try streams.changingMetadata(node) { () throws(Errno) in
        // AT_EMPTY_PATH wants CAP_DAC_READ_SEARCH; the way through /proc serves everybody.
        try unsafe FileName.ofDescriptor(held.raw).withCString { path throws(Errno) in
          try unsafe name.withCString { name throws(Errno) in
            _ = try check { unsafe linkat(AT_FDCWD, path, heldFolder.raw, name, AT_SYMLINK_FOLLOW) }
          }
        }
      }
      streams.beginNaming(node)
      defer { streams.endNaming(node) }
      let (linked, status) = try hold(in: folder, name)
      if linked.kind == .regular, let path = linked.path {
        settled.take(.linked(Document(file: linked.file, path: path)))
        if !TemporaryNames.contains(path) && (old.map { TemporaryNames.contains($0) } ?? true) {
          streams.cameToName(linked)
        }
      }
      if !request.entry(entry(linked, status)) { release(linked.id, count: 1) }
    } catch {
      request.fail(error)
    }
  }

  func unlink(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    remove(request, in: parent, name, flags: 0)
  }

  func removeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    remove(request, in: parent, name, flags: AT_REMOVEDIR)
  }

  private func remove(_ request: consuming Request, in parent: NodeID, _ name: FileName, flags: CInt) {
    do throws(Errno) {
      let folder = try table.find(parent)
      let held = try folder.open()
      let status = try FileStatus.of(name, in: held.raw)
      let node = table.find(NodeKey(device: status.device, inode: status.inode))
      // Whoever has it open, or stands in it, goes on asking for it when it has no name any more.
      node?.moved(to: folder, name)
      try node?.pin()
      defer { node?.unpin() }
      let path = folder.path?.appending(name)
      let act = { () throws(Errno) in
        try unsafe name.withCString { name throws(Errno) in
          _ = try check { unsafe unlinkat(held.raw, name, flags) }
        }
      }
      let wasLast = status.kind == .folder || status.links <= 1
      if let node, !wasLast { try streams.changingMetadata(node, act) } else { try act() }
      if wasLast, let node { lostLastName(node) }
      if let path {
        let document = Document(file: status.id(root: rootDevice), path: path)
        settled.take(.removed(document, status.kind, wasLast: wasLast))
      }
      request.done()
    } catch {
      request.fail(error)
    }
  }

  func rename(
    _ request: consuming Request, from parent: NodeID, _ name: FileName, to newParent: NodeID, _ newName: FileName,
    flags: UInt32
  ) {
    do throws(Errno) {
      try refuseViewName(newName, in: newParent)
      let folder = try table.find(parent)
      let newFolder = try table.find(newParent)
      let isExchange = flags & 2 != 0  // RENAME_EXCHANGE
      let (held, newHeld) = (try folder.open(), try newFolder.open())
      let status = try FileStatus.of(name, in: held.raw)
      // Nobody stands there: then nobody is replaced. Any other error comes from the rename itself.
      let other = try? FileStatus.of(newName, in: newHeld.raw)
      let node = table.find(NodeKey(device: status.device, inode: status.inode))
      let otherNode = other.flatMap { table.find(NodeKey(device: $0.device, inode: $0.inode)) }
      // Whoever asks for one of them meanwhile, from another thread, does not look for it by its name.
      node?.moved(to: folder, name)
      try node?.pin()
      defer { node?.unpin() }
      otherNode?.moved(to: newFolder, newName)
      try otherNode?.pin()
      defer { otherNode?.unpin() }
      let act = { () throws(Errno) in
        try unsafe name.withCString { name throws(Errno) in
          try unsafe newName.withCString { newName throws(Errno) in
            _ = try check {
              unsafe renameat2(held.raw, name, newHeld.raw, newName, flags)
            }
          }
        }
      }
      let actOnce = { [streams] () throws(Errno) in
        if let node { try streams.changingMetadata(node, act) } else { try act() }
      }
      // The one that is replaced or exchanged changes its time too; when it loses its last name, nobody minds.
      if let otherNode, isExchange || (other?.links ?? 0) > 1 {
        try streams.changingMetadata(otherNode, actOnce)
      } else {
        try actOnce()
      }
      // Two names of one file: the kernel's rename does nothing, and neither do we.
      guard isExchange || other?.inode != status.inode || other?.device != status.device else { return request.done() }
      if let node { streams.beginNaming(node) }
      if let otherNode { streams.beginNaming(otherNode) }
      defer {
        if let node { streams.endNaming(node) }
        if let otherNode { streams.endNaming(otherNode) }
      }
      node?.moved(to: newFolder, newName)
      if isExchange {
        otherNode?.moved(to: folder, name)
      } else if let other, let otherNode, other.kind == .folder || other.links <= 1 {
        lostLastName(otherNode)
      }
      announce(
        status, node, other, otherNode, folder.path?.appending(name), newFolder.path?.appending(newName), isExchange)
      request.done()
    } catch {
      request.fail(error)
    }
  }

  /// It keeps its descriptor until the kernel forgets it, and its inode's number is free for others.
  private func lostLastName(_ node: Node) {
    node.lostLastName()
    table.unlist(node)
  }

  private func announce(
    _ status: FileStatus, _ node: Node?, _ other: FileStatus?, _ otherNode: Node?, _ from: SharePath?, _ to: SharePath?,
    _ isExchange: Bool
  ) {
    guard let from, let to else { return }
    let file = status.id(root: rootDevice)
    let otherFile = other?.id(root: rootDevice)
    if isExchange, let other, let otherFile {
      settled.take(
        .exchanged(
          Document(file: file, path: to), status.kind, Document(file: otherFile, path: from), other.kind))
    } else {
      settled.take(.renamed(file, status.kind, from: from, to: to, replaced: otherFile))
    }
    let (wasTemporary, isTemporary) = (TemporaryNames.contains(from), TemporaryNames.contains(to))
    guard wasTemporary != isTemporary || isExchange else { return }
    if wasTemporary, !isTemporary, let node { streams.cameToName(node) }
    if isExchange, !wasTemporary, isTemporary, let otherNode { streams.cameToName(otherNode) }
  }
}
