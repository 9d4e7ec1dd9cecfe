public import CLinux
public import Posix

/// What a filesystem answers. Each call owns its request and sees to its answer, now or later.
///
/// Calls come from the session's thread that has the turn, in the order in which the kernel asked, except those that may take long (see
/// `Waits`): their thread has given the turn away.
public protocol Operations: AnyObject, Sendable {
  func lookup(_ request: consuming Request, in parent: NodeID, _ name: FileName)
  func forget(_ node: NodeID, count: UInt64)
  func attributes(_ request: consuming Request, of node: NodeID, handle: UInt64?)
  func change(_ request: consuming Request, _ node: NodeID, _ change: AttributeChange, handle: UInt64?)
  func readLink(_ request: consuming Request, _ node: NodeID)

  func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64)
  func makeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t)
  func makeLink(_ request: consuming Request, in parent: NodeID, _ name: FileName, target: FileName)
  func link(_ request: consuming Request, _ node: NodeID, to parent: NodeID, _ name: FileName)
  func unlink(_ request: consuming Request, in parent: NodeID, _ name: FileName)
  func removeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName)
  func rename(
    _ request: consuming Request, from parent: NodeID, _ name: FileName, to newParent: NodeID, _ newName: FileName,
    flags: UInt32)

  func create(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, flags: CInt)
  /// O_TMPFILE: a document without a name.
  func createNameless(_ request: consuming Request, in parent: NodeID, mode: mode_t, flags: CInt)
  func open(_ request: consuming Request, _ node: NodeID, flags: CInt)
  func release(_ request: consuming Request, _ node: NodeID, handle: UInt64)
  func read(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, count: Int)
  func write(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, _ bytes: UnsafeRawBufferPointer)
  func synchronize(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool)
  func allocate(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, mode: CInt, offset: Int64, length: Int64)
  func copyRange(
    _ request: consuming Request, from: NodeID, handle: UInt64, offset: Int64, to: NodeID, handle: UInt64,
    offset: Int64, count: Int, flags: CInt)
  func seek(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, whence: CInt)

  func openFolder(_ request: consuming Request, _ node: NodeID, flags: CInt)
  func readFolder(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, size: Int, withAttributes: Bool)
  func releaseFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64)
  func synchronizeFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool)

  func fileSystem(_ request: consuming Request, _ node: NodeID)
  /// - Parameter size: bytes that there is room for; 0 asks for the size.
  func attribute(_ request: consuming Request, of node: NodeID, _ name: FileName, size: Int)
  func attributeNames(_ request: consuming Request, of node: NodeID, size: Int)
  func setAttribute(
    _ request: consuming Request, of node: NodeID, _ name: FileName, _ value: UnsafeRawBufferPointer, flags: CInt)
  func removeAttribute(_ request: consuming Request, of node: NodeID, _ name: FileName)
  /// The file attributes of lsattr(1) and chattr(1): `FS_IOC_GETFLAGS` and its kin.
  func control(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, command: UInt32, _ bytes: UnsafeRawBufferPointer,
    room: Int)
}

/// What chmod, chown, utimens and truncate ask for; nil stays as it is.
public struct AttributeChange: Sendable {
  public var mode: mode_t?
  public var user: uid_t?
  public var group: gid_t?
  /// Bytes.
  public var size: Int64?
  public var accessed: TimeChange?
  public var modified: TimeChange?

  public enum TimeChange: Hashable, Sendable {
    case now
    case to(seconds: Int, nanoseconds: Int)
  }

  public var isEmpty: Bool {
    mode == nil && user == nil && group == nil && size == nil && accessed == nil && modified == nil
  }
}
