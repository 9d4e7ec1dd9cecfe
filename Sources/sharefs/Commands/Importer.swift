import Contracts
import Glibc
import Pipeline
import Posix

/// Copies one file into a folder of a share: looked at first, copied aside, made durable, then given its name. Whatever goes wrong, nothing of it stays.
final class Importer: Sendable {
  struct Copied {
    /// Where it stands.
    let path: FileName
    let source: FileName
  }

  private let share: FoundShare
  /// The folder it goes to.
  private let folder: FileName
  private let types: TypeSelector
  private let worker: FileName
  /// The copy under way, where it has a name that must not stay when the command is ended.
  private let aside = Guarded<FileName?>(nil)

  init(share: FoundShare, folder: FileName, types: TypeSelector, worker: FileName) {
    self.share = share
    self.folder = folder
    self.types = types
    self.worker = worker
  }

  /// Takes away what a copy under way has made.
  func abandon() {
    let path = aside.withLock { path in
      defer { path = nil }
      return path
    }
    // It may have got its name in this moment: then it is whole.
    if let path { try? Files.remove(path) }
  }

  /// - Parameter progress: told how many bytes are copied, and of how many.
  func take(_ word: FileName, progress: (Int64, Int64) -> Void) throws(ImportError) -> Copied {
    let source = try local(word)
    let file = try attempt("\(source) cannot be read") { () throws(Errno) in
      try Descriptor.open(source, O_RDONLY | O_NONBLOCK)
    }
    let status = try attempt("\(source) cannot be looked at") { () throws(Errno) in try file.status() }
    guard status.kind == .regular else { throw ImportError(.notAFile, "\(source) is no regular file.") }
    try refuseInside(source)
    try examine(file, source)
    let copied = try copy(file, status, source, progress)
    return Copied(path: copied, source: source)
  }

  private func local(_ word: FileName) throws(ImportError) -> FileName {
    if AssetURL.isURL(word) {
      guard let url = AssetURL(word), url.share != share.name else {
        throw ImportError(.insideShare, "\(word) names an asset of this share.")
      }
      throw ImportError(.otherShare, "\(word) is the URL of an asset of another share.")
    }
    guard word.hasPrefix("file://") else { return word }
    guard let path = AssetURL.decodedBytes(Array(word.bytes.dropFirst(7))), path.first == UInt8(ascii: "/") else {
      throw ImportError(.noSuchFile, "\(word) is no URL of a file of this machine.")
    }
    return FileName(path)
  }

  private func refuseInside(_ source: FileName) throws(ImportError) {
    let real = try attempt("\(source) cannot be followed") { () throws(Errno) in try Files.resolve(source) }
    let folders = [share.root, share.running?.source ?? share.root]
    if folders.contains(where: { real.isWithin($0) }) {
      throw ImportError(.insideShare, "\(source) stands inside the share \(share.root).")
    }
  }

  private func examine(_ file: borrowing Descriptor, _ source: FileName) throws(ImportError) {
    let outcome: Outcome
    do throws(PipelineError) {
      let box = Box(width: 32, height: 32)
      outcome = try Examination.run(worker: worker, document: file.raw, name: source.lastComponent, box: box).outcome
    } catch {
      throw ImportError(.invalidData, "\(source) cannot be looked at. \(error.what)")
    }
    let reason = escaped(Array(outcome.reason.utf8))
    switch outcome.verdict {
    case .incomplete: throw ImportError(.incomplete, "\(source) is incomplete: \(reason)")
    case .invalid: throw ImportError(.invalidData, "\(source) is invalid: \(reason)")
    case .ready, .unsupported: break
    }
    guard types.matches(outcome.facts.type) else {
      let type = outcome.facts.type?.identifier ?? "of an unknown type"
      throw ImportError(.wrongType, "\(source) is \(type), which is not wanted.")
    }
  }

  private func copy(
    _ file: borrowing Descriptor, _ status: FileStatus, _ source: FileName, _ progress: (Int64, Int64) -> Void
  ) throws(ImportError) -> FileName {
    let aside = try attempt("\(folder) cannot be written to") { () throws(Errno) in
      try Aside.make(in: folder, mode: status.permissions & 0o777 | 0o200)
    }
    let temporary = aside.name
    self.aside.withLock { $0 = temporary }
    defer { abandon() }
    var done: Int64 = 0
    let size = try attempt("\(source) cannot be copied to \(folder)") { () throws(Errno) -> Int64 in
      if try aside.file.clone(from: file) { return try aside.file.status().size }
      return try aside.file.copy(from: file) { count in
        done += Int64(count)
        progress(done, status.size)
      }
    }
    progress(status.size, status.size)
    let after = try attempt("\(source) cannot be looked at") { () throws(Errno) in try file.status() }
    guard size == status.size, after.size == status.size, after.modified == status.modified else {
      throw ImportError(.changed, "\(source) was changed while it was copied.")
    }
    try attempt("The copy in \(folder) cannot be finished") { () throws(Errno) in
      try aside.file.setTimes(of: status)
      try aside.file.synchronize()
    }
    let path = try name(aside, source.lastComponent)
    do throws(Errno) {
      try aside.close()
    } catch {
      // ENOSPC may come here, on file systems of other machines.
      try? Files.remove(path)
      throw ImportError(error, "The copy in \(folder) cannot be finished")
    }
    return path
  }

  /// Gives the copy its name; where that is taken, one with a number.
  private func name(_ copy: borrowing Aside, _ wanted: FileName) throws(ImportError) -> FileName {
    for number in 1...9999 {
      let path = folder.appending(Self.numbered(wanted, number))
      do throws(Errno) {
        try copy.appear(at: path)
        aside.withLock { $0 = nil }
        // What a power cut may take must not be announced as there; a folder that cannot be synchronized is no reason to fail.
        try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY).synchronize()
        return path
      } catch {
        if error != .exists { throw ImportError(error, "The copy cannot be named \(path)") }
      }
    }
    throw ImportError(.unknown, "\(wanted) has too many namesakes in \(folder).")
  }

  /// `clip.mov`, `clip 2.mov`, ...
  static func numbered(_ name: FileName, _ number: Int) -> FileName {
    if number == 1 { return name }
    let bytes = Array(name.bytes)
    let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
    let mark = Array(" \(number)".utf8) + bytes[dot...]
    return FileName(bytes[..<min(dot, max(1, 255 - mark.count))] + mark)
  }

  private func attempt<Result: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(Errno) -> Result
  ) throws(ImportError) -> Result {
    do throws(Errno) { return try body() } catch { throw ImportError(error, what()) }
  }
}
