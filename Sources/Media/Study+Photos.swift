import CLibAV
import Contracts

/// Files that are one picture.
extension Study {
  /// What libav decodes as it stands.
  func still(_ source: Source, _ format: Format, _ codec: AVCodecID, _ finding: inout Finding) throws(MediaError) {
    let frame = try DecodedFrame()
    try Still.decode(source, format, codec, largest, isCut: finding.verdict == .incomplete, into: frame)
    var orientation = Orientation(frame)
    if format == .tiff { orientation = TIFFFile(source)?.orientation.map { Orientation(exif: $0) } }
    let size = format == .jpeg ? Still.size(source, .jpeg) : nil
    try show(frame, 1, orientation ?? .upright, isStill: true, size, &finding)
    finding.facts.take(frame)
    if format == .tiff, let file = TIFFFile(source) { finding.facts.take(file) }
  }

  /// What has a decoder that does not know all of it: layered drawings often have a JPEG to look at too.
  func rarePicture(_ source: Source, _ format: Format, _ codec: AVCodecID, _ finding: inout Finding) throws(MediaError)
  {
    do throws(MediaError) { try still(source, format, codec, &finding) } catch {
      guard codec == AV_CODEC_ID_PSD, EmbeddedJPEG.find(source, largest) != nil else { throw error }
      try preview(source, &finding)
    }
  }

  /// What no decoder is there for: the JPEG that lies in it, as cameras and editors put it there.
  func preview(_ source: Source, _ finding: inout Finding) throws(MediaError) {
    // One that is no TIFF has its words in the JPEG itself.
    let file = CameraBoxes.description(source).flatMap { TIFFFile(source, at: $0) } ?? TIFFFile(source)
    if let file { finding.facts.take(file) }
    guard let found = EmbeddedJPEG.find(source, largest) else {
      throw .unsupported("There is no decoder for \(finding.facts.type?.mime ?? "it"), and no preview in the file.")
    }
    let frame = try DecodedFrame()
    let packet = try Packet.part(source, at: found.place, Int(min(source.size - found.place, 32 << 20)))
    try Still.decode(
      packet, AV_CODEC_ID_MJPEG, halvings: Still.halvings(longest: found.longest, largest), into: frame)
    let orientation = Orientation(frame) ?? file?.orientation.map { Orientation(exif: $0) } ?? .upright
    try show(frame, 1, orientation, isStill: true, nil, &finding)
    // The preview's size is not the picture's.
    (finding.facts.width, finding.facts.height) = (nil, nil)
    finding.facts.take(frame)
  }

  /// HEIC and HEIF: the smallest of the pictures in it that is large enough and can be decoded.
  func heif(_ source: Source, _ finding: inout Finding) throws(MediaError) {
    guard let file = HEIFFile(source), let whole = file.items[file.primary] else {
      throw .damaged("The description of the picture is damaged.")
    }
    if let place = file.exif.flatMap({ TIFFFile(source, at: $0) }) { finding.facts.take(place) }
    let small = file.items.values.filter { $0.thumbnailOf == file.primary }
    let enough = small.filter { $0.longest >= max(largest.width, largest.height) }.sorted { $0.longest < $1.longest }
    for item in enough + [whole] + small {
      guard let frame = try decode(item, of: file, source) else { continue }
      try show(frame, 1, (item.isTurned ? item : whole).orientation, isStill: true, nil, &finding)
      if let size = whole.size {
        let isSideways = whole.orientation.swapsSides
        finding.facts.width = isSideways ? size.height : size.width
        finding.facts.height = isSideways ? size.width : size.height
      }
      finding.facts.videoCodec = Decoder.name(item.kind == Array("jpeg".utf8) ? AV_CODEC_ID_MJPEG : AV_CODEC_ID_HEVC)
      return
    }
    try preview(source, &finding)
  }

  /// - Returns: nil when it cannot be decoded.
  private func decode(_ item: HEIFFile.Item, of file: HEIFFile, _ source: Source) throws(MediaError) -> DecodedFrame? {
    guard item.kind == Array("grid".utf8) else { return try decode(item, source) }
    let bytes = item.inside.isEmpty ? item.extents.first.map { source.bytes(at: $0.place, min($0.length, 16)) } : nil
    guard let grid = TiledPicture(bytes ?? Bytes(item.inside)), item.tiles.count == grid.rows * grid.columns else {
      return nil
    }
    return try grid.joined { number throws(MediaError) in
      if source.isLate { throw .tooLong }
      guard let tile = file.items[item.tiles[number]] else { return nil }
      return try decode(tile, source)
    }
  }

  private func decode(_ item: HEIFFile.Item, _ source: Source) throws(MediaError) -> DecodedFrame? {
    let isJPEG = item.kind == Array("jpeg".utf8)
    guard isJPEG || (item.kind == Array("hvc1".utf8) && item.configuration != nil) else { return nil }
    let length = item.extents.reduce(0) { $0 + $1.length }
    guard length > 0, length <= 64 << 20 else { return nil }
    if let size = item.size, size.width * size.height > Decoder.mostPixels { throw .tooManyPixels }
    let bytes = item.extents.flatMap { source.bytes(at: $0.place, $0.length).all }
    let frame = try DecodedFrame()
    do throws(MediaError) {
      try Still.decode(
        Packet.of(bytes), isJPEG ? AV_CODEC_ID_MJPEG : AV_CODEC_ID_HEVC, configuration: item.configuration, into: frame)
    } catch {
      if error == .noMemory || error == .tooManyPixels { throw error }
      return nil
    }
    return frame
  }
}

/// Canon's newer raw files, which are built of boxes.
private enum CameraBoxes {
  /// - Returns: where the TIFF header of the description stands.
  static func description(_ source: Source) -> Int64? {
    let head = source.bytes(at: 0, 4096)
    guard head.has("ftypcrx", at: 4) else { return nil }
    return head.first("CMT1").map { Int64($0 + 4) }
  }
}

extension HEIFFile.Item {
  fileprivate var longest: Int { size.map { max($0.width, $0.height) } ?? 0 }
}

extension Facts {
  fileprivate mutating func take(_ frame: borrowing DecodedFrame) {
    taken =
      frame.metadata("DateTimeOriginal").flatMap(EXIF.date) ?? frame.metadata("DateTime").flatMap(EXIF.date) ?? taken
    cameraMake = frame.metadata("Make") ?? cameraMake
    cameraModel = frame.metadata("Model") ?? cameraModel
  }

  fileprivate mutating func take(_ file: TIFFFile) {
    taken = file.date.flatMap(EXIF.date) ?? taken
    cameraMake = file.make ?? cameraMake
    cameraModel = file.model ?? cameraModel
  }
}

/// EXIF's own way to write things.
enum EXIF {
  /// `2024:05:01 12:30:00` as `2024-05-01T12:30:00`; nil for anything else.
  static func date(_ text: String) -> String? {
    let parts = text.split(separator: " ")
    guard parts.count == 2, parts[0].utf8.count == 10, parts[1].utf8.count == 8,
      parts[0].split(separator: ":").count == 3
    else { return nil }
    return parts[0].split(separator: ":").joined(separator: "-") + "T" + parts[1]
  }
}
