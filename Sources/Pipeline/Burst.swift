import Posix

/// While much happens, the catalog is written in larger portions and half of the time at most: a transaction costs more than what a change adds to it,
/// and whoever makes the changes wants the processor. What happens now and then is written at once.
struct Burst {
  private static let window = Clock.seconds(0.005)
  private static let longest = Clock.seconds(0.1)
  /// Messages in a window; a copied document brings some six.
  private static let most = 24

  private var began: Clock.Instant = 0
  private var count = 0

  /// So many messages were written; rests when that was part of a burst.
  mutating func wrote(_ messages: Int, since start: Clock.Instant) {
    let now = Clock.now()
    if now - began > Self.window {
      began = now
      count = 0
    }
    count += messages
    guard count >= Self.most else { return }
    Clock.pause(Double(min(Self.longest, max(Self.window, now - start))) / 1e9)
    count = 0
    began = Clock.now()
  }
}
