import CLinux
import Contracts
import Fuse
import Glibc
import Posix

// What makes, moves and removes names.
extension Files {
  func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64) {
    unsafe make(request, in: parent, name) { folder, name throws(Errno) in
      _ = try check { unsafe mknodat(folder, name, mode, dev_t(device)) }
    }
  }

  func makeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t) {
    unsafe make(request, in: parent, name) { folder, name throws(Errno) in
      _ = try check { unsafe mkdirat(folder, name, mode) }
    }
  }

  func makeLink(_ request: consuming Request, in parent: NodeID, _ name: FileName, target: FileName) {
    unsafe make(request, in: parent, name) { folder, name throws(Errno) in
      try unsafe target.withCString { target throws(Errno) in _ = try check { unsafe symlinkat(target, folder, name) } }
    }
  }

  private func make(
    _ request: consuming Request, in parent: NodeID, _ name: FileName,
    _ body: (CInt, UnsafePointer<CChar>) throws(Errno) -> Void
  ) {
    do throws(Errno) {
      try refuseViewName(name, in: parent)
      let folder = try table.find(parent)
      try Credentials.acting(as: request.caller) { () throws(Errno) in
        try unsafe name.withCString { name throws(Errno) in try unsafe body(folder.descriptor.raw, name) }
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
      try streams.changingMetadata(node) { () throws(Errno) in
        // AT_EMPTY_PATH wants CAP_DAC_READ_SEARCH; the way through /proc serves everybody.
        try unsafe FileName.ofDescriptor(node.descriptor.raw).withCString { path throws(Errno) in
          try unsafe name.withCString { name throws(Errno) in
            _ = try check { unsafe linkat(AT_FDCWD, path, folder.descriptor.raw, name, AT_SYMLINK_FOLLOW) }
          }
        }
      }
      let (held, status) = try hold(in: folder, name)
      if held.kind == .regular, let path = held.path {
        settled.take(.linked(Document(file: held.file, path: path)))
        if !TemporaryNames.contains(path) && (old.map { TemporaryNames.contains($0) } ?? true) {
          streams.cameToName(held)
        }
      }
      if !request.entry(entry(held, status)) { release(held.id, count: 1) }
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
      let status = try FileStatus.of(name, in: folder.descriptor.raw)
      let node = table.find(NodeKey(device: status.device, inode: status.inode))
      let path = folder.path?.appending(name)
      let act = { () throws(Errno) in
        try unsafe name.withCString { name throws(Errno) in
          _ = try check { unsafe unlinkat(folder.descriptor.raw, name, flags) }
        }
      }
      let wasLast = status.kind == .folder || status.links <= 1
      if let node, !wasLast { try streams.changingMetadata(node, act) } else { try act() }
      if wasLast { node?.lostLastName() }
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
      let status = try FileStatus.of(name, in: folder.descriptor.raw)
      // Nobody stands there: then nobody is replaced. Any other error comes from the rename itself.
      let other = try? FileStatus.of(newName, in: newFolder.descriptor.raw)
      let node = table.find(NodeKey(device: status.device, inode: status.inode))
      let otherNode = other.flatMap { table.find(NodeKey(device: $0.device, inode: $0.inode)) }
      let act = { () throws(Errno) in
        try unsafe name.withCString { name throws(Errno) in
          try unsafe newName.withCString { newName throws(Errno) in
            _ = try check {
              unsafe renameat2(folder.descriptor.raw, name, newFolder.descriptor.raw, newName, flags)
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
      node?.moved(to: newFolder, newName)
      if isExchange {
        otherNode?.moved(to: folder, name)
      } else if (other?.links ?? 0) == 1 {
        otherNode?.lostLastName()
      }
      announce(
        status, node, other, otherNode, folder.path?.appending(name), newFolder.path?.appending(newName), isExchange)
      request.done()
    } catch {
      request.fail(error)
    }
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
