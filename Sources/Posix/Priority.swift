import CLinux
import Glibc

extension Thread {
  /// How far a thread steps back behind others.
  public enum Modesty: CInt, Sendable {
    /// Gets a quarter of a processor that somebody else wants too, and steps aside at once for who wakes up.
    case modest = 5
    /// Gets next to nothing of what others want.
    case idle = 19
  }

  /// Makes the calling thread, and what it starts, give way to all others; on Linux niceness is a thread's own, and I/O follows it.
  public static func giveWay(_ modesty: Modesty) {
    // It can only be refused when raising, and then nothing is lost.
    _ = setpriority(PRIO_PROCESS, id_t(currentID), modesty.rawValue)
  }
}
