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
    let decoder = unsafe try Decoder(stream.codecpar.pointee.codec_id, stream.codecpar, timeBase: stream.time_base)
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
    let isSearched = isTimed || duration == nil || ["aac", "ac3", "eac3", "dts"].contains(input.demuxer)
    var levels = [Double?](repeating: nil, count: Self.bars)
    for bar in 0..<Self.bars {
      if bar > 0 {
        guard !input.source.isLate else { break }
        decoder.flush()
        if isSearched {
          input.seekToByte(input.source.size / Int64(Self.bars) * Int64(bar))
        } else {
          let time = (duration ?? 0) * Double(bar) / Double(Self.bars) / (base ?? 0)
          guard time.isFinite, abs(time) < 1e17, input.seek(index, start &+ Int64(time)) else { break }
        }
      }
      var loudest = 0.0
      var time: Int64?
      // The first frames after a jump may be silence from the decoder's run-up: MP3's may lean upon eight before them.
      var (frames, heard) = (0, 0)
      while frames < 12, heard < 3, !input.source.isLate, input.read(packet) {
        guard packet.stream == index else { continue }
        time = time ?? packet.time
        if decoder.send(packet) == CLIBAV_ENOMEM { throw .noMemory }
        while decoder.receive(frame) >= 0 {
          frames += 1
          let level = Self.level(frame)
          if level > 0 { heard += 1 }
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
    let raw = UnsafeRawPointer(data)
    var sum = 0.0
    for index in 0..<count {
      let place = index * channels * width
      let sample: Double =
        switch format {
        case AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P:
          unsafe (Double(raw.loadUnaligned(fromByteOffset: place, as: UInt8.self)) - 128) / 128
        case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P:
          unsafe Double(raw.loadUnaligned(fromByteOffset: place, as: Int16.self)) / 32768
        case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
          unsafe Double(raw.loadUnaligned(fromByteOffset: place, as: Int32.self)) / 2_147_483_648
        case AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP:
          unsafe Double(raw.loadUnaligned(fromByteOffset: place, as: Float.self))
        case AV_SAMPLE_FMT_DBL, AV_SAMPLE_FMT_DBLP:
          unsafe raw.loadUnaligned(fromByteOffset: place, as: Double.self)
        default: 0
        }
      if sample.isFinite { sum += min(sample * sample, 4) }
    }
    return min(1, (sum / Double(count)).squareRoot())
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
