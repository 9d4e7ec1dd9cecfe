import Contracts

/// The drawings that stand in where there is no picture. One style: a full card in a middle tone, one sign in a light one, so that they look
/// the same on light and dark ground and are told apart at 150 pixels by colour and by outline.
enum Placeholder {
  static func draw(_ kind: PlaceholderKind, _ box: Box) -> Raster {
    let size = Scaler.fit(width: 4096, height: 4096 * 169 / 300, box)
    var canvas = Canvas(width: size.width, height: size.height, ground(kind))
    let middle = canvas.aspect / 2
    switch kind {
    case .video: video(&canvas, middle)
    case .photo: photo(&canvas, middle)
    case .audio: audio(&canvas, middle)
    case .document: document(&canvas, middle)
    case .damaged: damaged(&canvas, middle)
    }
    return canvas.raster
  }

  static func ground(_ kind: PlaceholderKind) -> Paint {
    switch kind {
    case .video: Paint(0x3d5a80)
    case .photo: Paint(0x3f7d6e)
    case .audio: Paint(0x6d5a8c)
    case .document: Paint(0x6b7280)
    case .damaged: Paint(0x8c4a43)
    }
  }

  static let light = Paint(0xf2f0ea)
  private static let dim = Paint(0xc9c6bd)

  /// A strip of film with the sign for playing.
  private static func video(_ canvas: inout Canvas, _ middle: Double) {
    let dark = Paint(0x2b3f5c)
    canvas.fill(.box(Point(middle - 0.56, 0.16), Point(middle + 0.56, 0.84), radius: 0.05), dark)
    for step in 0..<7 {
      let x = middle - 0.51 + Double(step) * 0.15
      for y in [0.2, 0.735] { canvas.fill(.box(Point(x, y), Point(x + 0.085, y + 0.065), radius: 0.015), dim) }
    }
    canvas.fill(.circle(Point(middle, 0.5), radius: 0.2), light)
    canvas.fill(.polygon([Point(middle - 0.065, 0.39), Point(middle - 0.065, 0.61), Point(middle + 0.12, 0.5)]), dark)
  }

  /// A framed landscape.
  private static func photo(_ canvas: inout Canvas, _ middle: Double) {
    canvas.fill(.box(Point(middle - 0.46, 0.16), Point(middle + 0.46, 0.84), radius: 0.05), light)
    canvas.fill(.box(Point(middle - 0.41, 0.21), Point(middle + 0.41, 0.79), radius: 0.02), Paint(0x8fb8ad))
    canvas.fill(.circle(Point(middle + 0.2, 0.36), radius: 0.075), Paint(0xf4d58d))
    canvas.fill(
      .polygon([Point(middle - 0.4, 0.785), Point(middle - 0.14, 0.4), Point(middle + 0.13, 0.785)]), Paint(0x2a5449))
    canvas.fill(
      .polygon([Point(middle - 0.06, 0.785), Point(middle + 0.15, 0.53), Point(middle + 0.37, 0.785)]), Paint(0x37695c))
  }

  /// Two notes under one beam.
  private static func audio(_ canvas: inout Canvas, _ middle: Double) {
    for (x, y) in [(middle - 0.2, 0.72), (middle + 0.16, 0.66)] {
      canvas.fill(.circle(Point(x, y), radius: 0.095), light)
      canvas.fill(.box(Point(x + 0.055, y - 0.46), Point(x + 0.095, y), radius: 0.005), light)
    }
    canvas.fill(
      .polygon([
        Point(middle - 0.145, 0.26), Point(middle + 0.255, 0.195), Point(middle + 0.255, 0.315),
        Point(middle - 0.145, 0.38),
      ]), light)
  }

  /// A written page with a folded corner.
  private static func document(_ canvas: inout Canvas, _ middle: Double) {
    page(&canvas, middle, light)
    canvas.fill(.polygon([Point(middle + 0.12, 0.12), Point(middle + 0.12, 0.28), Point(middle + 0.28, 0.28)]), dim)
    for (line, width) in [(0.36, 0.4), (0.46, 0.4), (0.56, 0.4), (0.66, 0.4), (0.76, 0.24)] {
      canvas.fill(
        .box(Point(middle - 0.2, line), Point(middle - 0.2 + width, line + 0.035), radius: 0.017), Paint(0x8f959e))
    }
  }

  private static func page(_ canvas: inout Canvas, _ middle: Double, _ paint: Paint) {
    canvas.fill(
      .polygon([
        Point(middle - 0.28, 0.12), Point(middle + 0.12, 0.12), Point(middle + 0.28, 0.28), Point(middle + 0.28, 0.88),
        Point(middle - 0.28, 0.88),
      ]), paint)
  }

  /// A page torn in two.
  private static func damaged(_ canvas: inout Canvas, _ middle: Double) {
    page(&canvas, middle, light)
    canvas.fill(.polygon([Point(middle + 0.12, 0.12), Point(middle + 0.12, 0.28), Point(middle + 0.28, 0.28)]), dim)
    let tear = [-0.34, -0.2, -0.1, 0.02, 0.12, 0.22, 0.34].enumerated().map { index, x in
      Point(middle + x, index % 2 == 0 ? 0.47 : 0.59)
    }
    canvas.fill(.line(tear, width: 0.055), ground(.damaged))
    canvas.fill(.box(Point(middle - 0.03, 0.64), Point(middle + 0.03, 0.75), radius: 0.025), ground(.damaged))
    canvas.fill(.circle(Point(middle, 0.805), radius: 0.034), ground(.damaged))
  }
}
