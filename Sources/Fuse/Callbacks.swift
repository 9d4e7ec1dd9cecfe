import CFuse
import CLinux
import Posix

// What libfuse calls: unwrap, call, done. Each callback is a top-level function, since a closure handed to C would be bound to the
// thread that wrote it down.

private func operations(_ request: fuse_req_t?) -> any Operations {
  unsafe Unmanaged<Session>.fromOpaque(fuse_req_userdata(request)!).takeUnretainedValue().operations
}

@c func onInit(_ session: UnsafeMutableRawPointer?, _ connection: UnsafeMutablePointer<fuse_conn_info>?) {
  unsafe Unmanaged<Session>.fromOpaque(session!).takeUnretainedValue().negotiate(connection!)
}

@c func onLookup(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  unsafe operations(request).lookup(Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!))
}

@c func onForget(_ request: fuse_req_t?, _ node: fuse_ino_t, _ count: UInt64) {
  unsafe operations(request).forget(NodeID(UInt64(node)), count: count)
  unsafe Request(request!).none()
}

@c func onForgetMany(_ request: fuse_req_t?, _ count: Int, _ forgets: UnsafeMutablePointer<fuse_forget_data>?) {
  let operations = unsafe operations(request)
  for index in 0..<count {
    let forget = unsafe forgets![index]
    operations.forget(NodeID(UInt64(forget.ino)), count: forget.nlookup)
  }
  unsafe Request(request!).none()
}

@c func onGetattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ file: UnsafeMutablePointer<fuse_file_info>?) {
  unsafe operations(request).attributes(Request(request!), of: NodeID(UInt64(node)), handle: file?.pointee.fh)
}

@c func onSetattr(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ wanted: UnsafeMutablePointer<stat>?, _ which: CInt,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  let wanted = unsafe wanted!.pointee
  func has(_ flag: CInt) -> Bool { which & flag != 0 }
  func time(_ now: CInt, _ given: CInt, _ time: timespec) -> AttributeChange.TimeChange? {
    if has(now) { return .now }
    return has(given) ? .to(seconds: time.tv_sec, nanoseconds: time.tv_nsec) : nil
  }
  var change = AttributeChange()
  if has(FUSE_SET_ATTR_MODE) { change.mode = wanted.st_mode & 0o7777 }
  if has(FUSE_SET_ATTR_UID) { change.user = wanted.st_uid }
  if has(FUSE_SET_ATTR_GID) { change.group = wanted.st_gid }
  if has(FUSE_SET_ATTR_SIZE) { change.size = Int64(wanted.st_size) }
  change.accessed = time(FUSE_SET_ATTR_ATIME_NOW, FUSE_SET_ATTR_ATIME, wanted.st_atim)
  change.modified = time(FUSE_SET_ATTR_MTIME_NOW, FUSE_SET_ATTR_MTIME, wanted.st_mtim)
  unsafe operations(request).change(Request(request!), NodeID(UInt64(node)), change, handle: file?.pointee.fh)
}

@c func onReadlink(_ request: fuse_req_t?, _ node: fuse_ino_t) {
  unsafe operations(request).readLink(Request(request!), NodeID(UInt64(node)))
}

@c func onMknod(
  _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t, _ device: dev_t
) {
  unsafe operations(request).makeNode(
    Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!), mode: mode, device: UInt64(device))
}

@c func onMkdir(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t) {
  unsafe operations(request).makeFolder(
    Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!), mode: mode)
}

@c func onSymlink(
  _ request: fuse_req_t?, _ target: UnsafePointer<CChar>?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?
) {
  unsafe operations(request).makeLink(
    Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!), target: FileName(cString: target!))
}

@c func onLink(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?
) {
  unsafe operations(request).link(
    Request(request!), NodeID(UInt64(node)), to: NodeID(UInt64(parent)), FileName(cString: name!))
}

@c func onUnlink(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  unsafe operations(request).unlink(Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!))
}

@c func onRmdir(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  unsafe operations(request).removeFolder(Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!))
}

@c func onRename(
  _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ newParent: fuse_ino_t,
  _ newName: UnsafePointer<CChar>?, _ flags: UInt32
) {
  unsafe operations(request).rename(
    Request(request!), from: NodeID(UInt64(parent)), FileName(cString: name!), to: NodeID(UInt64(newParent)),
    FileName(cString: newName!), flags: flags)
}

@c func onCreate(
  _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).create(
    Request(request!), in: NodeID(UInt64(parent)), FileName(cString: name!), mode: mode, flags: file!.pointee.flags)
}

@c func onOpen(_ request: fuse_req_t?, _ node: fuse_ino_t, _ file: UnsafeMutablePointer<fuse_file_info>?) {
  unsafe operations(request).open(Request(request!), NodeID(UInt64(node)), flags: file!.pointee.flags)
}

@c func onRelease(_ request: fuse_req_t?, _ node: fuse_ino_t, _ file: UnsafeMutablePointer<fuse_file_info>?) {
  unsafe operations(request).release(Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh)
}

@c func onRead(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ count: Int, _ offset: off_t,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).read(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, offset: Int64(offset), count: count)
}

@c func onWrite(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ bytes: UnsafePointer<CChar>?, _ count: Int, _ offset: off_t,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).write(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, offset: Int64(offset),
    UnsafeRawBufferPointer(start: bytes, count: count))
}

