import Contracts

/// The still pictures in HEIC, HEIF and AVIF (ISO/IEC 23008-12): which items there are, where their bytes lie and how they are to
/// be turned.
struct HEIFFile {
  /// One coded picture.
  struct Item {
    fileprivate(set) var kind: [UInt8] = []
    fileprivate(set) var extents: [(place: Int64, length: Int)] = []
    /// What stands in the description itself.
    fileprivate(set) var inside: [UInt8] = []
    fileprivate(set) var properties: [Box] = []
    /// Of what it is a smaller picture.
    fileprivate(set) var thumbnailOf: UInt64?
    /// What it is put together of, in rows.
    fileprivate(set) var tiles: [UInt64] = []

    /// What the decoder must know first (`hvcC`).
    var configuration: [UInt8]? { property("hvcC").map(\.bytes.all) }

    /// Pixels as stored.
    var size: (width: Int, height: Int)? {
      guard let box = property("ispe"), let width = box.bytes.big(4, 4), let height = box.bytes.big(8, 4) else {
        return nil
      }
      return (Int(width), Int(height))
    }

    var orientation: Orientation {
      properties.reduce(.upright) { turned, box in
        switch box.kind {
        // Anticlockwise.
        case Array("irot".utf8): turned.then(quarterTurns: 4 - Int((box.bytes[0] ?? 0) & 3))
        case Array("imir".utf8): turned.thenMirrored(upsideDown: (box.bytes[0] ?? 0) & 1 == 1)
        default: turned
        }
      }
    }

    var isTurned: Bool { properties.contains { $0.kind == Array("irot".utf8) || $0.kind == Array("imir".utf8) } }

    private func property(_ kind: StaticString) -> Box? { properties.first { Bytes($0.kind).has(kind) } }
  }

  struct Box {
    let kind: [UInt8]
    /// Without the head.
    let bytes: Bytes
  }

  private(set) var items: [UInt64: Item] = [:]
  private(set) var primary: UInt64 = 0
  /// Where the EXIF data's TIFF header stands.
  private(set) var exif: Int64?

  /// Bytes; a longer description is not read.
  private static let longest = 1 << 20
  private static let most = 4096

  /// - Returns: nil when there is no description of still pictures.
  init?(_ source: Source) {
    var place: Int64 = 0
    var description: Bytes?
    // `meta` follows `ftyp`, or a few others.
    for _ in 0..<16 {
      let head = source.bytes(at: place, 16)
      guard let length = head.big(0, 4), length >= 8 else { return nil }
      if head.has("meta", at: 4) {
        guard length <= Self.longest else { return nil }
        description = source.bytes(at: place + 12, Int(length) - 12)
        break
      }
      place += Int64(length)
    }
    guard let description else { return nil }
    let boxes = Self.boxes(description)
    let inside = boxes.first { $0.kind == Array("idat".utf8) }?.bytes ?? Bytes([])
    for box in boxes {
      switch String(decoding: box.kind, as: UTF8.self) {
      case "pitm": primary = box.bytes.big(4, box.bytes[0] == 0 ? 2 : 4) ?? 0
      case "iinf": readKinds(box.bytes)
      case "iloc": readPlaces(box.bytes, inside)
      case "iref": readReferences(box.bytes)
      case "iprp": readProperties(Self.boxes(box.bytes))
      default: break
      }
    }
    guard items[primary] != nil else { return nil }
    let text = items.values.first { $0.kind == Array("Exif".utf8) }?.extents.first
    // The data begins with the distance to its header.
    exif = text.flatMap { text in source.bytes(at: text.place, 4).big(0, 4).map { text.place + 4 + Int64($0) } }
  }

  static func boxes(_ bytes: Bytes) -> [Box] {
    var boxes: [Box] = []
    var place = 0
    while boxes.count < most, let length = bytes.big(place, 4), length >= 8, Int(length) <= bytes.count - place {
      let end = place + Int(length)
      boxes.append(Box(kind: Array(bytes.all[place + 4..<place + 8]), bytes: Bytes(Array(bytes.all[place + 8..<end]))))
      place = end
    }
    return boxes
  }

