import Posix

/// Room that documents are read into on their way to the kernel, kept between two reads: fresh pages would cost more than the copy.
final class ReadBuffers: Sendable {
  @safe final class Buffer: @unchecked Sendable {
    // Sound since it belongs to the one thread that took it out of the stock.
    let room: UnsafeMutableRawBufferPointer

    init(_ size: Int) { unsafe room = .allocate(byteCount: size, alignment: 4096) }

    deinit { unsafe room.deallocate() }
  }

  /// What the kernel asks for at most, in bytes.
  private static let usual = 1 << 20
  /// Kept while nobody reads.
  private static let most = 4

  private let stock = Guarded<[Buffer]>([])

  /// - Returns: room for `count` bytes at least, to be given back.
  func take(_ count: Int) -> Buffer {
    let kept = count <= ReadBuffers.usual ? stock.withLock({ $0.popLast() }) : nil
    return kept ?? Buffer(max(count, ReadBuffers.usual))
  }

  func giveBack(_ buffer: Buffer) {
    guard unsafe buffer.room.count == ReadBuffers.usual else { return }
    stock.withLock { if $0.count < ReadBuffers.most { $0.append(buffer) } }
  }
}
