import CLibAV
import Contracts
import Posix

/// An open container: libavformat over a `Source`. Nothing is ever opened by name, neither by us nor by what a file refers to.
@safe struct Input: ~Copyable {
  let context: UnsafeMutablePointer<AVFormatContext>
  private let bytes: ByteContext
  let source: Source

  /// - Parameter format: the demuxer's name; nil lets libavformat choose among those of `guessable`.
  init(_ source: Source, format: String?) throws(MediaError) {
    source.position = 0
    let bytes = try ByteContext(source)
    guard let created = unsafe avformat_alloc_context() else { throw .noMemory }
    unsafe created.pointee.pb = bytes.pointer
    unsafe created.pointee.io_open = refuseToOpen
    unsafe created.pointee.interrupt_callback = AVIOInterruptCB(
      callback: isLate, opaque: Unmanaged.passUnretained(source).toOpaque())
    unsafe created.pointee.probesize = 1 << 21
    unsafe created.pointee.max_analyze_duration = 500_000
    unsafe created.pointee.format_probesize = 32768
    // Whether samples are DTS in disguise eight packets tell. libavformat would look at megabytes.
    if format == "wav" { unsafe created.pointee.max_probe_packets = 8 }
    // Then MP3's table of which byte is when is an index as others are.
    if format == "mp3" { unsafe created.pointee.flags |= AVFMT_FLAG_FAST_SEEK }
    var options: OpaquePointer? = nil
    defer { unsafe av_dict_free(&options) }
    if format == nil { unsafe av_dict_set(&options, "format_whitelist", Self.guessable, 0) }
    let demuxer = unsafe format.flatMap { unsafe av_find_input_format($0) }
    var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe created
    let code = unsafe avformat_open_input(&opened, nil, demuxer, &options)
    guard code >= 0, let opened = unsafe opened else { throw MediaError(libav: code, "The file's structure") }
    unsafe context = unsafe opened
    self.bytes = bytes
    self.source = source
  }

  deinit {
    var closing: UnsafeMutablePointer<AVFormatContext>? = unsafe context
    unsafe avformat_close_input(&closing)
  }

  /// Formats that are told by libavformat's own probing, where `TypeDetection` knows no magic number. Playlists and lists of
  /// images, which make a reader open other files, are not among them.
  private static let guessable =
    "dv,mxf,mpeg,mpegvideo,mpegts,h264,hevc,m4v,rm,ivf,swf,nut,mp3,aac,ac3,eac3,dts,amr,ape,wv,caf,au,yuv4mpegpipe,"
    + "mov,matroska,avi,asf,flv,ogg,nsv,bink,smk,vivo,gxf,wtv,ty,tta,truehd,voc,w64,aiff,flac,wav,roq,nuv,film_cpk,"
    + "dirac,obu,av1,vc1,mjpeg,dnxhd,fits"

  var streams: Int { unsafe Int(clamping: context.pointee.nb_streams) }

  func stream(_ index: Int) -> UnsafeMutablePointer<AVStream> {
    precondition(index >= 0 && index < streams)
    return unsafe context.pointee.streams[index]!
  }

  func kind(_ index: Int) -> AVMediaType { unsafe stream(index).pointee.codecpar.pointee.codec_type }

  func isCover(_ index: Int) -> Bool {
    unsafe stream(index).pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
      && stream(index).pointee.attached_pic.size > 0
  }

  /// The demuxer's own name, such as `matroska,webm`.
  var demuxer: String {
    guard let format = unsafe context.pointee.iformat, let name = unsafe format.pointee.name else { return "" }
    return unsafe String(cString: name)
  }

  /// Whether streams may still turn up behind the header.
  var isHeaderless: Bool { unsafe context.pointee.ctx_flags & AVFMTCTX_NOHEADER != 0 }

