import CLinux
import Contracts
import Fuse
import Glibc
import Posix

// Opening and releasing documents. Only the session's thread that has the turn comes here, so the counts need no order among themselves; the locks
// are for those who look.
extension Files {
  func create(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, flags: CInt) {
    let caller = request.caller
    do throws(Errno) {
      try refuseViewName(name, in: parent)
      let folder = try table.find(parent)
      var made: SharedDescriptor?
      do throws(Errno) {
        made = try makeDocument(in: folder, name, mode: mode, flags: flags, as: caller)
      } catch .exists where flags & O_EXCL == 0 {
        // In the two-folder form somebody may have made it in the source meanwhile.
        let (node, status) = try holdOpen(in: folder, name)
        let file = try openHeld(node) { () throws(Errno) in try open(node, flags: flags, as: caller) }
        return finishCreate(request, node, status, file)
      }
      let (node, status) = try holdOpen(in: folder, name)
      let file = try openHeld(node) { () throws(Errno) in
        try open(node, flags: flags, as: caller, made: made, isNew: true)
      }
      finishCreate(request, node, status, file)
    } catch {
      request.fail(error)
    }
  }

  /// O_TMPFILE. It may get its first name by linkat(2), which makes it a document.
  func createNameless(_ request: consuming Request, in parent: NodeID, mode: mode_t, flags: CInt) {
    let caller = request.caller
    do throws(Errno) {
      let folder = try table.find(parent).open()
      // Whether it may be linked is the kernel's business: it knows O_EXCL.
      let kept = OpenFile.reopening(flags) & ~O_NONBLOCK | CInt(O_TMPFILE)
      let made = try Credentials.acting(as: caller, mode: mode) { () throws(Errno) -> SharedDescriptor in
        SharedDescriptor(try Descriptor.open(at: folder.raw, FileName("."), kept, mode: mode & 0o7777))
      }
      let status = try made.descriptor.status()
      let node = hold(status, in: nil, FileName(""))
      let file = try openHeld(node) { () throws(Errno) in
        node.adopt(try Descriptor.reopen(made.raw, CInt(O_PATH)))
        // The kernel opens backing files with the caller's flags, of which O_TMPFILE asks for a folder.
        return try open(node, flags: flags, as: caller, made: made, isNew: true, mayPassThrough: false)
      }
      finishCreate(request, node, status, file)
    } catch {
      request.fail(error)
    }
  }

  /// Opens a node that was held for the kernel; where that fails, it is not.
  private func openHeld(_ node: Node, _ body: () throws(Errno) -> OpenFile) throws(Errno) -> OpenFile {
    do throws(Errno) { return try body() } catch {
      release(node.id, count: 1)
      throw error
    }
  }

  private func finishCreate(_ request: consuming Request, _ node: Node, _ status: FileStatus, _ file: OpenFile) {
    let handle = file.handle()
    if !request.created(entry(node, status), reply(file, handle)) {
      closed(handle)
      release(node.id, count: 1)
    }
  }

  /// - Returns: a descriptor with the rights asked for, where data goes through us: a file without any permission can still be
  ///   written by who made it.
  private func makeDocument(
    in folder: Node, _ name: FileName, mode: mode_t, flags: CInt, as caller: Caller
  ) throws(Errno) -> SharedDescriptor? {
    let passes = passesThrough
    let folder = try folder.open()
    return try Credentials.acting(as: caller, mode: mode) { () throws(Errno) -> SharedDescriptor? in
      if passes {
        try unsafe name.withCString { name throws(Errno) in
          _ = try check { unsafe mknodat(folder.raw, name, S_IFREG | mode & 0o7777, 0) }
        }
        return nil
      }
      let flags = OpenFile.reopening(flags) | O_CREAT | O_EXCL | O_NOFOLLOW
      return SharedDescriptor(try Descriptor.open(at: folder.raw, name, flags, mode: mode & 0o7777))
    }
  }

  /// - Parameter isMirrored: opened under the number of a mirror's node, whose pages nobody keeps true: data that goes through us passes them by.
  func open(_ request: consuming Request, _ node: NodeID, flags: CInt, isMirrored: Bool = false) {
    do throws(Errno) {
      let file = try open(try table.find(node), flags: flags, as: request.caller)
      let handle = file.handle()
      if isMirrored && !file.isPassthrough {
        request.opened(OpenReply(handle: handle, flags: .directIO))
      } else {
        request.opened(reply(file, handle))
      }
    } catch {
      request.fail(error)
    }
  }

