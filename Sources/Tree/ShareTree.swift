public import CLinux
public import Contracts
public import Fuse
public import Posix

/// The filesystem of one share: the user's files and the views beside them. It sends every operation to whoever owns the node.
public final class ShareTree: Sendable {
  let files: Files
  let thumbs: Thumbs?
  let ready: Ready?
  let scoped: Scoped
  private let watch: MappingWatch?
  private let watchers: Watchers

  /// - Parameters:
  ///   - source: an O_PATH descriptor of the backing folder, opened before it was covered by the mount.
  ///   - passthrough: whether passthrough will be asked for.
  ///   - pages: makes the page in each folder of the thumbnails; nil for none.
  public init(
    source: consuming Descriptor, settings: TreeSettings, passthrough: Bool, settled: any Settled,
    projection: any Projection, pages: (any Pages)? = nil
  ) throws(Errno) {
    let status = try source.status()
    let thumbsName = ShareTree.freeName(".thumbs", in: source.raw)
    let readyName = ShareTree.freeName(".ready", in: source.raw)
    let scopedName = ShareTree.freeName(".scoped", in: source.raw)
    let cache = DescriptorCache(capacity: settings.keptDescriptors)
    let root = Node(
      id: .root, status: status, rootDevice: status.device, cache: cache, parent: nil, name: FileName("."))
    root.adopt(source)
    let table = NodeTable(root: root)
    watch = passthrough ? try MappingWatch() : nil
    let listener = FolderListener(settled)
    let settled: any Settled = listener
    watchers = Watchers(seesAll: settings.seesAllProcesses)
    let streams = WriteStreams(table: table, settled: settled, watch: watch)
    thumbs =
      settings.thumbs == .off
      ? nil
      : Thumbs(
        table: table, streams: streams, settled: settled, projection: projection, settings: settings,
        name: thumbsName, watchers: watchers, pages: pages)
    ready =
      settings.ready == .off
      ? nil
      : Ready(
        table: table, streams: streams, settled: settled, projection: projection, settings: settings, name: readyName,
        watchers: watchers)
    scoped = Scoped(table: table, name: scopedName)
    var views: [FileName: any View] = [scoped.name: scoped]
    if let thumbs { views[thumbs.name] = thumbs }
    if let ready { views[ready.name] = ready }
    files = Files(
      root: root, table: table, settled: settled, streams: streams, settings: settings, views: views, cache: cache)
    listener.thumbs.withLock { [thumbs] in $0 = thumbs }
    thumbs?.files.withLock { [files] in $0 = files }
    ready?.joined.withLock { [files] in $0 = files }
    scoped.joined.withLock { [files] in $0 = files }
  }

  /// The name under which a view stands in the root: another one where the user has something of that name.
  private static func freeName(_ usual: String, in source: CInt) -> FileName {
    for ending in ["", "-sharefs", "-sharefs-2", "-sharefs-3"] {
      // Only what certainly is not there is free.
      do throws(Errno) { _ = try FileStatus.of(FileName(usual + ending), in: source) } catch {
        if error == .noEntry { return FileName(usual + ending) }
      }
    }
    return FileName(usual + "-sharefs-4")
  }

  /// The name of the thumbnails' folder in the root; nil when there is none.
  public var thumbsName: FileName? { thumbs?.name }

  /// Before `Session.run`.
  public func attach(_ session: Session) {
    files.session.withLock { $0 = session }
    thumbs?.start()
    ready?.start()
  }

  /// After `Session.close`: threads end, the session is let go.
  public func detach() {
    thumbs?.stop()
    ready?.stop()
    watch?.stop()
    files.stop()
    files.session.withLock { $0 = nil }
  }

  /// Why the kernel refused to pass a file through, the last time it did.
  public var passthroughError: Errno? { files.passthroughError.withLock { $0 } }

  /// Whether a document has a writer, or a mapping that may still be written through.
  public func isBeingWritten(_ file: FileID) -> Bool {
    let device = file.volume == 0 ? files.rootDevice : file.volume
    return files.streams.isBeingWritten(NodeKey(device: device, inode: file.inode))
  }

  /// How many handles that may write are open.
  public func writers(of file: FileID) -> Int {
    let device = file.volume == 0 ? files.rootDevice : file.volume
    return files.streams.writers(of: NodeKey(device: device, inode: file.inode))
  }

  /// How many inodes are held for the kernel.
  public var nodeCount: Int { files.table.count }

  private func owner(_ node: NodeID) -> (any View)? {
    switch ViewNumber(node) {
    case .thumbs?: thumbs
    case .ready?: ready
    case .scoped?: scoped
    case nil: nil
    }
  }

