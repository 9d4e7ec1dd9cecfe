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
    var sum = 0
    var squares = 0
    for place in stride(from: 0, to: pixels.count, by: 3) {
      // 256ths of BT.709's shares.
      let luma = (54 * Int(pixels[place]) + 183 * Int(pixels[place + 1]) + 19 * Int(pixels[place + 2])) >> 8
      sum += luma
      squares += luma * luma
    }
    let count = Double(width * height)
    let mean = Double(sum) / count
    return max(0, Double(squares) / count - mean * mean).squareRoot()
  }

  func turned(_ orientation: Orientation) -> Raster {
    if orientation == .upright { return self }
    var turned = Raster(
      width: orientation.swapsSides ? height : width, height: orientation.swapsSides ? width : height)
    for row in 0..<height {
      for column in 0..<width {
        let x = orientation.isMirrored ? width - 1 - column : column
        let (toColumn, toRow) =
          switch orientation.quarterTurns {
          case 1: (height - 1 - row, x)
          case 2: (width - 1 - x, height - 1 - row)
          case 3: (row, width - 1 - x)
          default: (x, row)
          }
        let from = (row * width + column) * 3
        let to = (toRow * turned.width + toColumn) * 3
        turned.pixels[to] = pixels[from]
        turned.pixels[to + 1] = pixels[from + 1]
        turned.pixels[to + 2] = pixels[from + 2]
      }
    }
    return turned
  }
}
