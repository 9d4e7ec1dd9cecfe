import CLibAV
import Contracts
import Posix

/// The way of one document: type, completeness, then picture.
struct Study {
  let name: FileName
  let boxes: [Box]

  init(name: [UInt8], boxes: [Box]) {
    self.name = FileName(name.filter { $0 != 0 })
    self.boxes = boxes
  }

  var largest: Box {
    Box(width: boxes.map(\.width).max() ?? 1, height: boxes.map(\.height).max() ?? 1)
  }

  func finding(_ document: CInt, deadline: Clock.Instant) -> Finding {
    let claim = MediaTypes.claimed(byName: name)
    var finding = Finding(placeholder: PlaceholderKind(claim?.kind ?? .document))
    do throws(MediaError) {
      let source = try Source(document, deadline: deadline)
      do throws(MediaError) {
        try examine(source, claim, &finding)
      } catch {
        if let failure = source.failure { throw .damaged("The file cannot be read: \(failure).") }
        throw error
      }
    } catch {
      finding.judge(error)
    }
    if finding.facts.type == nil { finding.facts.type = claim ?? MediaTypes.unknown }
    if finding.verdict == .invalid { finding.placeholder = .damaged }
    return finding
  }

  private func examine(_ source: Source, _ claim: MediaType?, _ finding: inout Finding) throws(MediaError) {
    let claimsMedia = claim.map { $0.kind != .document } ?? false
    if source.size == 0 {
      if claimsMedia { throw MediaError(verdict: .incomplete, reason: "The file is empty.") }
      return
    }
    guard let found = TypeDetection.detect(source, name: name) else {
      if source.bytes(at: 0, 65536).isZeros, claimsMedia {
        finding.placeholder = .damaged
        throw MediaError(verdict: .incomplete, reason: "The beginning of the file was never written.")
      }
      return try guess(source, claim, &finding)
    }
    finding.facts.type = found.type
    finding.placeholder = PlaceholderKind(found.type.kind)
    switch Completeness.check(source, found.format) {
    case .whole: break
    case .unknown: if found.type.kind != .document { finding.doubt() }
    case .unfinished: finding.doubt(isUnfinished: true)
    case .cut(let reason):
      finding.judge(MediaError(verdict: .incomplete, reason: reason))
      finding.placeholder = .damaged
    }
    switch found.format {
    case .text, .pdf, .zip, .otherDocument:
      if found.type.identifier == "public.svg-image" { throw .unsupported("There is no decoder for SVG drawings.") }
      // A program's text may have the ending of a transport stream.
      if let claim, claimsMedia, !(found.format == .text && claim.identifier == "public.mpeg-2-transport-stream") {
        throw .damaged("It is not the \(claim.kind.word) that its name says: the content is \(found.type.mime).")
      }
    // What is there of a cut one is shown; the verdict stands already.
    case .heif: try heif(source, &finding)
    case .cameraRaw, .otherStill: try preview(source, &finding)
    case .rarePicture(let codec): try rarePicture(source, found.format, codec, &finding)
    default:
      if let codec = found.format.still {
        try still(source, found.format, codec, &finding)
      } else {
        try container(source, format: found.format.demuxer, &finding)
      }
    }
  }

  /// Where no magic number is known: whatever libavformat recognises, if it does.
  private func guess(_ source: Source, _ claim: MediaType?, _ finding: inout Finding) throws(MediaError) {
    guard let claim else { return nameless(source, &finding) }
    if claim.kind == .document { return }
    do throws(MediaError) {
      finding.doubt()
      try container(source, format: Self.named[claim.identifier], &finding)
    } catch {
      if error == .tooLong || error == .noMemory || finding.facts.container != nil { throw error }
      throw .damaged("It is not the \(claim.kind.word) that its name says.")
    }
  }

  /// Formats of which the content says so little that the name must say it.
  private static let named = [
    "org.itu.h261": "h261", "org.itu.h263": "h263", "com.adobe.filmstrip": "filmstrip",
  ]

  /// What claims nothing may be anything: only a picture that comes of it shows that it has one.
  private func nameless(_ source: Source, _ finding: inout Finding) {
    var guess = finding
    guess.doubt()
    do throws(MediaError) { try container(source, format: nil, &guess) } catch { return }
    guard [.video, .image].contains(guess.facts.type?.kind) else { return }
    finding = guess
  }

  private func container(_ source: Source, format: String?, _ finding: inout Finding) throws(MediaError) {
    let input = try Input(source, format: format)
    let probe = try Probe(input)
    finding.take(probe, input)
    if probe.video == nil, probe.audio == nil, probe.cover == nil {
      throw .damaged("There is neither picture nor sound in it.")
    }
    guard let index = probe.video else { return try sound(input, probe, &finding) }
    do throws(MediaError) {
      try picture(input, index, &finding)
      return
    } catch {
      if probe.isDeep || error.verdict == .unsupported || source.isLate { throw error }
    }
    // The header did not say enough after all.
    let again = try Input(source, format: format)
    let deep = try Probe(again, deep: true)
    finding.take(deep, again)
    guard let index = deep.video else { return try sound(again, deep, &finding) }
    try picture(again, index, &finding)
  }

