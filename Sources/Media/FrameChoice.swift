import CLibAV
import Contracts
import Posix

// Times come from the file and may be anything: arithmetic on them wraps, and what comes of it only chooses a frame.

/// Which frame stands for a video, and how to get it with the least decoding: one keyframe, by itself.
@safe struct FrameChoice: ~Copyable {
  private let stream: Int
  private let decoder: Decoder
  private let packet: Packet
  private let frame: DecodedFrame
  private let base: AVRational
  /// In the stream's time base.
  private let start: Int64
  /// Seconds.
  private let duration: Double?
  private let box: Box

  /// Bytes that are read for one frame before it is given up.
  private static let patience = 32 << 20
  /// Keyframes that are tried by themselves before decoding goes on as in playing.
  private static let tries = 3

  /// - Parameter box: the largest size wanted.
  init(_ input: borrowing Input, stream index: Int, duration: Double?, _ box: Box) throws(MediaError) {
    stream = index
    self.box = box
    self.duration = duration
    input.keepOnly(index)
    let stream = unsafe input.stream(index).pointee
    base = unsafe stream.time_base
    let alpha = unsafe value(of: "alpha_mode", in: stream.metadata) == "1"
    let decoder = try unsafe Decoder(
      stream.codecpar.pointee.codec_id, stream.codecpar, timeBase: stream.time_base, alpha: alpha)
    let packet = try Packet()
    let frame = try DecodedFrame()
    if let known = unsafe known(stream.start_time) {
      start = known
    } else if let first = unsafe avformat_index_get_entry(input.stream(index), 0) {
      start = unsafe first.pointee.timestamp
    } else if !Self.isReadOnce(input), input.read(packet), let first = packet.time {
      // A transport stream's clock may stand at any hour.
      start = first
    } else {
      start = 0
    }
    self.decoder = decoder
    self.packet = packet
    self.frame = frame
  }

  /// Calls `take` with one frame after another, the best first, until it answers true: that this one is lively enough.
  /// - Returns: whether there was any frame.
  func frames(_ input: borrowing Input, _ take: (borrowing DecodedFrame) throws(MediaError) -> Bool) throws(MediaError)
    -> Bool
  {
    var found = false
    var last: Int64?
    for step in 0..<5 {
      guard !input.source.isLate else { break }
      let target = step == 0 ? first(input) : next(input, step, after: last)
      guard let target, target != last || step == 0 else { continue }
      guard try decode(input, from: target, mayPlay: !found) else {
        if found { continue } else { break }
      }
      found = true
      last = unsafe known(frame.pointer.pointee.pts) ?? target
      if try take(frame) { return true }
    }
    return found
  }

  private func time(_ seconds: Double) -> Int64 {
    guard base.num > 0, base.den > 0 else { return start }
    let ticks = seconds * Double(base.den) / Double(base.num)
    guard ticks.isFinite, abs(ticks) < 1e18 else { return start }
    let (sum, overflow) = start.addingReportingOverflow(Int64(ticks))
    return overflow ? start : sum
  }

  /// At 5 s, or at the half of what is shorter than 10: the keyframe before when it is not too early, else the one after when
  /// it is not too late.
  private func first(_ input: borrowing Input) -> Int64 {
    let goal = duration.map { min(5, $0 / 2) } ?? 5
    let target = time(goal)
    // Matroska reads its index at the first seek. Where there is none to read, that would be a search for nothing.
    if !isSearched(input), !Self.isReadOnce(input), unsafe avformat_index_get_entries_count(input.stream(stream)) <= 1 {
      input.seek(stream, target)
    }
    guard let before = keyframe(input, target, AVSEEK_FLAG_BACKWARD) else { return target }
    if before >= time(goal / 2) { return before }
    if let after = keyframe(input, target, 0), after <= time(goal * 3) { return after }
    return before
  }

  /// Where to look when the frames so far are blank: the next keyframe, then further on.
  private func next(_ input: borrowing Input, _ step: Int, after last: Int64?) -> Int64? {
    if step == 1, let last {
      if let next = lightest(input, after: last) { return next }
      return time((Probe.seconds(last &- start, base) ?? 5) + 5)
    }
    let place = [0.35, 0.55, 0.8, 0][step - 1]
    guard let duration else { return time(Double(step) * 10) }
    return time(duration * place)
  }

  /// Of the next four keyframes the one with the fewest bytes, so the soonest decoded, that has many more than the blank one: the
  /// first after a long black often has had all the bits that the black saved.
  private func lightest(_ input: borrowing Input, after last: Int64) -> Int64? {
    func entry(_ time: Int64, _ flags: CInt) -> (time: Int64, size: Int)? {
      guard let entry = unsafe avformat_index_get_entry_from_timestamp(input.stream(stream), time, flags) else {
        return nil
      }
      return unsafe (entry.pointee.timestamp, Int(entry.pointee.size))
    }
    guard var next = entry(last &+ 1, 0) else { return nil }
    let first = next.time
    let blank = entry(last, AVSEEK_FLAG_BACKWARD)?.size ?? 0
    var best: (time: Int64, size: Int)?
    for _ in 0..<4 {
      if next.size > 8 * blank, next.size < best?.size ?? .max { best = next }
      guard let following = entry(next.time &+ 1, 0), following.time > next.time else { break }
      next = following
    }
    return best?.time ?? first
  }

