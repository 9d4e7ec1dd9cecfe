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
    // Who wakes up interrupts at once what has a longer turn than he would have, and waits some milliseconds for the end of others.
    _ = clinux_set_slice(longestTurn)
  }

  /// In nanoseconds, as long as the kernel allows.
  private static let longestTurn: UInt64 = 100_000_000

  /// How soon a thread gets a processor for which others are waiting too. One with shorter turns interrupts one with longer.
  public enum Haste: UInt64, Sendable {
    /// Takes some hundred microseconds, and what it brings is waited for.
    case soon = 500_000
    /// Takes a few microseconds.
    case now = 100_000
  }

  /// Makes the calling thread's turns on a processor short, in nanoseconds, and therefore soon. It gets no more of it.
  public static func beQuick(_ haste: Haste) {
    // Where the kernel does not take it, it is as quick as others.
    _ = clinux_set_slice(haste.rawValue)
  }
}
