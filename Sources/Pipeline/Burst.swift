import Posix

/// While much happens, the catalog is written in larger portions and a quarter of the time at most: a transaction costs more than what a change adds
/// to it, and whoever makes the changes wants the processor. What happens now and then is written at once.
struct Burst {
  private static let window = Clock.seconds(0.005)
  private static let shortest = Clock.seconds(0.02)
  private static let longest = Clock.seconds(0.1)
  /// Changes in a window; a copied document brings some four.
  private static let most = 16

  private var began: Clock.Instant = 0
  private var count = 0

  /// These were written; rests when that was part of a burst. What workers bring is none.
  /// - Parameter isPressing: whether somebody waits for what is in the inbox; then the rest ends.
  mutating func wrote(_ messages: [Message], since start: Clock.Instant, isPressing: () -> Bool) {
    let now = Clock.now()
    if now - began > Self.window {
      began = now
      count = 0
    }
    count += messages.count { if case .change = $0 { true } else { false } }
    guard count >= Self.most else { return }
    let end = now + min(Self.longest, max(Self.shortest, 3 * (now - start)))
    // Not by waiting on the inbox, which would wake up for every change.
    while Clock.now() < end && !isPressing() { Clock.pause(Double(Self.window) / 1e9) }
    count = 0
    began = Clock.now()
  }
}
