import CLinux
import Glibc

/// Extended attributes of what a descriptor (also an O_PATH one, and of a symbolic link) refers to.
public enum Attributes {
  /// - Returns: the value's size in bytes; with an empty buffer, the size it would have.
  public static func get(_ raw: CInt, _ name: FileName, into value: UnsafeMutableRawBufferPointer) throws(Errno) -> Int
  {
    try unsafe call(raw, name) { path, name throws(Errno) in
      try check { unsafe getxattr(path, name, value.baseAddress, value.count) }
    }
  }

  public static func set(_ raw: CInt, _ name: FileName, _ value: UnsafeRawBufferPointer, flags: CInt) throws(Errno) {
    _ = try unsafe call(raw, name) { path, name throws(Errno) in
      try check { unsafe setxattr(path, name, value.baseAddress, value.count, flags) }
    }
  }

  public static func remove(_ raw: CInt, _ name: FileName) throws(Errno) {
    _ = try unsafe call(raw, name) { path, name throws(Errno) in try check { unsafe removexattr(path, name) } }
  }

  /// - Returns: the size in bytes of the names, each with its NUL.
  public static func list(_ raw: CInt, into names: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    try unsafe FileName.ofDescriptor(raw).withCString { path throws(Errno) in
      try check {
        unsafe listxattr(path, names.baseAddress?.assumingMemoryBound(to: CChar.self), names.count)
      }
    }
  }

  private static func call<Result>(
    _ raw: CInt, _ name: FileName, _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    try unsafe FileName.ofDescriptor(raw).withCString { path throws(Errno) in
      try unsafe name.withCString { name throws(Errno) in try unsafe body(path, name) }
    }
  }
}
