import CLinux
import Fuse
import Glibc
import Posix

// What goes through open handles. Under passthrough the kernel reads and writes without us.
extension Files {
  func read(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, count: Int) {
    do throws(Errno) {
      let file = try OpenFile.at(handle).file()
      let buffer = readBuffers.take(count)
      defer { readBuffers.giveBack(buffer) }
      let got = try check { unsafe pread(file.raw, buffer.room.baseAddress, count, off_t(offset)) }
      unsafe request.bytes(UnsafeRawBufferPointer(rebasing: buffer.room[..<got]))
    } catch {
      request.fail(error)
    }
  }

  func write(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, _ bytes: UnsafeRawBufferPointer
  ) {
    do throws(Errno) {
      let file = try OpenFile.at(handle).file()
      let written = try Credentials.changing(as: request.caller) { () throws(Errno) in
        try check { unsafe pwrite(file.raw, bytes.baseAddress, bytes.count, off_t(offset)) }
      }
      request.written(written)
    } catch {
      request.fail(error)
    }
  }

  func synchronize(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) {
    do throws(Errno) {
      let file = try OpenFile.at(handle).file()
      try check { dataOnly ? fdatasync(file.raw) : fsync(file.raw) }
      request.done()
    } catch {
      request.fail(error)
    }
  }

  func allocate(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, mode: CInt, offset: Int64, length: Int64
  ) {
    do throws(Errno) {
      let file = try OpenFile.at(handle).file()
      try Credentials.changing(as: request.caller) { () throws(Errno) in
        _ = try check { fallocate(file.raw, mode, off_t(offset), off_t(length)) }
      }
      request.done()
    } catch {
      request.fail(error)
    }
  }

  func copyRange(
    _ request: consuming Request, from: NodeID, handle: UInt64, offset: Int64, to: NodeID,
    handle toHandle: UInt64, offset toOffset: Int64, count: Int, flags: CInt
  ) {
    do throws(Errno) {
      let source = try OpenFile.at(handle).file()
      let target = try OpenFile.at(toHandle).file()
      var (here, there) = (off_t(offset), off_t(toOffset))
      let copied = try Credentials.changing(as: request.caller) { () throws(Errno) in
        try check { unsafe copy_file_range(source.raw, &here, target.raw, &there, count, UInt32(bitPattern: flags)) }
      }
      request.written(copied)
    } catch {
      request.fail(error)
    }
  }

  func seek(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, whence: CInt) {
    do throws(Errno) {
      // Holes are asked of a descriptor of its own: its position is nobody else's.
      let held = try table.find(node).open()
      let file = try Descriptor.reopen(held.raw, O_RDONLY | O_NONBLOCK)
      let raw = file.raw
      request.offset(Int64(try check { lseek(raw, off_t(offset), whence) }))
    } catch {
      request.fail(error)
    }
  }
}
