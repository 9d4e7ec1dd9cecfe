import Glibc
import Posix

/// `ffmpegthumbnailer`, one process a file, as file managers run it.
enum Peer {
  static let program = FileName("/usr/bin/ffmpegthumbnailer")

  /// - Returns: whether it made a picture.
  static func run(_ path: FileName, into picture: FileName) -> Bool {
    unsafe unlink(picture.description)
    do throws(Errno) {
      // A file that hangs it would hang the whole table.
      let words = ["timeout", "-k", "1", "60", program.description, "-i", path.description, "-o", picture.description]
      let child = try Child.spawn(FileName("/usr/bin/timeout"), (words + ["-s", "300"]).map { FileName($0) })
      let ending = try child.wait()
      return unsafe ending == .exited(0) && access(picture.description, R_OK) == 0
    } catch { return false }
  }

  /// Nanoseconds of processor time of all its runs that have ended.
  static var spent: Int64 {
    var usage = rusage()
    guard unsafe getrusage(RUSAGE_CHILDREN, &usage) == 0 else { return 0 }
    func nanoseconds(_ time: timeval) -> Int64 { Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000 }
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }
}