  /// Lets a program that knows `key` reach one document or folder, by the path that is returned, relative to the mount.
  /// - Parameters:
  ///   - file: who must stand at `path`; ENOENT when it does not.
  ///   - until: nil for as long as the share is mounted.
  public func startAccess(
    _ key: FileName, at path: SharePath, _ file: FileID, isReadOnly: Bool, until: Clock.Instant?
  ) throws(Errno) -> SharePath {
    try scoped.start(key, at: path, file, isReadOnly: isReadOnly, until: until)
    return SharePath.root.appending(scoped.name).appending(key).appending(path.name ?? FileName("share"))
  }

  /// - Returns: false when there is no such access, or it is over.
  public func stopAccess(_ key: FileName) -> Bool { scoped.stop(key) }
}

extension ShareTree: ProjectionObserver {
  public func pictureChanged(of document: Document, old: Picture?, new: Picture?) {
    thumbs?.pictureChanged(of: document, old: old, new: new)
  }

  public func wholenessChanged(of document: Document, isWhole: Bool) {
    ready?.changed(document, isWhole: isWhole)
  }
}

extension ShareTree: Operations {
  public func lookup(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    if let view = owner(parent) {
      watchers.asked(by: request.caller.thread)
      return view.lookup(request, in: parent, name)
    }
    if parent == .root, let view = files.views[name] {
      watchers.asked(by: request.caller.thread)
      guard let entry = view.holdRoot() else { return request.absent(lifetime: 0) }
      if !request.entry(entry) { view.forget(entry.node, count: 1) }
      return
    }
    files.lookup(request, in: parent, name)
  }

  public func forget(_ node: NodeID, count: UInt64) {
    if let view = owner(node) { view.forget(node, count: count) } else { files.forget(node, count: count) }
  }

  public func attributes(_ request: consuming Request, of node: NodeID, handle: UInt64?) {
    if let view = owner(node) {
      watchers.asked(by: request.caller.thread)
      return view.attributes(request, of: node, handle: handle)
    }
    files.attributes(request, of: node, handle: handle)
  }

  public func change(_ request: consuming Request, _ node: NodeID, _ change: AttributeChange, handle: UInt64?) {
    if let view = owner(node) { return view.change(request, node, change, handle: handle) }
    files.change(request, node, change, handle: handle)
  }

  public func readLink(_ request: consuming Request, _ node: NodeID) {
    if let view = owner(node) { return view.readLink(request, node) }
    files.readLink(request, node)
  }

