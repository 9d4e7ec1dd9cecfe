import Contracts

/// The picture for looking at that cameras put into their own formats: a JPEG somewhere in the file. Where exactly, every maker has
/// another way to say, so it is looked for.
enum EmbeddedJPEG {
  struct Found: Hashable {
    let place: Int64
    let width: Int
    let height: Int

    var longest: Int { max(width, height) }
  }

  /// Bytes from the file's start; what begins behind them is not found.
  private static let reach: Int64 = 64 << 20
  private static let step = 1 << 20

  /// The first one that is as large as the box, else the largest.
  /// - Returns: nil when there is none.
  static func find(_ source: Source, _ box: Box) -> Found? {
    var best: Found?
    var place: Int64 = 0
    while place < min(source.size, reach), !source.isLate {
      // Two bytes more, for a mark across the edge.
      let part = source.bytes(at: place, step + 2)
      for start in marks(part) where start < step {
        // Sensor data may be a JPEG too, but one without loss, which is no picture to look at.
        guard let size = Still.frameOfJPEG(source, at: place + Int64(start)), !size.isLossless else { continue }
        let found = Found(place: place + Int64(start), width: size.width, height: size.height)
        if found.longest > best?.longest ?? 0 { best = found }
        if found.longest >= max(box.width, box.height) { return best }
      }
      place += Int64(step)
    }
    return best
  }

  private static func marks(_ bytes: Bytes) -> [Int] {
    var places: [Int] = []
    var place = 0
    while place < bytes.count - 2 {
      if bytes.all[place + 2] != 0xff && bytes.all[place + 2] != 0xd8 {
        // Neither the end nor the middle of a mark, nor its beginning.
        place += 3
      } else {
        if bytes.has([0xff, 0xd8, 0xff], at: place) { places.append(place) }
        place += 1
      }
    }
    return places
  }
}
