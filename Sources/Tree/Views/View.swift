import CLinux
import Fuse
import Posix

/// A virtual tree that stands in the share's root under a name of its own. It is read-only: what would change it is refused here, once
/// for all views.
protocol View: Operations {
  /// Whether the root's listing shows it, now.
  var isListed: Bool { get }
  /// Its root's attributes; nil while it is not to be seen.
  func rootStatus() -> FileStatus?
  /// Its root, counted as looked up; nil while it is not to be seen.
  func holdRoot() -> Entry?
}

extension View {
  func readLink(_ request: consuming Request, _ node: NodeID) { request.fail(.invalid) }

  func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64) {
    request.fail(.readOnly)
  }
  func makeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t) {
    request.fail(.readOnly)
  }
  func makeLink(_ request: consuming Request, in parent: NodeID, _ name: FileName, target: FileName) {
    request.fail(.readOnly)
  }
  func link(_ request: consuming Request, _ node: NodeID, to parent: NodeID, _ name: FileName) {
    request.fail(.readOnly)
  }
  func rename(
    _ request: consuming Request, from parent: NodeID, _ name: FileName, to newParent: NodeID, _ newName: FileName,
    flags: UInt32
  ) { request.fail(.readOnly) }
  func create(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, flags: CInt) {
    request.fail(.readOnly)
  }
  func createNameless(_ request: consuming Request, in parent: NodeID, mode: mode_t, flags: CInt) {
    request.fail(.readOnly)
  }
  func write(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, _ bytes: UnsafeRawBufferPointer
  ) { request.fail(.readOnly) }
  func allocate(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, mode: CInt, offset: Int64, length: Int64
  ) { request.fail(.readOnly) }
  func copyRange(
    _ request: consuming Request, from: NodeID, handle: UInt64, offset: Int64, to: NodeID, handle toHandle: UInt64,
    offset toOffset: Int64, count: Int, flags: CInt
  ) {
    // The caller falls back to reading and writing.
    request.fail(.crossDevice)
  }
  func synchronize(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) { request.done() }
  func synchronizeFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) {
    request.done()
  }

  func attribute(_ request: consuming Request, of node: NodeID, _ name: FileName, size: Int) { request.fail(.noData) }
  func attributeNames(_ request: consuming Request, of node: NodeID, size: Int) {
    if size == 0 {
      request.attributeSize(0)
    } else {
      unsafe request.bytes(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
  func setAttribute(
    _ request: consuming Request, of node: NodeID, _ name: FileName, _ value: UnsafeRawBufferPointer, flags: CInt
  ) { request.fail(.notSupported) }
  func removeAttribute(_ request: consuming Request, of node: NodeID, _ name: FileName) { request.fail(.noData) }
  func control(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, command: UInt32, _ bytes: UnsafeRawBufferPointer,
    room: Int
  ) { request.fail(.noTerminal) }
}
