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
    var levels: [Double] = []
    for bar in 0..<Self.bars {
      if let duration, let base = unsafe Probe.seconds(1, stream.time_base), bar > 0 {
        let time = duration * Double(bar) / Double(Self.bars) / base
        guard time.isFinite, abs(time) < 1e17 else { break }
        decoder.flush()
        if !input.seek(index, start &+ Int64(time)) { break }
      }
      var loudest = 0.0
      // The first frame after a jump may be silence from the decoder's run-up.
      var frames = 0
      while frames < 3, !input.source.isLate, input.read(packet) {
        guard packet.stream == index else { continue }
        if decoder.send(packet) == CLIBAV_ENOMEM { throw .noMemory }
        while decoder.receive(frame) >= 0 {
          frames += 1
          loudest = max(loudest, Self.level(frame))
        }
      }
      if frames == 0 && bar > 0 && input.source.isLate { break }
      levels.append(loudest)
    }
    guard levels.contains(where: { $0 > 0 }) || levels.count > 1 else {
      throw .damaged("No sound in it can be decoded.")
    }
    let most = max(levels.max() ?? 0, 0.05)
    self.levels = levels.map { $0 / most }
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
