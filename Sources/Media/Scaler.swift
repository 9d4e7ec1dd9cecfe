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
    let pixels: [UInt8]
    if let transfer = colour.highDynamicRange {
      let wide = try unsafe run(picture, AV_PIX_FMT_RGB48LE, bytes: 6, size, colour)
      let words = stride(from: 0, to: wide.count, by: 2).map { UInt16(wide[$0]) | UInt16(wide[$0 + 1]) << 8 }
      pixels = ToneMap(transfer).map(words)
    } else if colour.hasAlpha {
      let four = try unsafe run(picture, AV_PIX_FMT_RGBA, bytes: 4, size, colour)
      pixels = Checkerboard.under(four, width: size.width)
    } else {
      pixels = try unsafe run(picture, AV_PIX_FMT_RGB24, bytes: 3, size, colour)
    }
    return Raster(width: size.width, height: size.height, pixels: pixels).turned(orientation)
  }

  private static func linesize(_ picture: inout AVFrame, _ plane: Int, _ change: (inout CInt) -> Void) {
    unsafe withUnsafeMutableBytes(of: &picture.linesize) { raw in
      unsafe change(&raw.bindMemory(to: CInt.self)[plane])
    }
  }

  private static func run(
    _ picture: AVFrame, _ format: AVPixelFormat, bytes: Int, _ size: (width: Int, height: Int), _ colour: Colour
  ) throws(MediaError) -> [UInt8] {
    let careful = SWS_AREA | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
    func context(_ flags: CInt) -> OpaquePointer? {
      unsafe sws_getContext(
        picture.width, picture.height, colour.format, CInt(size.width), CInt(size.height), format, flags, nil, nil, nil)
    }
    // The filters of an extreme reduction are too long for the careful way.
    guard let scaler = unsafe context(careful) ?? context(SWS_POINT) else {
      throw .unsupported("Its pixels cannot be converted.")
    }
    defer { unsafe sws_freeContext(scaler) }
    let into = unsafe sws_getCoefficients(SWS_CS_ITU709)
    unsafe sws_setColorspaceDetails(
      scaler, sws_getCoefficients(colour.matrix), colour.isFullRange ? 1 : 0, into, 1, 0, 1 << 16, 1 << 16)

    // Rows as wide as the widest vector store, and a spare one: the scaler writes beyond a row's end.
    let stride = (size.width * bytes + 127) & ~63
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: stride * (size.height + 1), alignment: 64)
    defer { unsafe room.deallocate() }
    let done = unsafe withUnsafeBytes(of: picture.data) { planes in
      unsafe withUnsafeBytes(of: picture.linesize) { lines in
        let from = unsafe planes.bindMemory(to: UnsafePointer<UInt8>?.self)
        let to: [UnsafeMutablePointer<UInt8>?] = unsafe [room.bindMemory(to: UInt8.self).baseAddress, nil, nil, nil]
        let toLines: [CInt] = [CInt(stride), 0, 0, 0]
        return unsafe sws_scale(
          scaler, from.baseAddress, lines.bindMemory(to: CInt.self).baseAddress, 0, picture.height, to, toLines)
      }
    }
    guard done == CInt(size.height) else { throw .unsupported("Its pixels cannot be converted.") }
    var tight: [UInt8] = []
    tight.reserveCapacity(size.width * bytes * size.height)
    for row in 0..<size.height {
      unsafe tight.append(contentsOf: room[row * stride..<row * stride + size.width * bytes])
    }
    return tight
  }
}

/// How a frame's numbers are to be read.
private struct Colour {
  let format: AVPixelFormat
  let isFullRange: Bool
  let hasAlpha: Bool
  /// As swscale counts matrices.
  let matrix: CInt
  let highDynamicRange: ToneMap.Transfer?

  init(_ picture: AVFrame, isStill: Bool) {
    let stored = unsafe AVPixelFormat(rawValue: picture.format)
    // The J formats are the others with full range, and deprecated.
    let plain: AVPixelFormat? =
      switch stored {
      case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P
      case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
      case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
      case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P
      case AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P
      default: nil
      }
    format = plain ?? stored
    let description = unsafe av_pix_fmt_desc_get(format)
    let flags = unsafe description?.pointee.flags ?? 0
    let isRGB = flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
    let isGrey = unsafe (description?.pointee.nb_components ?? 0) <= 2
    hasAlpha = flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    isFullRange =
      unsafe plain != nil || picture.color_range == AVCOL_RANGE_JPEG || isRGB
      || (isGrey && isStill && picture.color_range != AVCOL_RANGE_MPEG)
    let looksLikeHD = unsafe picture.width >= 1280 || picture.height > 576
    matrix =
      switch unsafe picture.colorspace {
      case AVCOL_SPC_BT709: SWS_CS_ITU709
      case AVCOL_SPC_FCC: SWS_CS_FCC
      case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M: SWS_CS_ITU601
      case AVCOL_SPC_SMPTE240M: SWS_CS_SMPTE240M
      case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: SWS_CS_BT2020
      default: isStill || plain != nil || !looksLikeHD ? SWS_CS_ITU601 : SWS_CS_ITU709
      }
    highDynamicRange =
      switch unsafe picture.color_trc {
      case AVCOL_TRC_SMPTE2084: .pq
      case AVCOL_TRC_ARIB_STD_B67: .hlg
      default: nil
      }
  }
}

/// What shows through where a picture is transparent: light and dark grey squares of 8 pixels, as image editors have it.
enum Checkerboard {
  static let light: UInt8 = 0xcc
  static let dark: UInt8 = 0x99
  static let edge = 8

  /// - Parameter pixels: red, green, blue and alpha, not premultiplied.
  static func under(_ pixels: [UInt8], width: Int) -> [UInt8] {
    var flat: [UInt8] = []
    flat.reserveCapacity(pixels.count / 4 * 3)
    for pixel in 0..<pixels.count / 4 {
      let isLight = (pixel % width / edge + pixel / width / edge) % 2 == 0
      let ground = Int(isLight ? light : dark)
      let alpha = Int(pixels[pixel * 4 + 3])
      for part in 0..<3 {
        flat.append(UInt8((Int(pixels[pixel * 4 + part]) * alpha + ground * (255 - alpha) + 127) / 255))
      }
    }
    return flat
  }
}
