import CLibAV
import Contracts
import Glibc
import Posix

/// How loud a piece of sound is over its time, from short windows: decoding all of it would cost seconds.
struct Waveform {
  /// 0 to 1 each, as many as there are bars.
  let levels: [Double]

  static let bars = 75

  init(_ input: borrowing Input, stream index: Int, duration: Double?) throws(MediaError) {
    input.keepOnly(index)
    let stream = unsafe input.stream(index).pointee
    let codec = unsafe stream.codecpar.pointee.codec_id
    let decoder = unsafe try Decoder(codec, stream.codecpar, timeBase: stream.time_base)
    let packet = try Packet()
    let frame = try DecodedFrame()
    let start = unsafe known(stream.start_time) ?? 0
    let base = unsafe Probe.seconds(1, stream.time_base)
    // Some files do not say how long they are.
    let rate = unsafe stream.codecpar.pointee.bit_rate
    let duration = duration ?? (rate > 0 ? Double(input.source.size) * 8 / Double(rate) : nil)
    // These have no index, and a search for each bar costs more than all the rest: the bytes are gone to straight. Of some the
    // packets tell what time it is there.
    let isTimed = ["flac", "ogg"].contains(input.demuxer)
    let isSearched =
      isTimed || duration == nil || ["mp3", "aac", "ac3", "eac3", "dts"].contains(input.demuxer)
      || (input.demuxer == "wav" && codec == AV_CODEC_ID_DTS)
    // Behind what is told about the sound, which may be longer than itself.
    var first: Int64 = 0
    var levels = [Double?](repeating: nil, count: Self.bars)
    for bar in 0..<Self.bars {
      if bar > 0 {
        guard !input.source.isLate else { break }
        decoder.flush()
        let ticks = (duration ?? 0) * Double(bar) / Double(Self.bars) / (base ?? 0)
        let goal = ticks.isFinite && abs(ticks) < 1e17 ? start &+ Int64(ticks) : nil
        if isSearched {
          // MP3's header may have a table of it.
          let said = input.demuxer == "mp3" ? goal.flatMap { input.place(index, $0) } : nil
          input.seekToByte(said ?? first + (input.source.size - first) / Int64(Self.bars) * Int64(bar))
        } else {
          guard let goal, input.seek(index, goal) else { break }
        }
      }
      var loudest = 0.0
      var time: Int64?
      // A twentieth of a second tells. The first frames after a jump may be silence from the decoder's run-up: MP3's may lean upon
      // eight before them.
      var (frames, heard, second) = (0, 0, 0)
      while frames < 12, heard * 20 <= second, !input.source.isLate, input.read(packet) {
        guard packet.stream == index else { continue }
        time = time ?? packet.time
        if first == 0 { first = max(0, min(packet.place, input.source.size)) }
        if decoder.send(packet) == CLIBAV_ENOMEM { throw .noMemory }
        while decoder.receive(frame) >= 0 {
          frames += 1
          let level = Self.level(frame)
          if level > 0 {
            unsafe heard += Int(frame.pointer.pointee.nb_samples)
            second = unsafe Int(frame.pointer.pointee.sample_rate)
          }
          loudest = max(loudest, level)
        }
      }
      var place = bar
      if isTimed, bar > 0, let time, let base, let duration {
        let part = Double(time &- start) * base / duration * Double(Self.bars)
        if part >= 0, part < Double(Self.bars) { place = Int(part) }
      }
      if frames > 0 { levels[place] = max(levels[place] ?? 0, loudest) }
    }
    guard levels.contains(where: { $0 != nil }) else { throw .damaged("No sound in it can be decoded.") }
    let filled = Self.filled(levels)
    let most = max(filled.max() ?? 0, 0.05)
    self.levels = filled.map { $0 / most }
  }

  /// What was not heard is as loud as what was heard last before it, and behind the last of it is silence.
  private static func filled(_ levels: [Double?]) -> [Double] {
    let last = levels.lastIndex { $0 != nil } ?? 0
    var before = levels.first { $0 != nil } ?? 0
    return levels.enumerated().map { bar, level in
      before = level ?? (bar > last ? 0 : before)
      return before ?? 0
    }
  }

  /// The root mean square of the first channel's samples, where full scale is 1.
  private static func level(_ frame: borrowing DecodedFrame) -> Double {
    let picture = unsafe frame.pointer.pointee
    let count = unsafe Int(picture.nb_samples)
    guard count > 0, let data = unsafe picture.data.0 else { return 0 }
    let format = unsafe AVSampleFormat(rawValue: picture.format)
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    let width = Int(av_get_bytes_per_sample(format))
    let channels = unsafe isPlanar ? 1 : max(1, Int(picture.ch_layout.nb_channels))
    guard width > 0, unsafe count * width * channels <= Int(picture.linesize.0) else { return 0 }
    let samples = unsafe Samples(start: UnsafeRawPointer(data), count: count, step: channels * width)
    switch format {
    case AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P: return samples.level { (sample: UInt8) in (Double(sample) - 128) / 128 }
    case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P: return samples.level { (sample: Int16) in Double(sample) / 32768 }
    case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
      return samples.level { (sample: Int32) in Double(sample) / 2_147_483_648 }
    case AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP: return samples.level { (sample: Float) in Double(sample) }
    case AV_SAMPLE_FMT_DBL, AV_SAMPLE_FMT_DBLP: return samples.level { (sample: Double) in sample }
    default: return 0
    }
  }

  func draw(_ box: Box) -> Raster {
    let size = Scaler.fit(width: 4096, height: 4096 * 169 / 300, box)
    var canvas = Canvas(width: size.width, height: size.height, Placeholder.ground(.audio))
    let step = canvas.aspect * 0.9 / Double(levels.count)
    // Straight into rows: a general shape for each of the bars would look at every pixel again.
    for (bar, level) in levels.enumerated() {
      let left = canvas.aspect * 0.05 + Double(bar) * step
      let half = max(0.008, level * 0.38)
      canvas.rectangle(left + step * 0.15, 0.5 - half, left + step * 0.85, 0.5 + half, Placeholder.light)
    }
    return canvas.raster
  }
}

/// One channel's samples, in whatever form they are.
@safe private struct Samples {
  let start: UnsafeRawPointer
  let count: Int
  /// Bytes from one to the next.
  let step: Int

  init(start: UnsafeRawPointer, count: Int, step: Int) {
    unsafe self.start = unsafe start
    self.count = count
    self.step = step
  }

  /// Their root mean square.
  /// - Parameter value: a sample's, where full scale is 1.
  @inline(__always)
  func level<Sample: BitwiseCopyable>(_ value: (Sample) -> Double) -> Double {
    var sum = 0.0
    for index in 0..<count {
      let one = unsafe value(start.loadUnaligned(fromByteOffset: index * step, as: Sample.self))
      if one.isFinite { sum += min(one * one, 4) }
    }
    return min(1, (sum / Double(count)).squareRoot())
  }
}
