import CFuse
import Glibc
import Posix

/// What libfuse would write to the standard error output: kept, for the error message.
enum FuseLog {
  private static let last = Guarded("")

  /// Its last words, once.
  static var words: String {
    last.withLock { words in
      defer { words = "" }
      return words
    }
  }

  /// From now on, for the process. A closure, since a va_list has no spelling in an `@c` function's parameters; it is bound to no actor.
  static func install() {
    unsafe fuse_set_log_func { _, format, arguments in
      guard let format = unsafe format, let arguments = unsafe arguments else { return }
      unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { room in
        unsafe vsnprintf(room.baseAddress!, room.count, format, arguments)
        let words = unsafe String(cString: room.baseAddress!)
        FuseLog.last.withLock { $0 = words.split(separator: "\n").joined(separator: " ") }
      }
    }
  }
}
