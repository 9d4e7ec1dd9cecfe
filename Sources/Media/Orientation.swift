import CLibAV

/// How a stored picture is turned to stand upright: first mirrored from left to right or not, then turned clockwise.
struct Orientation: Hashable {
  let isMirrored: Bool
  /// 0 to 3, clockwise.
  let quarterTurns: Int

  static let upright = Orientation(isMirrored: false, quarterTurns: 0)

  var swapsSides: Bool { quarterTurns % 2 == 1 }

  init(isMirrored: Bool, quarterTurns: Int) {
    self.isMirrored = isMirrored
    self.quarterTurns = quarterTurns
  }

  /// Turned further, clockwise.
  func then(quarterTurns more: Int) -> Orientation {
    Orientation(isMirrored: isMirrored, quarterTurns: (quarterTurns + more) % 4)
  }

  /// Mirrored from left to right after all else, or from top to bottom.
  func thenMirrored(upsideDown: Bool) -> Orientation {
    // What was turned before is then turned the other way.
    Orientation(isMirrored: !isMirrored, quarterTurns: (4 - quarterTurns + (upsideDown ? 2 : 0)) % 4)
  }

  /// EXIF's tag 0x0112, 1 to 8; anything else is upright.
  init(exif: Int) {
    switch exif {
    case 2: self.init(isMirrored: true, quarterTurns: 0)
    case 3: self.init(isMirrored: false, quarterTurns: 2)
    case 4: self.init(isMirrored: true, quarterTurns: 2)
    case 5: self.init(isMirrored: true, quarterTurns: 3)
    case 6: self.init(isMirrored: false, quarterTurns: 1)
    case 7: self.init(isMirrored: true, quarterTurns: 1)
    case 8: self.init(isMirrored: false, quarterTurns: 3)
    default: self = .upright
    }
  }

  /// A display matrix, of which only the four numbers that turn matter: the stored picture's x axis goes to (a, b), its y axis to
  /// (c, d). Angles between are taken to the nearest quarter; a matrix without an area is upright. Whole numbers
  /// throughout: the angle of a matrix of zeros is NaN.
  init(a: Int32, b: Int32, c: Int32, d: Int32) {
    let (a, b, c, d) = (Int64(a), Int64(b), Int64(c), Int64(d))
    let (ad, bc) = (a * d, b * c)
    guard ad != bc else {
      self = .upright
      return
    }
    let turns = abs(a) >= abs(b) ? (a > 0 ? 0 : 2) : (b > 0 ? 1 : 3)
    // A mirrored picture's x axis points the other way before it is turned.
    self.init(isMirrored: ad < bc, quarterTurns: ad < bc ? (turns + 2) % 4 : turns)
  }

  /// What stands on the frame itself, as EXIF does.
  init?(_ frame: borrowing DecodedFrame) {
    if let text = frame.metadata("Orientation"), let number = Int(text.filter { $0 != " " }), (1...8).contains(number) {
      self.init(exif: number)
    } else if let side = unsafe av_frame_get_side_data(frame.pointer, AV_FRAME_DATA_DISPLAYMATRIX) {
      unsafe self.init(matrix: side.pointee.data, size: Int(clamping: side.pointee.size))
    } else {
      return nil
    }
  }

  /// What the container says of the stream.
  init?(_ stream: UnsafePointer<AVStream>) {
    var size = 0
    guard let data = unsafe av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size) else { return nil }
    unsafe self.init(matrix: data, size: size)
  }

  private init?(matrix data: UnsafePointer<UInt8>, size: Int) {
    guard size >= 36 else { return nil }
    func number(_ place: Int) -> Int32 {
      unsafe UnsafeRawPointer(data).loadUnaligned(fromByteOffset: place * 4, as: Int32.self)
    }
    self.init(a: number(0), b: number(1), c: number(3), d: number(4))
  }
}
