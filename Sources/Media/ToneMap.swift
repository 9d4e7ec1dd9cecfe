import Glibc

/// From high dynamic range (BT.2020 primaries, PQ or HLG) to what a screen for BT.709 shows: nominal white is 203 nits, what is
/// brighter is eased into the top of the range.
struct ToneMap {
  enum Transfer { case pq, hlg }

  /// Linear light by the upper 12 bits of a code value, where 1 is nominal white.
  private let linear: [Float]

  private static let gamma: [UInt8] = (0...4096).map { step in
    let light = Double(step) / 4096
    // What a PNG without a word about it is taken for: sRGB.
    return UInt8(((light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055) * 255).rounded())
  }

  /// The one for a frame of high dynamic range.
  static func of(_ colour: Colour) -> ToneMap { colour.highDynamicRange == .hlg ? hlg : pq }

  private static let pq = ToneMap(.pq)
  private static let hlg = ToneMap(.hlg)

  /// Fills the tables, which are made at first use.
  static func warmUp() { _ = (pq, hlg, gamma) }

  private init(_ transfer: Transfer) {
    linear = (0..<4096).map { step in
      let code = Double(step) / 4095
      switch transfer {
      case .pq: return Float(Self.nitsOfPQ(code) / 203)
      case .hlg: return Float(Self.nitsOfHLG(code) / 203)
      }
    }
  }

  /// SMPTE ST 2084: nits.
  private static func nitsOfPQ(_ code: Double) -> Double {
    let root = pow(code, 1 / 78.84375)
    return 10000 * pow(max(0, root - 0.8359375) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
  }

  /// ARIB STD-B67: nits of the display of 1000 nits that it means, whose gamma of 1.2 is applied to each colour by itself, as
  /// zimg has it, and not to the luminance: so saturated colours stay what they were.
  private static func nitsOfHLG(_ code: Double) -> Double {
    let scene = code <= 0.5 ? code * code / 3 : (exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12
    return 1000 * pow(scene, 1.2)
  }

  /// - Parameter wide: red, green and blue of 16 bits, full range, in rows without gaps.
  func map(_ wide: [UInt16]) -> [UInt8] {
    var narrow = [UInt8](repeating: 0, count: wide.count)
    for place in stride(from: 0, to: wide.count - 2, by: 3) {
      let red = linear[Int(wide[place] >> 4)]
      let green = linear[Int(wide[place + 1] >> 4)]
      let blue = linear[Int(wide[place + 2] >> 4)]
      narrow[place] = Self.encode(1.6605 * red - 0.5876 * green - 0.0728 * blue)
      narrow[place + 1] = Self.encode(-0.1246 * red + 1.1329 * green - 0.0083 * blue)
      narrow[place + 2] = Self.encode(-0.0182 * red - 0.1006 * green + 1.1187 * blue)
    }
    return narrow
  }

  private static func encode(_ light: Float) -> UInt8 {
    // Unchanged up to the shoulder, then ever slower towards 1.
    let shoulder: Float = 0.85
    let eased =
      light <= shoulder ? max(light, 0) : shoulder + (1 - shoulder) * (1 - expf((shoulder - light) / (1 - shoulder)))
    return gamma[Int(min(eased, 1) * 4096)]
  }
}
