import CLibAV

/// How a frame's numbers are to be read.
struct Colour {
  /// As stored, without libav's deprecated names for full range.
  let format: AVPixelFormat
  let isFullRange: Bool
  let hasAlpha: Bool
  /// Whether it is stored as luma and chroma, grey included.
  let isYUV: Bool
  let highDynamicRange: ToneMap.Transfer?
  /// Luma's shares of red and blue; that of green is the rest.
  private let red: Double
  private let blue: Double

  init(_ picture: AVFrame, isStill: Bool) {
    let stored = unsafe AVPixelFormat(rawValue: picture.format)
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
    // Palettes, single bits and XYZ are swscale's to turn into red, green and blue.
    isYUV =
      !isRGB && flags & UInt64(AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM) == 0
      && ![AV_PIX_FMT_XYZ12LE, AV_PIX_FMT_XYZ12BE].contains(format)
    isFullRange =
      unsafe plain != nil || picture.color_range == AVCOL_RANGE_JPEG || isRGB
      || (isGrey && isStill && picture.color_range != AVCOL_RANGE_MPEG)
    let looksLikeHD = unsafe picture.width >= 1280 || picture.height > 576
    (red, blue) =
      switch unsafe picture.colorspace {
      case AVCOL_SPC_BT709: Self.bt709
      case AVCOL_SPC_FCC: (0.30, 0.11)
      case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M: Self.bt601
      case AVCOL_SPC_SMPTE240M: (0.212, 0.087)
      case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: (0.2627, 0.0593)
      default: isStill || plain != nil || !looksLikeHD ? Self.bt601 : Self.bt709
      }
    highDynamicRange =
      switch unsafe picture.color_trc {
      case AVCOL_TRC_SMPTE2084: .pq
      case AVCOL_TRC_ARIB_STD_B67: .hlg
      default: nil
      }
  }

  private static let bt601 = (0.299, 0.114)
  private static let bt709 = (0.2126, 0.0722)

  /// What the picture is scaled into. Luma and chroma stay what they are: swscale's own way to red, green and blue at full chroma
  /// resolution costs more than the scaling.
  var scaledFormat: AVPixelFormat {
    switch (isYUV, highDynamicRange, hasAlpha) {
    case (true, .some, _): AV_PIX_FMT_YUV444P16LE
    case (false, .some, _): AV_PIX_FMT_RGB48LE
    case (true, nil, true): AV_PIX_FMT_YUVA444P
    case (true, nil, false): AV_PIX_FMT_YUV444P
    case (false, nil, true): AV_PIX_FMT_RGBA
    case (false, nil, false): AV_PIX_FMT_RGB24
    }
  }

  /// Red, green and blue, full range and of as many bits, from three planes.
  /// - Parameter wide: what holds a sample of which 65536 parts are counted. Twice as wide as it must be, it takes five times as long: then
  ///   there are no vector instructions for it.
  func rgb<Sample: FixedWidthInteger & UnsignedInteger, Wide: FixedWidthInteger & SignedInteger>(
    _ scaled: borrowing Scaled, of _: Sample.Type, in wide: Wide.Type
  ) -> [Sample] {
    let bits = Sample.bitWidth
    let most = (1 << bits) - 1
    let middle = Wide(1) << (bits - 1)
    let zero: Wide = isFullRange ? 0 : 16 << (bits - 8)
    let one = 65536.0
    let luma = isFullRange ? one : one * Double(most) / Double(219 << (bits - 8))
    let chroma = isFullRange ? one : one * Double(most) / Double(224 << (bits - 8))
    func whole(_ factor: Double) -> Wide { Wide(factor.rounded()) }
    let green = 1 - red - blue
    let (y, redOfV, blueOfU) = (whole(luma), whole(2 * (1 - red) * chroma), whole(2 * (1 - blue) * chroma))
    let greenOfU = whole(2 * (1 - blue) * blue / green * chroma)
    let greenOfV = whole(2 * (1 - red) * red / green * chroma)
    let (width, height) = (scaled.width, scaled.height)
    return unsafe [Sample](unsafeUninitializedCapacity: width * height * 3) { pixels, count in
      guard var out = pixels.baseAddress else { return }
      for row in 0..<height {
        let lumas = unsafe scaled.row(row, plane: 0, of: Sample.self)
        let us = unsafe scaled.row(row, plane: 1, of: Sample.self)
        let vs = unsafe scaled.row(row, plane: 2, of: Sample.self)
        for column in 0..<width {
          let light = unsafe (Wide(lumas[column]) &- zero) &* y &+ 1 << 15
          let u = unsafe Wide(us[column]) &- middle
          let v = unsafe Wide(vs[column]) &- middle
          unsafe out[0] = Self.clamped(light &+ v &* redOfV)
          unsafe out[1] = Self.clamped(light &- u &* greenOfU &- v &* greenOfV)
          unsafe out[2] = Self.clamped(light &+ u &* blueOfU)
          unsafe out += 3
        }
      }
      count = width * height * 3
    }
  }

  @inline(__always)
  private static func clamped<Sample: FixedWidthInteger & UnsignedInteger, Wide: FixedWidthInteger & SignedInteger>(
    _ value: Wide
  ) -> Sample {
    Sample(truncatingIfNeeded: min(max(value >> 16, 0), Wide(Sample.max)))
  }
}