@c func onFsync(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ dataOnly: CInt, _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).synchronize(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, dataOnly: dataOnly != 0)
}

@c func onFallocate(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ mode: CInt, _ offset: off_t, _ length: off_t,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).allocate(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, mode: mode, offset: Int64(offset),
    length: Int64(length))
}

@c func onCopyFileRange(
  _ request: fuse_req_t?, _ from: fuse_ino_t, _ fromOffset: off_t, _ fromFile: UnsafeMutablePointer<fuse_file_info>?,
  _ to: fuse_ino_t, _ toOffset: off_t, _ toFile: UnsafeMutablePointer<fuse_file_info>?, _ count: Int, _ flags: CInt
) {
  unsafe operations(request).copyRange(
    Request(request!), from: NodeID(UInt64(from)), handle: fromFile!.pointee.fh, offset: Int64(fromOffset),
    to: NodeID(UInt64(to)), handle: toFile!.pointee.fh, offset: Int64(toOffset), count: count, flags: flags)
}

@c func onLseek(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ offset: off_t, _ whence: CInt,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).seek(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, offset: Int64(offset), whence: whence)
}

@c func onOpendir(_ request: fuse_req_t?, _ node: fuse_ino_t, _ file: UnsafeMutablePointer<fuse_file_info>?) {
  unsafe operations(request).openFolder(Request(request!), NodeID(UInt64(node)), flags: file!.pointee.flags)
}

@c func onReaddir(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int, _ offset: off_t,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).readFolder(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, offset: Int64(offset), size: size,
    withAttributes: false)
}

@c func onReaddirplus(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int, _ offset: off_t,
  _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).readFolder(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, offset: Int64(offset), size: size,
    withAttributes: true)
}

@c func onReleasedir(_ request: fuse_req_t?, _ node: fuse_ino_t, _ file: UnsafeMutablePointer<fuse_file_info>?) {
  unsafe operations(request).releaseFolder(Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh)
}

@c func onFsyncdir(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ dataOnly: CInt, _ file: UnsafeMutablePointer<fuse_file_info>?
) {
  unsafe operations(request).synchronizeFolder(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, dataOnly: dataOnly != 0)
}

@c func onStatfs(_ request: fuse_req_t?, _ node: fuse_ino_t) {
  unsafe operations(request).fileSystem(Request(request!), NodeID(UInt64(node)))
}

@c func onGetxattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ size: Int) {
  unsafe operations(request).attribute(
    Request(request!), of: NodeID(UInt64(node)), FileName(cString: name!), size: size)
}

@c func onListxattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int) {
  unsafe operations(request).attributeNames(Request(request!), of: NodeID(UInt64(node)), size: size)
}

@c func onSetxattr(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?,
  _ size: Int, _ flags: CInt
) {
  unsafe operations(request).setAttribute(
    Request(request!), of: NodeID(UInt64(node)), FileName(cString: name!),
    UnsafeRawBufferPointer(start: value, count: size), flags: flags)
}

@c func onRemovexattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  unsafe operations(request).removeAttribute(
    Request(request!), of: NodeID(UInt64(node)), FileName(cString: name!))
}

@c func onIoctl(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ command: UInt32, _ argument: UnsafeMutableRawPointer?,
  _ file: UnsafeMutablePointer<fuse_file_info>?, _ flags: UInt32, _ input: UnsafeRawPointer?, _ inputSize: Int,
  _ outputSize: Int
) {
  unsafe operations(request).control(
    Request(request!), NodeID(UInt64(node)), handle: file!.pointee.fh, command: command,
    UnsafeRawBufferPointer(start: input, count: inputSize), room: outputSize)
}

/// All of them. What is missing is answered ENOSYS, after which the kernel does without: flush (an extra round trip for every
/// close of every duplicate), locks (it keeps them itself, as for a local disk), access (it knows the modes).
func callbacks() -> fuse_lowlevel_ops {
  var all = fuse_lowlevel_ops()
  unsafe all.`init` = onInit
  unsafe all.lookup = onLookup
  unsafe all.forget = onForget
  unsafe all.forget_multi = onForgetMany
  unsafe all.getattr = onGetattr
  unsafe all.setattr = onSetattr
  unsafe all.readlink = onReadlink
  unsafe all.mknod = onMknod
  unsafe all.mkdir = onMkdir
  unsafe all.symlink = onSymlink
  unsafe all.link = onLink
  unsafe all.unlink = onUnlink
  unsafe all.rmdir = onRmdir
  unsafe all.rename = onRename
  unsafe all.create = onCreate
  unsafe all.open = onOpen
  unsafe all.release = onRelease
  unsafe all.read = onRead
  unsafe all.write = onWrite
  unsafe all.fsync = onFsync
  unsafe all.fallocate = onFallocate
  unsafe all.copy_file_range = onCopyFileRange
  unsafe all.lseek = onLseek
  unsafe all.opendir = onOpendir
  unsafe all.readdir = onReaddir
  unsafe all.readdirplus = onReaddirplus
  unsafe all.releasedir = onReleasedir
  unsafe all.fsyncdir = onFsyncdir
  unsafe all.statfs = onStatfs
  unsafe all.getxattr = onGetxattr
  unsafe all.listxattr = onListxattr
  unsafe all.setxattr = onSetxattr
  unsafe all.removexattr = onRemovexattr
  unsafe all.ioctl = onIoctl
  return all
}
