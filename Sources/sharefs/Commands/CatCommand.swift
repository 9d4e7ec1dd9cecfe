import Catalog
import Control
import Glibc
import Posix

/// `sharefs cat`: one whole content version of a document, once nobody writes it.
enum CatCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let deadline = try arguments.seconds("timeout").map { Clock.now() + Clock.seconds($0) }
    let found = try FoundDocument.find(arguments.operands[0], state: arguments.value("state"))
    let before = try settled(found, until: deadline)
    let whole = found.share.root.appending(FileName((before?.path ?? found.path).bytes))
    let file = try explain(.noSuchThing, "\(whole)") { () throws(Errno) in
      try Descriptor.open(whole, O_RDONLY | O_NONBLOCK)
    }
    let status = try explain(.noSuchThing, "\(whole)") { () throws(Errno) in try file.status() }
    guard status.kind == .regular else { throw Failure(.noSuchThing, "\(whole) is no regular file.") }
    try deliver(file, whole)
    let after = try explain(.noSuchThing, "\(whole)") { () throws(Errno) in try file.status() }
    guard after.size == status.size, after.modified == status.modified, try isSame(before, found) else {
      throw Failure(
        .changed, "\(whole) was changed while it was read: what was delivered is of no one version.",
        hint: "Read it again.")
    }
    return .done
  }

  /// Waits until nobody writes it and the catalog knows the version.
  /// - Returns: nil where nobody keeps versions: the share is not mounted, or the name is a temporary one.
  private static func settled(
    _ found: FoundDocument, until deadline: Clock.Instant?
  ) throws(Failure) -> DocumentWatch.Item? {
    guard found.share.running != nil else { return nil }
    let watch = DocumentWatch(found.share)
    try watch.begin(until: deadline)
    let item = try watch.add(found.path, typed: found.whole)
    // What is not there is not waited for: a script that reads wants to know.
    _ = try explain(.noSuchThing, "\(found.whole)") { () throws(Errno) in try Files.status(found.whole) }
    try watch.wait(until: deadline)
    switch item.outcome {
    case .whole?, .broken?: return item
    case .noDocument?: return nil
    case .unmounted(let why)?: throw Failure(.timedOut, "\(found.whole) \(why)")
    case .removed?: throw Failure(.noSuchThing, "\(found.whole) was removed.")
    case .timedOut?, nil: throw Failure(.timedOut, "\(found.whole) is still being written.")
    }
  }

  private static func deliver(_ file: borrowing Descriptor, _ path: FileName) throws(Failure) {
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let got = try explain(.usage, "\(path) cannot be read") { () throws(Errno) in
        try unsafe chunk.withUnsafeMutableBufferPointer { chunk throws(Errno) in
          try unsafe file.read(into: UnsafeMutableRawBufferPointer(chunk))
        }
      }
      if got == 0 { return }
      try Output.write(Array(chunk[..<got]))
    }
  }

  /// Whether the version that was there before is the newest one still.
  private static func isSame(_ before: DocumentWatch.Item?, _ found: FoundDocument) throws(Failure) -> Bool {
    guard let before, let version = before.version else { return true }
    let now = DocumentWatch(found.share)
    try now.begin()
    guard let known = try now.ask(before.path) else {
      // Renamed or removed meanwhile: what was open is what it was, as its times have said.
      return true
    }
    return known.state != .writing && known.asset == version.asset && known.version == version.version
  }
}
