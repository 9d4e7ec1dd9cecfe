import CLinux
import Glibc

/// A system call's error number.
///
/// Numbers that can only be our own mistake (EBADF, EFAULT) trap where they are met, in `check`: going on would act on
/// somebody else's descriptor or memory.
public struct Errno: Error, Hashable, Sendable, RawRepresentable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  public init(_ value: Int32) { rawValue = value }

  /// Traps where it can only be our own mistake.
  @usableFromInline func refuseOurOwn() {
    precondition(rawValue != EBADF && rawValue != EFAULT, "a descriptor or pointer of ours is wrong")
  }

  /// Read it first thing after the call that failed.
  public static var last: Errno { Errno(errno) }

  public static let notPermitted = Errno(EPERM)
  public static let noEntry = Errno(ENOENT)
  public static let interrupted = Errno(EINTR)
  public static let io = Errno(EIO)
  public static let badDescriptor = Errno(EBADF)
  public static let again = Errno(EAGAIN)
  public static let noMemory = Errno(ENOMEM)
  public static let access = Errno(EACCES)
  public static let busy = Errno(EBUSY)
  public static let exists = Errno(EEXIST)
  public static let crossDevice = Errno(EXDEV)
  public static let notFolder = Errno(ENOTDIR)
  public static let isFolder = Errno(EISDIR)
  public static let invalid = Errno(EINVAL)
  public static let tooManyOpen = Errno(EMFILE)
  public static let noSpace = Errno(ENOSPC)
  public static let readOnly = Errno(EROFS)
  public static let pipe = Errno(EPIPE)
  public static let nameTooLong = Errno(ENAMETOOLONG)
  public static let noSystemCall = Errno(ENOSYS)
  public static let notEmpty = Errno(ENOTEMPTY)
  public static let loop = Errno(ELOOP)
  public static let noData = Errno(ENODATA)
  public static let stale = Errno(ESTALE)
  public static let notSupported = Errno(ENOTSUP)
  public static let timedOut = Errno(ETIMEDOUT)
  public static let messageTooLong = Errno(EMSGSIZE)
  public static let notConnected = Errno(ENOTCONN)
  public static let noDevice = Errno(ENODEV)
  public static let noTerminal = Errno(ENOTTY)
  public static let noProcess = Errno(ESRCH)
  public static let tooManyLinks = Errno(EMLINK)
  public static let quotaExceeded = Errno(EDQUOT)
  public static let fileTooLarge = Errno(EFBIG)
  public static let textBusy = Errno(ETXTBSY)
}

extension Errno: CustomStringConvertible {
  /// The C library's sentence, such as "No such file or directory".
  public var description: String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
      unsafe String(cString: strerror_r(rawValue, text.baseAddress!, text.count))
    }
  }
}

/// Turns a system call's -1 into its `Errno`; a call that a signal interrupted is made again.
@discardableResult
@inline(__always)
@inlinable public func check<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
  while true {
    let result = call()
    if result != -1 { return result }
    let error = Errno.last
    if error == .interrupted { continue }
    error.refuseOurOwn()
    throw error
  }
}
