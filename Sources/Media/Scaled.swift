import CLibAV

/// What swscale wrote: rows of samples, in one plane or in several.
@safe struct Scaled: ~Copyable {
  let width: Int
  let height: Int
  /// Bytes from one row to the next: as wide as the widest vector store needs.
  private let stride: Int
  private let planes: Int
  private let bytes: UnsafeMutableRawBufferPointer

  /// - Parameters:
  ///   - planes: 1 to 4.
  ///   - bytes: of one pixel in one plane.
  init(width: Int, height: Int, planes: Int, bytes: Int) {
    (self.width, self.height, self.planes) = (width, height, planes)
    stride = (width * bytes + 127) & ~63
    // A spare row: the scaler writes beyond a row's end.
    unsafe self.bytes = .allocate(byteCount: stride * (height + 1) * planes, alignment: 64)
  }

  deinit { unsafe bytes.deallocate() }

  private func start(_ plane: Int) -> Int { stride * (height + 1) * plane }

  /// Where swscale writes to.
  func withPlanes<Answer>(
    _ body: (UnsafePointer<UnsafeMutablePointer<UInt8>?>, UnsafePointer<CInt>) -> Answer
  ) -> Answer {
    let places: [UnsafeMutablePointer<UInt8>?] = unsafe (0..<4).map { plane in
      unsafe plane < planes ? bytes.bindMemory(to: UInt8.self).baseAddress! + start(plane) : nil
    }
    let strides = (0..<4).map { $0 < planes ? CInt(stride) : 0 }
    return unsafe body(places, strides)
  }

  func row<Sample>(_ row: Int, plane: Int, of _: Sample.Type) -> UnsafePointer<Sample> {
    precondition(row >= 0 && row < height && plane >= 0 && plane < planes)
    return unsafe UnsafePointer(bytes.bindMemory(to: Sample.self).baseAddress!)
      + (start(plane) + row * stride) / MemoryLayout<Sample>.stride
  }

  /// A plane's samples without gaps.
  /// - Parameter samples: of one pixel.
  func tight<Sample>(plane: Int = 0, samples: Int, of _: Sample.Type) -> [Sample] {
    var tight: [Sample] = []
    tight.reserveCapacity(width * height * samples)
    for index in 0..<height {
      unsafe tight.append(
        contentsOf: UnsafeBufferPointer(start: row(index, plane: plane, of: Sample.self), count: width * samples))
    }
    return tight
  }
}
