import Glibc

/// A point of a drawing, in units of its height: x runs from 0 to the aspect, y from 0 at the top to 1.
struct Point: Hashable {
  var x: Double
  var y: Double

  init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }
}

/// A shape as the distance of a point from its edge, negative inside: its soft edge is then one pixel wide at any size.
enum Shape {
  case box(Point, Point, radius: Double)
  case circle(Point, radius: Double)
  /// Corners in either order of turning.
  case polygon([Point])
  case line([Point], width: Double)

  func distance(_ point: Point) -> Double {
    switch self {
    case .box(let from, let to, let radius):
      let x = abs(point.x - (from.x + to.x) / 2) - (to.x - from.x) / 2 + radius
      let y = abs(point.y - (from.y + to.y) / 2) - (to.y - from.y) / 2 + radius
      return hypot(max(x, 0), max(y, 0)) + min(max(x, y), 0) - radius
    case .circle(let centre, let radius):
      return hypot(point.x - centre.x, point.y - centre.y) - radius
    case .polygon(let corners):
      var nearest = Double.infinity
      var isInside = false
      for index in corners.indices {
        let (a, b) = (corners[index], corners[(index + 1) % corners.count])
        nearest = min(nearest, Self.distance(point, a, b))
        if (a.y > point.y) != (b.y > point.y), point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x {
          isInside.toggle()
        }
      }
      return isInside ? -nearest : nearest
    case .line(let points, let width):
      var nearest = Double.infinity
      for index in 1..<points.count { nearest = min(nearest, Self.distance(point, points[index - 1], points[index])) }
      return nearest - width / 2
    }
  }

  /// The corners of an upright rectangle that holds all of it.
  var bounds: (from: Point, to: Point) {
    let (points, margin): ([Point], Double) =
      switch self {
      case .box(let from, let to, _): ([from, to], 0)
      case .circle(let centre, let radius): ([centre], radius)
      case .polygon(let corners): (corners, 0)
      case .line(let points, let width): (points, width / 2)
      }
    let (x, y) = (points.map(\.x), points.map(\.y))
    return (
      Point((x.min() ?? 0) - margin, (y.min() ?? 0) - margin), Point((x.max() ?? 0) + margin, (y.max() ?? 0) + margin)
    )
  }

  private static func distance(_ point: Point, _ a: Point, _ b: Point) -> Double {
    let (x, y) = (b.x - a.x, b.y - a.y)
    let length = x * x + y * y
    let part = length == 0 ? 0 : max(0, min(1, ((point.x - a.x) * x + (point.y - a.y) * y) / length))
    return hypot(point.x - a.x - part * x, point.y - a.y - part * y)
  }
}

/// Red, green and blue as one number, as in a style sheet.
struct Paint: Hashable {
  let red: Double
  let green: Double
  let blue: Double

  init(_ code: UInt32) {
    red = Double(code >> 16 & 255)
    green = Double(code >> 8 & 255)
    blue = Double(code & 255)
  }
}

/// A raster being drawn on.
struct Canvas {
  private(set) var raster: Raster
  let aspect: Double

  init(width: Int, height: Int, _ ground: Paint) {
    raster = Raster(width: width, height: height)
    aspect = Double(width) / Double(height)
    for pixel in 0..<width * height { set(pixel, ground, 1) }
  }

  mutating func fill(_ shape: Shape, _ paint: Paint) {
    let scale = Double(raster.height)
    let (from, to) = shape.bounds
    // One pixel more, for the soft edge.
    func pixels(_ from: Double, _ to: Double, _ most: Int) -> Range<Int> {
      let first = max(0, min(most, Int(from * scale) - 1))
      return first..<max(first, min(most, Int(to * scale) + 2))
    }
    for row in pixels(from.y, to.y, raster.height) {
      for column in pixels(from.x, to.x, raster.width) {
        let point = Point((Double(column) + 0.5) / scale, (Double(row) + 0.5) / scale)
        let covered = 0.5 - shape.distance(point) * scale
        if covered > 0 { set(row * raster.width + column, paint, min(1, covered)) }
      }
    }
  }

  /// An upright rectangle, with soft edges where it ends between pixels.
  mutating func rectangle(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double, _ paint: Paint) {
    let scale = Double(raster.height)
    func covered(_ pixel: Int, _ from: Double, _ to: Double) -> Double {
      max(0, min(Double(pixel) + 1, to * scale) - max(Double(pixel), from * scale))
    }
    for row in max(0, Int(top * scale))..<min(raster.height, Int(bottom * scale) + 1) {
      for column in max(0, Int(left * scale))..<min(raster.width, Int(right * scale) + 1) {
        set(row * raster.width + column, paint, covered(row, top, bottom) * covered(column, left, right))
      }
    }
  }

  private mutating func set(_ pixel: Int, _ paint: Paint, _ covered: Double) {
    mix(pixel * 3, paint.red, covered)
    mix(pixel * 3 + 1, paint.green, covered)
    mix(pixel * 3 + 2, paint.blue, covered)
  }

  private mutating func mix(_ place: Int, _ part: Double, _ covered: Double) {
    let old = Double(raster.pixels[place])
    // Between the two, so never below 0: cut off, it is rounded.
    raster.pixels[place] = UInt8(old + (part - old) * covered + 0.5)
  }
}
