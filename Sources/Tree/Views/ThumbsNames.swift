import CLinux
import Contracts
import Fuse
import Posix

/// How a document's picture is called: by the document's name and `.png`. Where that is too long, or a real folder has the name, a
/// part of it, a tilde and a hash of all of it.
enum ThumbName {
  static let longest = 255

  static func usual(for document: FileName) -> FileName? {
    document.count + 4 <= longest ? FileName(document.bytes + Array(".png".utf8)) : nil
  }

  static func short(for document: FileName) -> FileName {
    let hash = hex(fnv1a(document.bytes))
    var kept = Array(document.bytes.prefix(longest - 21))
    // Not through the middle of a letter.
    if kept.count < document.count {
      var cut = kept.count
      while cut > 0, document.bytes[document.bytes.startIndex + cut] & 0xc0 == 0x80, kept.count - cut < 4 { cut -= 1 }
      kept = Array(kept.prefix(cut))
    }
    return FileName(kept + Array("~\(hash).png".utf8))
  }

  /// The document that a usual name stands for.
  static func document(of thumb: FileName) -> FileName? {
    thumb.hasSuffix(".png") && thumb.count > 4 ? FileName(thumb.bytes.dropLast(4)) : nil
  }

  static func mayBeShort(_ thumb: FileName) -> Bool {
    guard thumb.hasSuffix(".png"), thumb.count >= 21 else { return false }
    let tail = Array(thumb.bytes.dropLast(4).suffix(17))
    return tail[0] == UInt8(ascii: "~")
      && tail.dropFirst().allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  private static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension Thumbs {
  enum Found {
    case folder(FileStatus)
    case document(FileName, FileStatus)
    case note(Note)
    case page
  }

  /// The page of a folder.
  static let pageName = FileName("index.html")

  /// What a name in the view stands for, by what stands in the real folder now; nil is nothing.
  func resolve(_ name: FileName, in folder: Node) throws(Errno) -> Found? {
    if folder.id == .root, let note = Note.allCases.first(where: { $0.name == name }) { return .note(note) }
    if !TemporaryNames.contains(name), let status = try status(of: name, in: folder), status.kind == .folder {
      return .folder(status)
    }
    if name == Thumbs.pageName, shelf != nil { return .page }
    if let document = ThumbName.document(of: name), let status = try documentStatus(document, in: folder) {
      return .document(document, status)
    }
    guard ThumbName.mayBeShort(name) else { return nil }
    let held = try folder.open()
    var directory = try Directory(reading: held.raw)
    while let line = try directory.next() {
      guard line.kind == .regular || line.kind == nil, ThumbName.short(for: line.name) == name else { continue }
      // Only a document that cannot have its usual name has this one.
      if let usual = ThumbName.usual(for: line.name), try status(of: usual, in: folder)?.kind != .folder { continue }
      if let status = try documentStatus(line.name, in: folder) { return .document(line.name, status) }
    }
    return nil
  }

  /// The status of a document that may have a picture: a regular file with a real name.
  func documentStatus(_ name: FileName, in folder: Node) throws(Errno) -> FileStatus? {
    guard !name.isDots, !TemporaryNames.contains(name), let status = try status(of: name, in: folder),
      status.kind == .regular
    else { return nil }
    return status
  }

  /// The name of a document's picture in its folder.
  func thumbName(of document: FileName, in folder: Node) throws(Errno) -> FileName {
    if let usual = ThumbName.usual(for: document), try status(of: usual, in: folder)?.kind != .folder { return usual }
    return ThumbName.short(for: document)
  }

  private func status(of name: FileName, in folder: Node) throws(Errno) -> FileStatus? {
    do throws(Errno) {
      let held = try folder.open()
      return try FileStatus.of(name, in: held.raw)
    } catch {
      if error == .noEntry || error == .nameTooLong { return nil }
      throw error
    }
  }
}
