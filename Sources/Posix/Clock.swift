import Glibc

public enum Clock {
  /// Nanoseconds of the monotonic clock.
  public typealias Instant = Int64

  public static func now() -> Instant { read(CLOCK_MONOTONIC) }

  public static func seconds(_ seconds: Double) -> Instant { Instant(seconds * 1e9) }

  /// Lets time pass, between two looks at what nobody announces.
  public static func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

  /// Time of day.
  public static func wall() -> FileTime { FileTime(nanoseconds: read(CLOCK_REALTIME)) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
