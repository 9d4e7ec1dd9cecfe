import CLibAV
import Contracts
import Glibc
import Posix

/// A compressed packet.
@safe struct Packet: ~Copyable {
  let pointer: UnsafeMutablePointer<AVPacket>

  init() throws(MediaError) {
    guard let made = unsafe av_packet_alloc() else { throw .noMemory }
    unsafe pointer = unsafe made
  }

  /// A whole file as one packet.
  static func whole(_ source: Source, limit: Int64) throws(MediaError) -> Packet {
    guard source.size <= limit else { throw .noMemory }
    return try part(source, at: 0, Int(source.size))
  }

  /// A part of a file, or what there is of it, as one packet.
  static func part(_ source: Source, at place: Int64, _ length: Int) throws(MediaError) -> Packet {
    let packet = try Packet()
    let pointer = unsafe packet.pointer
    guard unsafe av_new_packet(pointer, CInt(clamping: length)) >= 0 else { throw .noMemory }
    do throws(Errno) {
      let got = try unsafe source.read(
        at: place, into: UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: length))
      unsafe av_shrink_packet(pointer, CInt(got))
    } catch { throw .damaged("The file cannot be read: \(error).") }
    unsafe pointer.pointee.flags |= AV_PKT_FLAG_KEY
    return packet
  }

  /// Bytes already in memory as one packet.
  static func of(_ bytes: [UInt8]) throws(MediaError) -> Packet {
    let packet = try Packet()
    let pointer = unsafe packet.pointer
    guard unsafe av_new_packet(pointer, CInt(clamping: bytes.count)) >= 0 else { throw .noMemory }
    unsafe UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: bytes.count).copyBytes(from: bytes)
    unsafe pointer.pointee.flags |= AV_PKT_FLAG_KEY
    return packet
  }

  deinit {
    var freeing: UnsafeMutablePointer<AVPacket>? = unsafe pointer
    unsafe av_packet_free(&freeing)
  }

  var isKey: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
  var stream: Int { unsafe Int(pointer.pointee.stream_index) }
  var size: Int { unsafe Int(pointer.pointee.size) }
  /// The byte of the file at which it begins; negative where that is not known.
  var place: Int64 { unsafe pointer.pointee.pos }
  /// In the stream's time base.
  var time: Int64? { unsafe known(pointer.pointee.pts) ?? known(pointer.pointee.dts) }
}

/// A decoded picture, or a piece of sound.
@safe struct DecodedFrame: ~Copyable {
  let pointer: UnsafeMutablePointer<AVFrame>

  init() throws(MediaError) {
    guard let made = unsafe av_frame_alloc() else { throw .noMemory }
    unsafe pointer = unsafe made
  }

  deinit {
    var freeing: UnsafeMutablePointer<AVFrame>? = unsafe pointer
    unsafe av_frame_free(&freeing)
  }

  /// Whether the decoder had to make up a part of it.
  var isFlawed: Bool {
    unsafe pointer.pointee.decode_error_flags != 0 || pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  /// Whether it looks to be of one brightness, by a few of its pixels: a hundredth of what scaling it would cost. False of what has more than 8 bits, or
  /// no luma.
  var isBlank: Bool {
    let frame = unsafe pointer.pointee
    guard let kind = unsafe av_pix_fmt_desc_get(AVPixelFormat(frame.format)), let luma = unsafe frame.data.0 else {
      return false
    }
    let strange = UInt64(
      AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM)
    let first = unsafe kind.pointee.comp.0
    guard unsafe kind.pointee.flags & strange == 0, first.plane == 0, first.step == 1, first.depth == 8 else {
      return false
    }
    var (darkest, lightest) = (UInt8.max, UInt8.min)
    for row in unsafe stride(from: 0, to: Int(frame.height), by: 8) {
      let line = unsafe luma + row * Int(frame.linesize.0)
      for column in unsafe stride(from: 0, to: Int(frame.width), by: 8) {
        let sample = unsafe line[column]
        darkest = min(darkest, sample)
        lightest = max(lightest, sample)
      }
      if Int(lightest) - Int(darkest) > 8 { return false }
    }
    return true
  }

  /// What the decoder read beside the picture, such as EXIF's `Orientation`.
  func metadata(_ key: String) -> String? { unsafe value(of: key, in: pointer.pointee.metadata) }
}

/// libav's "no such time" as nil.
func known(_ time: Int64) -> Int64? { time == CLIBAV_NOPTS ? nil : time }

/// A text of a libav dictionary.
func value(of key: String, in dictionary: OpaquePointer?) -> String? {
  guard let entry = unsafe av_dict_get(dictionary, key, nil, 0), let text = unsafe entry.pointee.value else {
    return nil
  }
  return unsafe String(cString: text)
}

/// One decoder, in one thread.
@safe struct Decoder: ~Copyable {
  private let owner: CodecContext
  var context: UnsafeMutablePointer<AVCodecContext> { unsafe owner.pointer }

  /// Pixels; a larger picture is refused before memory is taken for it.
  static let mostPixels: Int64 = 134_000_000