  private func reply(_ file: OpenFile, _ handle: UInt64) -> OpenReply {
    if file.isPassthrough, let number = file.node.withBacking({ $0.number }) {
      return OpenReply(handle: handle, flags: .passthrough, backing: number)
    }
    // Pages stay valid where nothing can write but through us; mixed with passthrough, something can.
    return OpenReply(handle: handle, flags: settings.isExclusive && !passesThrough ? .keepCache : [])
  }

  private func open(
    _ node: Node, flags: CInt, as caller: Caller, made: SharedDescriptor? = nil, isNew: Bool = false,
    mayPassThrough: Bool = true
  ) throws(Errno) -> OpenFile {
    let held = try node.pin()
    do throws(Errno) {
      return try open(
        node, held.raw, flags: flags, as: caller, made: made, isNew: isNew,
        mayPassThrough: mayPassThrough && passesThrough)
    } catch {
      node.unpin()
      throw error
    }
  }

  private func open(
    _ node: Node, _ raw: CInt, flags: CInt, as caller: Caller, made: SharedDescriptor?, isNew: Bool,
    mayPassThrough: Bool
  ) throws(Errno) -> OpenFile {
    let isWriter = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
    var before: FileStatus?
    if isWriter && !isNew {
      let status = try node.status()
      // Under passthrough the kernel asks nobody whether a file with these attributes may be opened so.
      if status.isImmutable || (status.isAppendOnly && (flags & O_APPEND == 0 || flags & O_TRUNC != 0)) {
        throw .notPermitted
      }
      before = status
    }
    let isPassthrough =
      if let before, before.hasSetID {
        try Credentials.inGroup(of: caller) { () throws(Errno) in
          try attach(node, raw, mayPassThrough: mayPassThrough)
        }
      } else {
        try attach(node, raw, mayPassThrough: mayPassThrough)
      }
    if isWriter {
      let mayBeMapped = isPassthrough && flags & O_ACCMODE == O_RDWR
      streams.begin(node, before: isNew ? nil : before, mayBeMapped: mayBeMapped)
      // From now on it has to ask; see `lifetime`.
      if let before, mayBeMapped || before.hasSetID { session.withLock { $0 }?.forgetAttributes(of: node.id) }
    }
    do throws(Errno) {
      var descriptor = made
      if flags & O_TRUNC != 0 && !isNew {
        try Credentials.changing(as: caller) { () throws(Errno) in
          try unsafe FileName.ofDescriptor(raw).withCString { path throws(Errno) in
            _ = try check { unsafe truncate(path, 0) }
          }
        }
      }
      if !isPassthrough && descriptor == nil {
        descriptor = SharedDescriptor(try OpenFile.reopen(raw, flags))
      }
      return OpenFile(
        node: node, flags: flags, isPassthrough: isPassthrough, isWriter: isWriter, descriptor: descriptor)
    } catch {
      if isWriter { streams.end(node) }
      detach(node)
      throw error
    }
  }

  func release(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    // Counted before it is answered, and before any later request is looked at.
    closed(handle)
    request.done()
  }

  private func closed(_ handle: UInt64) {
    let file = OpenFile.take(handle)
    file.close()
    detach(file.node)
    if file.isWriter { streams.end(file.node) }
    file.node.unpin()
  }

  private var passesThrough: Bool { session.withLock { $0?.hasPassthrough ?? false } }

  /// Counts one more open and decides how its data goes: as that of the inode's other handles, else by passthrough where the kernel lets us.
  private func attach(_ node: Node, _ raw: CInt, mayPassThrough: Bool) throws(Errno) -> Bool {
    let (isFirst, isPassthrough) = node.withBacking { backing in
      backing.opens += 1
      return (backing.opens == 1, backing.number != nil)
    }
    guard isFirst, mayPassThrough, node.kind == .regular, let session = session.withLock({ $0 }) else {
      return isPassthrough
    }
    do throws(Errno) {
      let number = try session.openBacking(raw)
      node.withBacking { $0.number = number }
      return true
    } catch {
      // Not privileged, or a file system that is itself such a layer: the data goes through us, and status says why.
      passthroughError.withLock { $0 = error }
      return false
    }
  }

  private func detach(_ node: Node) {
    let number: Int32? = node.withBacking { backing in
      backing.opens -= 1
      guard backing.opens == 0 else { return nil }
      defer { backing.number = nil }
      return backing.number
    }
    guard let number, let session = session.withLock({ $0 }) else { return }
    do throws(Errno) { try session.closeBacking(number) } catch { passthroughError.withLock { $0 = error } }
  }
}
