import CLinux
import Glibc

/// A lock that ends with the process that holds it, however that ends.
public struct FileLock: ~Copyable, Sendable {
  /// The open file; its content is the holder's to use.
  public let descriptor: Descriptor

  /// Takes the lock on a file, which is made when missing.
  /// - Returns: nil when somebody else holds it.
  public static func take(_ path: FileName) throws(Errno) -> FileLock? {
    let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    let raw = file.raw
    do throws(Errno) {
      try check { clinux_lock_file(raw) }
    } catch {
      if error == .again { return nil }
      throw error
    }
    return FileLock(descriptor: file)
  }

  private init(descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// Whether somebody holds it now; makes no file.
  public static func isHeld(_ path: FileName) -> Bool {
    do throws(Errno) {
      let file = try Descriptor.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
      try check { clinux_lock_file(file.raw) }
      return false
    } catch {
      return error == .again
    }
  }
}
