/// A picture as it is shown: upright rows of red, green and blue bytes without gaps.
struct Raster {
  let width: Int
  let height: Int
  var pixels: [UInt8]

  init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(width > 0 && height > 0 && pixels.count == width * height * 3)
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  init(width: Int, height: Int) {
    self.init(width: width, height: height, pixels: [UInt8](repeating: 0, count: width * height * 3))
  }

  /// How lively it is: the standard deviation of its luma, of 255. A black or blank frame has less than 10.
  var liveliness: Double {
    let (sum, squares) = unsafe pixels.withUnsafeBufferPointer { pixels in
      var (sum, squares): (UInt64, UInt64) = (0, 0)
      for pixel in 0..<pixels.count / 3 {
        let place = pixel &* 3
        // 256ths of BT.709's shares.
        let (red, green, blue) = unsafe (pixels[place], pixels[place &+ 1], pixels[place &+ 2])
        let luma = (54 &* UInt32(red) &+ 183 &* UInt32(green) &+ 19 &* UInt32(blue)) &>> 8
        sum &+= UInt64(luma)
        squares &+= UInt64(luma &* luma)
      }
      return (sum, squares)
    }
    let count = Double(width * height)
    let mean = Double(sum) / count
    return max(0, Double(squares) / count - mean * mean).squareRoot()
  }

  func turned(_ orientation: Orientation) -> Raster {
    if orientation == .upright { return self }
    var turned = Raster(
      width: orientation.swapsSides ? height : width, height: orientation.swapsSides ? width : height)
    // Where the first pixel goes, and how far on the next of its row and the next of its column go.
    let mirror = orientation.isMirrored ? -1 : 1
    let (right, down) =
      switch orientation.quarterTurns {
      case 1: (height * mirror, -1)
      case 2: (-mirror, -width)
      case 3: (-height * mirror, 1)
      default: (mirror, width)
      }
    let first = (right < 0 ? -right * (width - 1) : 0) + (down < 0 ? -down * (height - 1) : 0)
    unsafe turned.pixels.withUnsafeMutableBufferPointer { out in
      unsafe pixels.withUnsafeBufferPointer { pixels in
        var from = 0
        for row in 0..<height {
          var to = (first + row * down) * 3
          for _ in 0..<width {
            unsafe out[to] = pixels[from]
            unsafe out[to + 1] = pixels[from + 1]
            unsafe out[to + 2] = pixels[from + 2]
            from += 3
            to += right * 3
          }
        }
      }
    }
    return turned
  }
}
