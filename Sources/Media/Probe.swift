import CLibAV
import Contracts
import Posix

/// What the container says about itself, read with as little work as it allows.
struct Probe {
  /// The stream whose picture is shown; nil when there is none.
  private(set) var video: Int?
  private(set) var audio: Int?
  /// An embedded picture of what the file is about.
  private(set) var cover: Int?
  private(set) var facts = Facts()
  /// Whether more than the header was read.
  private(set) var isDeep = false

  /// - Parameter deep: to read and decode a little even where the header seems to say enough.
  init(_ input: borrowing Input, deep: Bool = false) throws(MediaError) {
    choose(input)
    if deep || !isEnough(input) {
      isDeep = true
      // Everything that can be shown or heard counts here, subtitles and data do not.
      for index in 0..<input.streams {
        let kind = input.kind(index)
        unsafe input.stream(index).pointee.discard =
          kind == AVMEDIA_TYPE_VIDEO || kind == AVMEDIA_TYPE_AUDIO ? AVDISCARD_DEFAULT : AVDISCARD_ALL
      }
      try input.findStreamInfo()
      choose(input)
    }
    read(input)
  }

  /// The default stream of those that can be decoded, else the largest one.
  private mutating func choose(_ input: borrowing Input) {
    (video, audio, cover) = (nil, nil, nil)
    var best: (decodable: Bool, isDefault: Bool, pixels: Int64) = (false, false, -1)
    for index in 0..<input.streams {
      let kind = input.kind(index)
      if kind == AVMEDIA_TYPE_AUDIO && audio == nil { audio = index }
      guard kind == AVMEDIA_TYPE_VIDEO else { continue }
      let stream = unsafe input.stream(index).pointee
      if unsafe stream.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 {
        if cover == nil && input.isCover(index) { cover = index }
        continue
      }
      let parameters = unsafe stream.codecpar.pointee
      let mark = unsafe (
        decodable: unsafe avcodec_find_decoder(parameters.codec_id) != nil,
        isDefault: stream.disposition & AV_DISPOSITION_DEFAULT != 0,
        pixels: Int64(parameters.width) * Int64(parameters.height)
      )
      let isBetter =
        mark.decodable != best.decodable
        ? mark.decodable
        : mark.isDefault != best.isDefault ? mark.isDefault : mark.pixels > best.pixels
      if video == nil || isBetter { (video, best) = (index, mark) }
    }
  }

  /// Whether the header alone tells what decoding needs; the search for more costs up to half a second.
  private func isEnough(_ input: borrowing Input) -> Bool {
    let demuxer = input.demuxer
    guard let index = video else {
      // Sound alone: the header of all but headerless formats says what it is. Where there is a cover, how long it is will do.
      return (audio != nil || cover != nil) && !input.isHeaderless
        && audio.map { audio in
          let stream = unsafe input.stream(audio).pointee
          // May be DTS in disguise.
          if unsafe demuxer == "wav" && stream.codecpar.pointee.codec_id == AV_CODEC_ID_PCM_S16LE { return false }
          return unsafe stream.codecpar.pointee.sample_rate > 0 || cover != nil && known(stream.duration) != nil
        } != false
    }
    let parameters = unsafe input.stream(index).pointee.codecpar.pointee
    let hasSize = unsafe parameters.width > 0 && parameters.height > 0
    if demuxer.hasPrefix("mov") || demuxer.hasPrefix("matroska") {
      let needsMore = unsafe parameters.codec_id == AV_CODEC_ID_H264 || parameters.codec_id == AV_CODEC_ID_HEVC
      return unsafe hasSize && (!needsMore || parameters.extradata_size > 0)
    }
    if ["avi", "asf", "flv", "ogg"].contains(demuxer) {
      return unsafe hasSize && parameters.codec_id != AV_CODEC_ID_NONE
    }
    if demuxer == "mpegts" {
      return unsafe [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG1VIDEO].contains(
        parameters.codec_id)
    }
    return false
  }

  private mutating func read(_ input: borrowing Input) {
    let context = unsafe input.context.pointee
    facts.container = input.demuxer
    facts.hasAudio = audio != nil
    var length = unsafe known(context.duration).map { Double($0) / 1_000_000 } ?? 0
    for index in 0..<input.streams {
      let stream = unsafe input.stream(index).pointee
      if let own = unsafe known(stream.duration), let seconds = unsafe Self.seconds(own, stream.time_base) {
        length = max(length, seconds)
      }
    }
    if length.isFinite, length > 0, length < 1e9 { facts.duration = length }
    if let audio {
      let codec = unsafe input.stream(audio).pointee.codecpar.pointee.codec_id
      if codec != AV_CODEC_ID_NONE { facts.audioCodec = Decoder.name(codec) }
    }
    if let index = video {
      let stream = unsafe input.stream(index).pointee
      let codec = unsafe stream.codecpar.pointee.codec_id
      if codec != AV_CODEC_ID_NONE { facts.videoCodec = Decoder.name(codec) }
      for rate in unsafe [stream.avg_frame_rate, stream.r_frame_rate] where facts.frameRate == nil {
        if rate.num > 0, rate.den > 0, Double(rate.num) / Double(rate.den) <= 1000 {
          facts.frameRate = Double(rate.num) / Double(rate.den)
        }
      }
    }
    facts.taken =
      unsafe value(of: "com.apple.quicktime.creationdate", in: context.metadata)
      ?? value(of: "creation_time", in: context.metadata)
    facts.cameraMake =
      unsafe value(of: "com.apple.quicktime.make", in: context.metadata) ?? value(of: "make", in: context.metadata)
    facts.cameraModel =
      unsafe value(of: "com.apple.quicktime.model", in: context.metadata)
      ?? value(of: "model", in: context.metadata)
  }

  static func seconds(_ time: Int64, _ base: AVRational) -> Double? {
    guard base.num > 0, base.den > 0 else { return nil }
    return Double(time) * Double(base.num) / Double(base.den)
  }
}
