import Posix

/// While much happens in the share, the catalog is written in larger portions and a quarter of the time at most: a transaction costs more than what a
/// change adds to it, and whoever is at work in the share wants the processor. What happens now and then is written at once.
struct Burst {
  private static let window = Clock.seconds(0.005)
  private static let shortest = Clock.seconds(0.02)
  private static let longest = Clock.seconds(0.1)
  /// Changes and requests in a window; a copied document brings some ten.
  private static let most: Int64 = 32

  private var began: Clock.Instant = 0
  private var changes: Int64 = 0
  private var requestsBefore: UInt64 = 0

  /// These were written; rests when that was part of a burst. What workers bring is none.
  /// - Parameters:
  ///   - requests: as in `Settings`.
  ///   - isPressing: whether somebody waits for what is in the inbox; then the rest ends.
  mutating func wrote(
    _ messages: [Message], since start: Clock.Instant, requests: UInt64, isPressing: () -> Bool
  ) {
    changes += Int64(messages.count { if case .change = $0 { true } else { false } })
    let now = Clock.now()
    let time = now - began
    guard time > Self.window else { return }
    let isBurst = (changes + Int64(requests - requestsBefore)) * Self.window >= Self.most * time
    if isBurst {
      let end = now + min(Self.longest, max(Self.shortest, 3 * (now - start)))
      // Not by waiting on the inbox, which would wake up for every change.
      while Clock.now() < end && !isPressing() { Clock.pause(Double(Self.window) / 1e9) }
    }
    (began, changes, requestsBefore) = (now, 0, requests)
  }
}