  private func keyframe(_ input: borrowing Input, _ time: Int64, _ flags: CInt) -> Int64? {
    guard let entry = unsafe avformat_index_get_entry_from_timestamp(input.stream(stream), time, flags) else {
      return nil
    }
    return unsafe entry.pointee.timestamp
  }

  /// Gets the frame at or soon after `target`; each step down was needed by a real file.
  private func decode(_ input: borrowing Input, from target: Int64, mayPlay: Bool) throws(MediaError) -> Bool {
    if Self.isReadOnce(input) { return mayPlay ? try play(input, from: nil) : false }
    if try key(input, from: target) { return true }
    // A search leads into the midst of a group of pictures, and there may be no further one.
    if isSearched(input), target > start, try key(input, from: start &+ (target &- start) / 2) { return true }
    guard mayPlay else { return false }
    if try play(input, from: target) { return true }
    if try key(input, from: nil) { return true }
    return try play(input, from: nil)
  }

  /// The index counts decoding times, but MP4's reader looks for a keyframe that is also shown by the time asked for: so a little
  /// behind the keyframe, and before the next.
  private func aim(_ input: borrowing Input, _ target: Int64) -> Int64 {
    guard keyframe(input, target, AVSEEK_FLAG_BACKWARD) == target else { return target }
    let behind = target &+ max(0, time(0.5) &- start)
    return keyframe(input, target &+ 1, 0).map { max(target, min(behind, $0 &- 1)) } ?? behind
  }

  private func go(_ input: borrowing Input, to target: Int64?) {
    decoder.flush()
    if Self.isReadOnce(input) { return }
    if let target {
      let target = aim(input, target)
      if !input.seek(stream, target) { input.seek(stream, target, backward: false) }
    } else {
      rewind(input)
    }
  }

  /// To the first packet: where time is found by searching, asking for the first time shown would pass by the keyframe, whose
  /// decoding time is earlier.
  private func rewind(_ input: borrowing Input) {
    if !isSearched(input) && (input.seek(stream, time(-10)) || input.seek(stream, start)) { return }
    input.seekToByte(0)
  }

  /// Whether its reader knows no way back, or which of its packets are keyframes.
  private static func isReadOnce(_ input: borrowing Input) -> Bool {
    ["ico", "fits", "h261", "h263"].contains(input.demuxer)
  }

  private func isSearched(_ input: borrowing Input) -> Bool { ["mpegts", "mpeg", "ogg"].contains(input.demuxer) }

  /// What only packets and decoder could tell: a transport stream's length, from its last packets.
  func complete(_ facts: inout Facts, _ input: borrowing Input) {
    if facts.frameRate == nil {
      let rate = unsafe decoder.context.pointee.framerate
      if rate.num > 0, rate.den > 0, rate.num / rate.den <= 1000 {
        facts.frameRate = Double(rate.num) / Double(rate.den)
      }
    }
    guard facts.duration == nil, isSearched(input), !input.source.isLate else { return }
    input.seekToByte(max(0, input.source.size - 1 << 19))
    var last: Int64?
    while input.read(packet) {
      if packet.stream == stream, let time = packet.time { last = max(last ?? time, time) }
    }
    guard let last, last > start, let seconds = Probe.seconds(last &- start, base), (0..<1e7).contains(seconds) else {
      return
    }
    facts.duration = seconds + (facts.frameRate.map { 1 / $0 } ?? 0)
  }

  /// One keyframe sent alone, and the end at once, so that the decoder holds nothing back.
  private func key(_ input: borrowing Input, from target: Int64?) throws(MediaError) -> Bool {
    go(input, to: target)
    let (width, height) = unsafe (decoder.context.pointee.width, decoder.context.pointee.height)
    decoder.keyframesOnly(
      true, shrinking: max(Double(width) / Double(box.width), Double(height) / Double(box.height)))
    defer { decoder.keyframesOnly(false) }
    var keys = 0
    var bytes = 0
    while keys < Self.tries, bytes < Self.patience, !input.source.isLate, input.read(packet) {
      bytes += packet.size
      guard packet.stream == stream, packet.isKey else { continue }
      keys += 1
      let sent = decoder.send(packet)
      if sent == CLIBAV_ENOMEM { throw .noMemory }
      decoder.sendEnd()
      let got = decoder.receive(frame)
      if got >= 0 && (!frame.isFlawed || keys == Self.tries) { return true }
      if got == CLIBAV_ENOMEM { throw .noMemory }
      decoder.flush()
    }
    return false
  }

  /// As a player would: for streams without a keyframe that stands alone.
  private func play(_ input: borrowing Input, from target: Int64?) throws(MediaError) -> Bool {
    go(input, to: target)
    var bytes = 0
    while bytes < Self.patience, !input.source.isLate, input.read(packet) {
      bytes += packet.size
      guard packet.stream == stream else { continue }
      if decoder.send(packet) == CLIBAV_ENOMEM { throw .noMemory }
      if decoder.receive(frame) >= 0 { return true }
    }
    decoder.sendEnd()
    return decoder.receive(frame) >= 0
  }
}