  private func picture(_ input: borrowing Input, _ index: Int, _ finding: inout Finding) throws(MediaError) {
    let parameters = unsafe input.stream(index).pointee.codecpar.pointee
    if unsafe value(of: "encryption", in: input.context.pointee.metadata) != nil
      || Self.isEncrypted(parameters.codec_tag)
    {
      throw .unsupported("The video is encrypted.")
    }
    if unsafe Int64(parameters.width) * Int64(parameters.height) > Decoder.mostPixels { throw .tooManyPixels }
    let choice = try FrameChoice(input, stream: index, duration: finding.facts.duration, largest)
    let isStill = finding.facts.type?.kind == .image
    // libav's reader of AVIF passes by how it is turned.
    let orientation =
      isStill
      ? HEIFFile(input.source).flatMap { $0.items[$0.primary]?.orientation } : unsafe Orientation(input.stream(index))
    var best = finding
    var liveliness = -1.0
    let found = try choice.frames(input) { frame throws(MediaError) in
      // One of that kind is enough, for where there is nothing else.
      if liveliness >= 0, frame.isBlank { return false }
      var one = finding
      let aspect = unsafe av_guess_sample_aspect_ratio(input.context, input.stream(index), frame.pointer)
      let turn = orientation ?? Orientation(frame) ?? .upright
      try show(frame, isStill ? 1 : Self.ratio(aspect), turn, isStill: isStill, nil, &one)
      let lively = one.rasters.first?.liveliness ?? 0
      if lively > liveliness { (best, liveliness) = (one, lively) }
      return lively >= 10 || isStill
    }
    finding = best
    choice.complete(&finding.facts, input)
    if finding.isUnfinished, found, try StreamEnd(input, stream: index).isCut, !input.source.isLate {
      finding.judge(MediaError(verdict: .incomplete, reason: "The last picture of the stream is cut off."))
    }
    if !found { throw input.source.isLate ? .tooLong : .damaged("No picture in it can be decoded.") }
  }

  private func sound(_ input: borrowing Input, _ probe: Probe, _ finding: inout Finding) throws(MediaError) {
    finding.facts.type = finding.facts.type.map(\.asAudio)
    if finding.placeholder == .video { finding.placeholder = .audio }
    if let cover = probe.cover {
      let stream = unsafe input.stream(cover).pointee
      let packet = try Packet()
      var picture = unsafe stream.attached_pic
      if unsafe av_packet_ref(packet.pointer, &picture) >= 0 {
        let frame = try DecodedFrame()
        do throws(MediaError) {
          try Still.decode(packet, unsafe stream.codecpar.pointee.codec_id, into: frame)
          var cover = finding
          try show(frame, 1, Orientation(frame) ?? .upright, isStill: true, nil, &cover)
          finding.rasters = cover.rasters
          return
        } catch {
          // The sound itself is shown where its cover cannot be.
          if probe.audio == nil { throw error }
        }
      }
    }
    guard let audio = probe.audio else { throw .damaged("There is neither picture nor sound in it.") }
    let waveform = try Waveform(input, stream: audio, duration: finding.facts.duration)
    finding.rasters = boxes.map { waveform.draw($0) }
  }

  /// Draws all sizes from one frame.
  /// - Parameter stored: the picture's true size where the decoder made it smaller.
  func show(
    _ frame: borrowing DecodedFrame, _ aspect: Double, _ orientation: Orientation, isStill: Bool,
    _ stored: (width: Int, height: Int)?, _ finding: inout Finding
  ) throws(MediaError) {
    var rasters: [Raster] = []
    for box in boxes {
      rasters.append(
        try Scaler.raster(frame, sampleAspect: aspect, orientation: orientation, isStill: isStill, box))
    }
    finding.rasters = rasters
    let width = Double(unsafe stored?.width ?? Int(frame.pointer.pointee.width)) * aspect
    let height = unsafe stored?.height ?? Int(frame.pointer.pointee.height)
    let shown = Int(max(1, min(width, 1e9)).rounded())
    (finding.facts.width, finding.facts.height) = orientation.swapsSides ? (height, shown) : (shown, height)
    finding.facts.rotation = orientation.quarterTurns * 90
  }

  /// A pixel's width by its height; 1 where that is not said, or beyond belief.
  private static func ratio(_ aspect: AVRational) -> Double {
    guard aspect.num > 0, aspect.den > 0 else { return 1 }
    let ratio = Double(aspect.num) / Double(aspect.den)
    return (1.0 / 100...100).contains(ratio) ? ratio : 1
  }

  /// `encv`, `enca`, `drmi`: what encrypted tracks are called in MP4.
  private static func isEncrypted(_ tag: UInt32) -> Bool {
    ["encv", "drmi"].contains(
      String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: tag >> ($0 * 8)) }, as: UTF8.self))
  }
}

extension Finding {
  /// The container's facts; the content's type stays.
  fileprivate mutating func take(_ probe: Probe, _ input: borrowing Input) {
    let type = facts.type
    facts = probe.facts
    facts.type = type ?? TypeDetection.type(ofDemuxer: input.demuxer)
    if let type = facts.type { placeholder = verdict == .incomplete ? .damaged : PlaceholderKind(type.kind) }
  }
}

extension MediaKind {
  fileprivate var word: String {
    switch self {
    case .video: "video"
    case .image: "picture"
    case .audio: "sound"
    case .document: "document"
    }
  }
}

extension MediaType {
  /// A container for video that holds sound alone.
  fileprivate var asAudio: MediaType {
    guard kind == .video else { return self }
    switch identifier {
    case "public.mpeg-4", "com.apple.m4v-video", "com.apple.quicktime-movie":
      return MediaTypes.byExtension("m4a") ?? self
    case "org.matroska.mkv": return MediaTypes.byExtension("mka") ?? self
    case "com.microsoft.advanced-systems-format", "com.microsoft.windows-media-wmv":
      return MediaTypes.byExtension("wma") ?? self
    case "org.xiph.ogg.video": return MediaTypes.byExtension("ogg") ?? self
    default:
      return MediaType(
        kind: .audio, identifier: identifier == "public.movie" ? "public.audio" : identifier,
        mime: mime.hasPrefix("video/") ? "audio/" + mime.dropFirst(6) : mime)
    }
  }
}