  /// - Parameters:
  ///   - halvings: how often the decoder may halve the picture (JPEG only).
  ///   - alpha: whether the decoder must know VP8's and VP9's second, transparent picture.
  ///   - configuration: what it must know before the first packet, where that is not among the parameters.
  ///   - isCut: that what is missing shall be grey (JPEG only).
  init(
    _ codec: AVCodecID, _ parameters: UnsafePointer<AVCodecParameters>? = nil, timeBase: AVRational? = nil,
    halvings: Int = 0, alpha: Bool = false, configuration: [UInt8]? = nil, isCut: Bool = false
  ) throws(MediaError) {
    let special = alpha ? (codec == AV_CODEC_ID_VP9 ? "libvpx-vp9" : codec == AV_CODEC_ID_VP8 ? "libvpx" : nil) : nil
    guard let found = unsafe special.flatMap({ unsafe avcodec_find_decoder_by_name($0) }) ?? avcodec_find_decoder(codec)
    else { throw .unsupported("There is no decoder for \(Decoder.name(codec)).") }
    let owner = try unsafe CodecContext(found)
    let made = unsafe owner.pointer
    if let parameters = unsafe parameters {
      let code = unsafe avcodec_parameters_to_context(made, parameters)
      guard code >= 0 else { throw MediaError(libav: code, "The stream's description") }
    }
    if let configuration {
      guard let copy = unsafe av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
        throw .noMemory
      }
      unsafe copy.copyMemory(from: configuration, byteCount: configuration.count)
      // The context frees it.
      unsafe made.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
      unsafe made.pointee.extradata_size = CInt(clamping: configuration.count)
    }
    if let timeBase { unsafe made.pointee.pkt_timebase = timeBase }
    unsafe made.pointee.thread_count = 1
    unsafe made.pointee.max_pixels = Decoder.mostPixels
    unsafe made.pointee.lowres = CInt(min(halvings, Int(found.pointee.max_lowres)))
    if isCut { unsafe made.pointee.get_buffer2 = greyBuffer }
    // Numbers of light, which would be shown too dark.
    if codec == AV_CODEC_ID_EXR { unsafe _ = av_opt_set(made.pointee.priv_data, "apply_trc", "iec61966_2_1", 0) }
    let code = unsafe avcodec_open2(made, found, nil)
    guard code >= 0 else { throw MediaError(libav: code, "The stream's description") }
    self.owner = owner
  }

  static func name(_ codec: AVCodecID) -> String { unsafe String(cString: avcodec_get_name(codec)) }

  /// For a keyframe that stands alone, shown much smaller than it is: the loop filter costs up to a third of the time, and
  /// what it smooths is smaller than a pixel then. Where other frames are built upon it its absence would add up.
  /// - Parameter shrinking: how many times smaller a side is shown.
  func keyframesOnly(_ only: Bool, shrinking: Double = 1) {
    unsafe context.pointee.skip_frame = only ? AVDISCARD_NONKEY : AVDISCARD_DEFAULT
    // From 4K up a few frames make no difference that could be seen.
    let isHuge = unsafe Int64(context.pointee.width) * Int64(context.pointee.height) >= 3840 * 2000
    unsafe context.pointee.skip_loop_filter = isHuge || (only && shrinking >= 3) ? AVDISCARD_ALL : AVDISCARD_DEFAULT
  }

  func skipLoopFilter() { unsafe context.pointee.skip_loop_filter = AVDISCARD_ALL }

  func flush() { unsafe avcodec_flush_buffers(context) }

  /// - Returns: libav's error code, 0 or more when it was taken.
  func send(_ packet: borrowing Packet) -> CInt { unsafe avcodec_send_packet(context, packet.pointer) }

  /// Says that nothing more comes: a decoder holds frames back until then.
  func sendEnd() { unsafe _ = avcodec_send_packet(context, nil) }

  /// - Returns: libav's error code, 0 or more when there is one.
  func receive(_ frame: borrowing DecodedFrame) -> CInt { unsafe avcodec_receive_frame(context, frame.pointer) }
}

/// libav's side of a decoder.
@safe private struct CodecContext: ~Copyable {
  let pointer: UnsafeMutablePointer<AVCodecContext>

  init(_ codec: UnsafePointer<AVCodec>) throws(MediaError) {
    guard let made = unsafe avcodec_alloc_context3(codec) else { throw .noMemory }
    unsafe pointer = unsafe made
  }

  deinit {
    var freeing: UnsafeMutablePointer<AVCodecContext>? = unsafe pointer
    unsafe avcodec_free_context(&freeing)
  }
}

/// A frame's memory, grey at first: what is zero in luma and chroma is a poisonous green.
@c func greyBuffer(
  _ context: UnsafeMutablePointer<AVCodecContext>?, _ frame: UnsafeMutablePointer<AVFrame>?, _ flags: CInt
) -> CInt {
  let code = unsafe avcodec_default_get_buffer2(context, frame, flags)
  guard code >= 0, let frame = unsafe frame else { return code }
  let buffers = unsafe [frame.pointee.buf.0, frame.pointee.buf.1, frame.pointee.buf.2]
  for plane in 0..<3 {
    if let buffer = unsafe buffers[plane] { unsafe memset(buffer.pointee.data, 0x80, buffer.pointee.size) }
  }
  return code
}
