import CLibAV
import Contracts

/// The last picture of a stream that has no end of its own: whether it is all there, which the decoder notices.
struct StreamEnd {
  /// Bytes from the file's end: a keyframe must be among them.
  private static let reach: Int64 = 4 << 20

  private var last: (place: Int64, isFlawed: Bool)?
  private var isSound = false

  /// Whether a part of the last picture had to be made up, though none of one before it.
  var isCut: Bool { isSound && last?.isFlawed == true }

  init(_ input: borrowing Input, stream index: Int) throws(MediaError) {
    let stream = unsafe input.stream(index).pointee
    let decoder = unsafe try Decoder(stream.codecpar.pointee.codec_id, stream.codecpar, timeBase: stream.time_base)
    // What is whole without it is whole with it.
    decoder.skipLoopFilter()
    let packet = try Packet()
    let frame = try DecodedFrame()
    input.seekToByte(max(0, input.source.size - Self.reach))
    var hasKey = false
    while !input.source.isLate, input.read(packet) {
      guard packet.stream == index, hasKey || packet.isKey else { continue }
      hasKey = true
      // A broken packet may be refused: then it has no picture, and nothing is said.
      if decoder.send(packet) == CLIBAV_ENOMEM { throw .noMemory }
      while decoder.receive(frame) >= 0 { take(frame) }
    }
    decoder.sendEnd()
    while decoder.receive(frame) >= 0 { take(frame) }
  }

  /// Pictures come in the order in which they are shown.
  private mutating func take(_ frame: borrowing DecodedFrame) {
    let place = unsafe frame.pointer.pointee.pkt_pos
    if let last {
      let earlier = last.place <= place ? last.isFlawed : frame.isFlawed
      if !earlier { isSound = true }
      if last.place > place { return }
    }
    last = (place, frame.isFlawed)
  }
}
