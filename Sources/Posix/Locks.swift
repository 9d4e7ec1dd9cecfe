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
    return try file.lock() ? FileLock(descriptor: file) : nil
  }

  private init(descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// Whether somebody holds it now; makes no file.
  public static func isHeld(_ path: FileName) -> Bool {
    do throws(Errno) {
      return try !Descriptor.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK).lock()
    } catch {
      return error == .again
    }
  }
}
