import CLibAV
import Contracts

/// From a decoded frame to the upright raster that fits a box, in one step: scaled, colours converted, tones mapped, laid over
/// the checkerboard where it is transparent, turned.
enum Scaler {
  /// The size as shown, and the largest that fits the box with the same aspect. Small pictures are not blown up.
  static func fit(width: Double, height: Double, _ box: Box) -> (width: Int, height: Int) {
    let scale = min(1, Double(box.width) / width, Double(box.height) / height)
    func edge(_ length: Double, _ most: Int) -> Int { max(1, min(most, Int((length * scale).rounded()))) }
    return (edge(width, box.width), edge(height, box.height))
  }

  /// - Parameter sampleAspect: a pixel's width by its height.
  static func raster(
    _ frame: borrowing DecodedFrame, sampleAspect: Double, orientation: Orientation, isStill: Bool, _ box: Box
  ) throws(MediaError) -> Raster {
    var picture = unsafe frame.pointer.pointee
    guard unsafe picture.width > 0, unsafe picture.height > 0, unsafe picture.format >= 0, unsafe picture.data.0 != nil,
      unsafe Int64(picture.width) * Int64(picture.height) <= Decoder.mostPixels
    else { throw .damaged("The picture has no size.") }
    let colour = unsafe Colour(picture, isStill: isStill)
    let turnedBox = orientation.swapsSides ? Box(width: box.height, height: box.width) : box
    let size = unsafe fit(width: Double(picture.width) * sampleAspect, height: Double(picture.height), turnedBox)
    // One field is enough, and has no combs.
    if unsafe picture.interlaced_frame != 0, unsafe Int(picture.height) / 2 >= size.height {
      unsafe picture.height /= 2
      for plane in 0..<8 { unsafe linesize(&picture, plane) { $0 *= 2 } }
    }
    let format = colour.scaledFormat
    func run(planes: Int, bytes: Int) throws(MediaError) -> Scaled {
      let scaled = Scaled(width: size.width, height: size.height, planes: planes, bytes: bytes)
      try unsafe scale(picture, format, colour, into: scaled)
      return scaled
    }
    let pixels: [UInt8]
    switch format {
    case AV_PIX_FMT_YUV444P16LE:
      pixels = ToneMap.of(colour).map(colour.rgb(try run(planes: 3, bytes: 2), of: UInt16.self, in: Int.self))
    case AV_PIX_FMT_RGB48LE:
      pixels = ToneMap.of(colour).map(try run(planes: 1, bytes: 6).tight(samples: 3, of: UInt16.self))
    case AV_PIX_FMT_YUVA444P:
      let scaled = try run(planes: 4, bytes: 1)
      pixels = Checkerboard.under(
        colour.rgb(scaled, of: UInt8.self, in: Int32.self), step: 3,
        alpha: scaled.tight(plane: 3, samples: 1, of: UInt8.self),
        width: size.width)
    case AV_PIX_FMT_YUV444P: pixels = colour.rgb(try run(planes: 3, bytes: 1), of: UInt8.self, in: Int32.self)
    case AV_PIX_FMT_RGBA: pixels = Checkerboard.under(try run(planes: 1, bytes: 4), width: size.width)
    default: pixels = try run(planes: 1, bytes: 3).tight(samples: 3, of: UInt8.self)
    }
    return Raster(width: size.width, height: size.height, pixels: pixels).turned(orientation)
  }

  private static func linesize(_ picture: inout AVFrame, _ plane: Int, _ change: (inout CInt) -> Void) {
    unsafe withUnsafeMutableBytes(of: &picture.linesize) { raw in
      unsafe change(&raw.bindMemory(to: CInt.self)[plane])
    }
  }

  private static func scale(
    _ picture: AVFrame, _ format: AVPixelFormat, _ colour: Colour, into scaled: borrowing Scaled
  ) throws(MediaError) {
    let careful = SWS_AREA | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
    func context(_ flags: CInt) -> OpaquePointer? {
      unsafe sws_getContext(
        picture.width, picture.height, colour.format, CInt(scaled.width), CInt(scaled.height), format, flags, nil, nil,
        nil)
    }
    // The filters of an extreme reduction are too long for the careful way.
    guard let scaler = unsafe context(careful) ?? context(SWS_POINT) else {
      throw .unsupported("Its pixels cannot be converted.")
    }
    defer { unsafe sws_freeContext(scaler) }
    // Luma and chroma keep their range here, whichever it is.
    let range: CInt = colour.isFullRange || !colour.isYUV ? 1 : 0
    let matrix = unsafe sws_getCoefficients(SWS_CS_ITU709)
    unsafe sws_setColorspaceDetails(scaler, matrix, range, matrix, range, 0, 1 << 16, 1 << 16)
    let done = unsafe withUnsafeBytes(of: picture.data) { planes in
      unsafe withUnsafeBytes(of: picture.linesize) { lines in
        let from = unsafe planes.bindMemory(to: UnsafePointer<UInt8>?.self)
        return unsafe scaled.withPlanes { to, toLines in
          unsafe sws_scale(
            scaler, from.baseAddress, lines.bindMemory(to: CInt.self).baseAddress, 0, picture.height, to, toLines)
        }
      }
    }
    guard done == CInt(scaled.height) else { throw .unsupported("Its pixels cannot be converted.") }
  }
}

/// What shows through where a picture is transparent: light and dark grey squares of 8 pixels, as image editors have it.
enum Checkerboard {
  static let light: UInt8 = 0xcc
  static let dark: UInt8 = 0x99
  static let edge = 8

  /// - Parameter scaled: red, green, blue and alpha, not premultiplied, in one plane.
  static func under(_ scaled: borrowing Scaled, width: Int) -> [UInt8] {
    let pixels = scaled.tight(samples: 4, of: UInt8.self)
    return under(pixels, step: 4, alpha: stride(from: 3, to: pixels.count, by: 4).map { pixels[$0] }, width: width)
  }

  /// - Parameter step: samples from one pixel to the next.
  static func under(_ pixels: [UInt8], step: Int, alpha: [UInt8], width: Int) -> [UInt8] {
    var flat: [UInt8] = []
    flat.reserveCapacity(alpha.count * 3)
    for (pixel, alpha) in alpha.enumerated() {
      let isLight = (pixel % width / edge + pixel / width / edge) % 2 == 0
      let (ground, alpha) = (Int(isLight ? light : dark), Int(alpha))
      for part in 0..<3 {
        flat.append(UInt8((Int(pixels[pixel * step + part]) * alpha + ground * (255 - alpha) + 127) / 255))
      }
    }
    return flat
  }
}
