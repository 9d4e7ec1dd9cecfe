import CLinux
import Glibc

/// Copying the content of one file to another, by the cheapest way that both allow.
extension Descriptor {
  /// Makes this empty file share the other's blocks, where both stand on one file system that can (a reflink).
  /// - Returns: false where it cannot.
  public func clone(from source: borrowing Descriptor) throws(Errno) -> Bool {
    let (raw, other) = (self.raw, source.raw)
    do throws(Errno) {
      try check { unsafe clinux_ioctl(raw, 0x4004_9409, UnsafeMutableRawPointer(bitPattern: UInt(other))) }  // FICLONE
      return true
    } catch {
      switch error.rawValue {
      case EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS, EPERM, EISDIR, ETXTBSY: return false
      default: throw error
      }
    }
  }

  /// Copies to the end of the source, both at their own positions.
  /// - Parameter progress: told of every so many bytes that are copied.
  /// - Returns: bytes.
  public func copy(from source: borrowing Descriptor, progress: (Int) -> Void) throws(Errno) -> Int64 {
    var total: Int64 = 0
    var inKernel = true
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let (raw, other) = (self.raw, source.raw)
      var count = 0
      if inKernel {
        do throws(Errno) {
          count = try check { copy_file_range(other, nil, raw, nil, 8 << 20, 0) }
        } catch {
          switch error.rawValue {
          case EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM: inKernel = false
          default: throw error
          }
        }
        // Some file systems answer 0 though there is more: reading tells.
        if count == 0 { inKernel = false }
      }
      if !inKernel {
        count = try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
          try unsafe source.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        if count == 0 { return total }
        try write(Array(buffer[..<count]))
      }
      total += Int64(count)
      progress(count)
    }
  }

  /// Sets access and modification time.
  public func setTimes(of status: FileStatus) throws(Errno) {
    var times = (
      timespec(tv_sec: Int(status.accessSeconds), tv_nsec: Int(status.accessNanoseconds)),
      timespec(tv_sec: Int(status.modifiedSeconds), tv_nsec: Int(status.modifiedNanoseconds))
    )
    let raw = raw
    try unsafe withUnsafePointer(to: &times) { times throws(Errno) in
      try unsafe times.withMemoryRebound(to: timespec.self, capacity: 2) { times throws(Errno) in
        _ = try check { unsafe futimens(raw, times) }
      }
    }
  }
}

extension Files {
  /// As `rename`, and EEXIST where something has the new name already.
  public static func renameToFree(_ old: FileName, to new: FileName) throws(Errno) {
    try unsafe old.withCString { old throws(Errno) in
      _ = try unsafe new.withCString { new throws(Errno) in
        try check { unsafe renameat2(AT_FDCWD, old, AT_FDCWD, new, 1) }  // RENAME_NOREPLACE
      }
    }
  }
}
