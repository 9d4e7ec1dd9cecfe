import Posix
import Testing

@testable import Pipeline

/// Whether the writer rests is told by its asking, while it does, whether somebody waits.
@Suite("Bursts") struct BurstTests {
  /// - Returns: how often it asked.
  private func write(_ burst: inout Burst, requests: UInt64, isPressing: Bool = false) -> Int {
    var asked = 0
    burst.wrote([], since: Clock.now(), requests: requests) {
      asked += 1
      return isPressing
    }
    return asked
  }

  @Test func whoeverIsAtWorkInTheShareHasTheProcessor() {
    var burst = Burst()
    _ = write(&burst, requests: 0)
    Clock.pause(0.006)
    #expect(write(&burst, requests: 100_000) > 1)
    // Somebody waits for a picture.
    Clock.pause(0.006)
    #expect(write(&burst, requests: 200_000, isPressing: true) == 1)
  }

  @Test func whatHappensNowAndThenIsWrittenAtOnce() {
    var burst = Burst()
    #expect(write(&burst, requests: 0) == 0)
    Clock.pause(0.006)
    #expect(write(&burst, requests: 3) == 0)
    // Many, but in a long time: since the machine began.
    var fresh = Burst()
    #expect(write(&fresh, requests: 50) == 0)
  }
}