  private mutating func readKinds(_ bytes: Bytes) {
    let start = bytes[0] == 0 ? 6 : 8
    guard bytes.count > start else { return }
    for box in Self.boxes(Bytes(Array(bytes.all[start...]))) where box.kind == Array("infe".utf8) {
      // Older versions have no kind.
      guard let version = box.bytes[0], version == 2 || version == 3 else { continue }
      let size = version == 2 ? 2 : 4
      guard let id = box.bytes.big(4, size), box.bytes.count >= 10 + size else { continue }
      items[id, default: Item()].kind = Array(box.bytes.all[6 + size..<10 + size])
    }
  }

  private mutating func readPlaces(_ bytes: Bytes, _ inside: Bytes) {
    guard let version = bytes[0], version < 3, let sizes = bytes.big(4, 2) else { return }
    let (offsetSize, lengthSize) = (Int(sizes >> 12 & 15), Int(sizes >> 8 & 15))
    let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version > 0 ? Int(sizes & 15) : 0)
    let idSize = version < 2 ? 2 : 4
    var place = 6
    func next(_ size: Int) -> UInt64? {
      defer { place += size }
      return size == 0 ? 0 : bytes.big(place, size)
    }
    guard let count = next(idSize), count <= Self.most else { return }
    for _ in 0..<count {
      // Where the bytes stand: 0 in the file, 1 in the description; in another item is not looked.
      guard let id = next(idSize), let method = next(version > 0 ? 2 : 0), next(2) != nil, let base = next(baseSize),
        let extents = next(2), extents <= Self.most
      else { return }
      for _ in 0..<extents {
        guard next(indexSize) != nil, let offset = next(offsetSize), let length = next(lengthSize) else { return }
        guard base < 1 << 48, offset < 1 << 48, length > 0, length < 1 << 30 else { continue }
        let (start, count) = (Int64(base + offset), Int(length))
        switch method & 15 {
        case 0: items[id, default: Item()].extents.append((start, count))
        case 1 where start + Int64(count) <= Int64(inside.count):
          // The description of a grid, which is short.
          items[id, default: Item()].inside = Array(inside.all[Int(start)..<Int(start) + min(count, 16)])
        default: continue
        }
      }
    }
  }

  private mutating func readReferences(_ bytes: Bytes) {
    guard bytes.count > 4 else { return }
    let size = bytes[0] == 0 ? 2 : 4
    for box in Self.boxes(Bytes(Array(bytes.all[4...]))) {
      guard let from = box.bytes.big(0, size), let count = box.bytes.big(size, 2) else { continue }
      let to = (0..<Int(min(count, UInt64(Self.most)))).compactMap { box.bytes.big(size + 2 + $0 * size, size) }
      switch String(decoding: box.kind, as: UTF8.self) {
      case "thmb": items[from, default: Item()].thumbnailOf = to.first
      case "dimg": items[from, default: Item()].tiles = to
      default: break
      }
    }
  }

  private mutating func readProperties(_ boxes: [Box]) {
    guard let all = boxes.first(where: { $0.kind == Array("ipco".utf8) }) else { return }
    let properties = Self.boxes(all.bytes)
    for box in boxes where box.kind == Array("ipma".utf8) {
      let idSize = box.bytes[0] == 0 ? 2 : 4
      let isWide = (box.bytes[3] ?? 0) & 1 == 1
      var place = 8
      for _ in 0..<min(box.bytes.big(4, 4) ?? 0, UInt64(Self.most)) {
        guard let id = box.bytes.big(place, idSize), let count = box.bytes[place + idSize] else { return }
        place += idSize + 1
        for _ in 0..<count {
          guard let value = box.bytes.big(place, isWide ? 2 : 1) else { return }
          place += isWide ? 2 : 1
          // The highest bit says whether it matters; numbers count from one.
          let index = Int(value & (isWide ? 0x7fff : 0x7f)) - 1
          if properties.indices.contains(index) { items[id, default: Item()].properties.append(properties[index]) }
        }
      }
    }
  }
}