  public func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64)
  {
    if let view = owner(parent) { return view.makeNode(request, in: parent, name, mode: mode, device: device) }
    files.makeNode(request, in: parent, name, mode: mode, device: device)
  }

  public func makeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t) {
    if let view = owner(parent) { return view.makeFolder(request, in: parent, name, mode: mode) }
    files.makeFolder(request, in: parent, name, mode: mode)
  }

  public func makeLink(_ request: consuming Request, in parent: NodeID, _ name: FileName, target: FileName) {
    if let view = owner(parent) { return view.makeLink(request, in: parent, name, target: target) }
    files.makeLink(request, in: parent, name, target: target)
  }

  public func link(_ request: consuming Request, _ node: NodeID, to parent: NodeID, _ name: FileName) {
    if node.isInView || parent.isInView { return request.fail(.readOnly) }
    files.link(request, node, to: parent, name)
  }

  public func unlink(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    if let view = owner(parent) { return view.unlink(request, in: parent, name) }
    files.unlink(request, in: parent, name)
  }

  public func removeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    if let view = owner(parent) { return view.removeFolder(request, in: parent, name) }
    if parent == .root, let thumbs, name == thumbs.name { return thumbs.removeRoot(request) }
    if parent == .root && files.views[name] != nil { return request.fail(.readOnly) }
    files.removeFolder(request, in: parent, name)
  }

  public func rename(
    _ request: consuming Request, from parent: NodeID, _ name: FileName, to newParent: NodeID, _ newName: FileName,
    flags: UInt32
  ) {
    let movesView = parent == .root && files.views[name] != nil
    if parent.isInView || newParent.isInView || movesView { return request.fail(.readOnly) }
    files.rename(request, from: parent, name, to: newParent, newName, flags: flags)
  }

  public func create(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, flags: CInt) {
    if let view = owner(parent) { return view.create(request, in: parent, name, mode: mode, flags: flags) }
    files.create(request, in: parent, name, mode: mode, flags: flags)
  }

  public func createNameless(_ request: consuming Request, in parent: NodeID, mode: mode_t, flags: CInt) {
    if let view = owner(parent) { return view.createNameless(request, in: parent, mode: mode, flags: flags) }
    files.createNameless(request, in: parent, mode: mode, flags: flags)
  }

  public func open(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    if let view = owner(node) { return view.open(request, node, flags: flags) }
    files.open(request, node, flags: flags)
  }

  public func release(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    if let view = owner(node) { return view.release(request, node, handle: handle) }
    files.release(request, node, handle: handle)
  }

  public func read(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, count: Int) {
    if let view = owner(node) { return view.read(request, node, handle: handle, offset: offset, count: count) }
    files.read(request, node, handle: handle, offset: offset, count: count)
  }

  public func write(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, _ bytes: UnsafeRawBufferPointer
  ) {
    if let view = owner(node) { return unsafe view.write(request, node, handle: handle, offset: offset, bytes) }
    unsafe files.write(request, node, handle: handle, offset: offset, bytes)
  }

  public func synchronize(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) {
    if let view = owner(node) { return view.synchronize(request, node, handle: handle, dataOnly: dataOnly) }
    files.synchronize(request, node, handle: handle, dataOnly: dataOnly)
  }

  public func allocate(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, mode: CInt, offset: Int64, length: Int64
  ) {
    if let view = owner(node) {
      return view.allocate(request, node, handle: handle, mode: mode, offset: offset, length: length)
    }
    files.allocate(request, node, handle: handle, mode: mode, offset: offset, length: length)
  }

  public func copyRange(
    _ request: consuming Request, from: NodeID, handle: UInt64, offset: Int64, to: NodeID, handle toHandle: UInt64,
    offset toOffset: Int64, count: Int, flags: CInt
  ) {
    // Not between different kinds of things: the caller falls back to reading and writing.
    if from.isInView || to.isInView { return request.fail(.crossDevice) }
    files.copyRange(
      request, from: from, handle: handle, offset: offset, to: to, handle: toHandle, offset: toOffset, count: count,
      flags: flags)
  }

  public func seek(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, whence: CInt) {
    if let view = owner(node) { return view.seek(request, node, handle: handle, offset: offset, whence: whence) }
    files.seek(request, node, handle: handle, offset: offset, whence: whence)
  }

  public func openFolder(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    if let view = owner(node) { return view.openFolder(request, node, flags: flags) }
    files.openFolder(request, node, flags: flags)
  }

  public func readFolder(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, size: Int, withAttributes: Bool
  ) {
    if let view = owner(node) {
      return view.readFolder(
        request, node, handle: handle, offset: offset, size: size, withAttributes: withAttributes)
    }
    files.readFolder(request, node, handle: handle, offset: offset, size: size, withAttributes: withAttributes)
  }

  public func releaseFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    if let view = owner(node) { return view.releaseFolder(request, node, handle: handle) }
    files.releaseFolder(request, node, handle: handle)
  }

  public func synchronizeFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) {
    if let view = owner(node) { return view.synchronizeFolder(request, node, handle: handle, dataOnly: dataOnly) }
    files.synchronizeFolder(request, node, handle: handle, dataOnly: dataOnly)
  }

  public func fileSystem(_ request: consuming Request, _ node: NodeID) {
    files.fileSystem(request, node.isInView ? .root : node)
  }

  public func attribute(_ request: consuming Request, of node: NodeID, _ name: FileName, size: Int) {
    if let view = owner(node) { return view.attribute(request, of: node, name, size: size) }
    files.attribute(request, of: node, name, size: size)
  }

  public func attributeNames(_ request: consuming Request, of node: NodeID, size: Int) {
    if let view = owner(node) { return view.attributeNames(request, of: node, size: size) }
    files.attributeNames(request, of: node, size: size)
  }

  public func setAttribute(
    _ request: consuming Request, of node: NodeID, _ name: FileName, _ value: UnsafeRawBufferPointer, flags: CInt
  ) {
    if let view = owner(node) { return unsafe view.setAttribute(request, of: node, name, value, flags: flags) }
    unsafe files.setAttribute(request, of: node, name, value, flags: flags)
  }

  public func removeAttribute(_ request: consuming Request, of node: NodeID, _ name: FileName) {
    if let view = owner(node) { return view.removeAttribute(request, of: node, name) }
    files.removeAttribute(request, of: node, name)
  }

  public func control(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, command: UInt32, _ bytes: UnsafeRawBufferPointer,
    room: Int
  ) {
    if let view = owner(node) {
      return unsafe view.control(request, node, handle: handle, command: command, bytes, room: room)
    }
    unsafe files.control(request, node, handle: handle, command: command, bytes, room: room)
  }
}
