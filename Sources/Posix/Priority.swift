import CLinux
import Glibc

extension Thread {
  /// Makes the calling thread give way to all others; on Linux niceness is a thread's own, and I/O follows it.
  public static func giveWay() {
    // It can only be refused when raising, and then nothing is lost.
    _ = setpriority(PRIO_PROCESS, id_t(currentID), 19)
  }
}