  /// Only this stream's packets are read from now on.
  func keepOnly(_ index: Int) {
    for other in 0..<streams {
      unsafe stream(other).pointee.discard = other == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads and decodes a little, where the header does not say enough. Once in an input's life: libavformat frees what a second time
  /// would need.
  func findStreamInfo() throws(MediaError) {
    let code = unsafe avformat_find_stream_info(context, nil)
    if source.isLate { throw .tooLong }
    guard code >= 0 else { throw MediaError(libav: code, "The file's structure") }
  }

  /// The next packet of the kept streams.
  /// - Returns: false at the end, and where nothing more can be read.
  func read(_ packet: borrowing Packet) -> Bool {
    unsafe av_packet_unref(packet.pointer)
    return unsafe av_read_frame(context, packet.pointer) >= 0
  }

  /// Goes to the keyframe at or before `time`, in the stream's time base.
  @discardableResult
  func seek(_ index: Int, _ time: Int64, backward: Bool = true) -> Bool {
    unsafe av_seek_frame(context, CInt(index), time, backward ? AVSEEK_FLAG_BACKWARD : 0) >= 0
  }

  /// The byte at which the stream's index has the keyframe at or before `time`.
  func place(_ index: Int, _ time: Int64) -> Int64? {
    guard let entry = unsafe avformat_index_get_entry_from_timestamp(stream(index), time, AVSEEK_FLAG_BACKWARD) else {
      return nil
    }
    return unsafe entry.pointee.pos
  }

  func seekToByte(_ place: Int64) { unsafe _ = av_seek_frame(context, -1, place, AVSEEK_FLAG_BYTE) }
}

/// libav's buffered reader over a `Source`.
@safe struct ByteContext: ~Copyable {
  let pointer: UnsafeMutablePointer<AVIOContext>

  init(_ source: Source) throws(MediaError) {
    let size = 32768
    guard let buffer = unsafe av_malloc(size) else { throw .noMemory }
    guard
      let made = unsafe avio_alloc_context(
        buffer.assumingMemoryBound(to: UInt8.self), CInt(size), 0, Unmanaged.passUnretained(source).toOpaque(),
        readSource,
        nil, seekSource)
    else {
      unsafe av_free(buffer)
      throw .noMemory
    }
    unsafe pointer = unsafe made
  }

  deinit {
    // libav may have put another buffer in the place of ours.
    unsafe av_free(pointer.pointee.buffer)
    var freeing: UnsafeMutablePointer<AVIOContext>? = unsafe pointer
    unsafe avio_context_free(&freeing)
  }
}

@c func readSource(_ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: CInt) -> CInt {
  guard let opaque = unsafe opaque, let buffer = unsafe buffer, size > 0 else { return CLIBAV_EINVAL }
  let source = unsafe Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue()
  if source.isLate { return CLIBAV_EXIT }
  do throws(Errno) {
    let got = try unsafe source.read(
      at: source.position, into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)))
    if got == 0 { return CLIBAV_EOF }
    source.position += Int64(got)
    return CInt(got)
  } catch { return CLIBAV_EIO }
}

@c func seekSource(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: CInt) -> Int64 {
  guard let opaque = unsafe opaque else { return Int64(CLIBAV_EINVAL) }
  let source = unsafe Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue()
  let base: Int64
  switch whence & ~AVSEEK_FORCE {
  case AVSEEK_SIZE: return source.size
  case 0: base = 0
  case 1: base = source.position
  case 2: base = source.size
  default: return Int64(CLIBAV_EINVAL)
  }
  let (place, overflow) = base.addingReportingOverflow(offset)
  guard !overflow, place >= 0 else { return Int64(CLIBAV_EINVAL) }
  source.position = place
  return place
}

@c func isLate(_ opaque: UnsafeMutableRawPointer?) -> CInt {
  guard let opaque = unsafe opaque else { return 0 }
  return unsafe Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue().isLate ? 1 : 0
}

@c func refuseToOpen(
  _ context: UnsafeMutablePointer<AVFormatContext>?, _ bytes: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ address: UnsafePointer<CChar>?, _ flags: CInt, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
  CLIBAV_EPERM
}
