import Catalog
import Contracts
import Control
import Posix

/// Runs a command once for each content version that is whole, a few at once; whoever brings more waits.
final class CommandRunner: Sendable {
  private struct State {
    var running = 0
    /// The last ones that were run: a document with several names is announced by each.
    var recent: [Version] = []
  }

  private struct Version: Hashable {
    let asset: Int64
    let version: Int64
  }

  private static let remembered = 1024

  private let words: [FileName]
  private let jobs: Int
  private let state = Monitor(State())

  /// - Parameters:
  ///   - program: found by PATH. With spaces in it and without further words it is a line for the shell.
  ///   - words: `{}` in one stands for the document's path; without any, the path is the last word.
  init(_ program: FileName, _ words: [FileName], jobs: Int) {
    self.jobs = jobs
    if words.isEmpty, program.bytes.contains(UInt8(ascii: " ")) {
      self.words = ["sh", "-c"].map { FileName($0) } + [Self.shell(program), FileName("sh")]
    } else {
      let all = [program] + words
      let marked = all.contains { Self.position(of: Array("{}".utf8), in: Array($0.bytes)) != nil }
      self.words = marked ? all : all + [FileName("{}")]
    }
  }

  /// Takes a document that is whole; every other event is none of its business.
  func run(_ event: EventRecord, of share: RunningShare) throws(Failure) {
    guard ["ready", "unsupported"].contains(event.event), let asset = event.asset else { return }
    let version = Version(asset: asset, version: event.version)
    let jobs = jobs
    let isNew = state.wait { state -> Bool? in
      if state.recent.contains(version) { return false }
      guard state.running < jobs else { return nil }
      state.running += 1
      if state.recent.count == Self.remembered { state.recent.removeFirst() }
      state.recent.append(version)
      return true
    }
    guard isNew else { return }
    guard let path = place(of: event, asset, in: share) else { return state.change { $0.running -= 1 } }
    var line = words.map { Self.replacing("{}", by: Array(path.bytes), in: $0) }
    // The shell's own line finds it as its first argument.
    if words.first == FileName("sh") && words.count == 4 { line = words + [path] }
    let child: Child
    do throws(Errno) {
      child = try Child.spawn(
        FileName("/usr/bin/env"), [FileName("env"), FileName("--")] + line, descriptors: [1: 1, 2: 2])
    } catch {
      state.change { $0.running -= 1 }
      throw Failure(.usage, "The command \(words[0]) cannot be run", error)
    }
    let process = SharedChild(child)
    _ = Posix.Thread("sharefs-exec") { [self] in
      let ending = process.wait()
      state.change { $0.running -= 1 }
      switch ending {
      case .exited(0)?: break
      case .exited(let code)?:
        Output.complain("sharefs: \(words[0]) ended with exit code \(code) for \(path).\n")
      case .killed(let signal)?:
        Output.complain("sharefs: \(words[0]) was killed by signal \(signal) for \(path).\n")
      case nil: Output.complain("sharefs: nobody knows how \(words[0]) ended for \(path).\n")
      }
    }
  }

  /// Where the document stands now: an event may be old, and its document renamed since.
  /// - Returns: nil when it is gone, which is said, or has another content by now, of which an event of its own tells.
  private func place(of event: EventRecord, _ asset: Int64, in share: RunningShare) -> FileName? {
    let told = share.mountpoint.appending(event.path)
    do throws(CatalogError) {
      let catalog = try CatalogReader(folder: share.state)
      let places = try catalog?.places(of: asset).filter { !TemporaryNames.contains($0) } ?? []
      guard let first = places.first, let known = try catalog?.asset(id: asset) else {
        Output.complain("sharefs: \(told) was removed before \(words[0]) could be run for it.\n")
        return nil
      }
      guard known.version == event.version else { return nil }
      let path = places.first { $0.bytes.elementsEqual(event.path.bytes) } ?? first
      return share.mountpoint.appending(FileName(path.bytes))
    } catch {
      Output.complain("sharefs: Where \(told) stands now cannot be read. \(error)\n")
      return told
    }
  }

  /// `{}`, quoted or not, becomes the first argument, whatever letters are in it.
  private static func shell(_ line: FileName) -> FileName {
    var result = line
    for mark in ["\"{}\"", "'{}'", "{}"] { result = replacing(mark, by: Array("\u{1}".utf8), in: result) }
    let marked = result != line
    result = replacing("\u{1}", by: Array("\"$1\"".utf8), in: result)
    return marked ? result : FileName(Array(result.bytes) + Array(" \"$1\"".utf8))
  }

  private static func replacing(_ mark: String, by bytes: [UInt8], in text: FileName) -> FileName {
    let mark = Array(mark.utf8)
    var rest = Array(text.bytes)
    var result: [UInt8] = []
    while let start = position(of: mark, in: rest) {
      result += rest[..<start] + bytes
      rest = Array(rest[(start + mark.count)...])
    }
    return FileName(result + rest)
  }

  private static func position(of mark: [UInt8], in bytes: [UInt8]) -> Int? {
    guard bytes.count >= mark.count else { return nil }
    return (0...(bytes.count - mark.count)).first { bytes[$0..<($0 + mark.count)].elementsEqual(mark) }
  }
}

/// A child on its way to the thread that waits for it.
private final class SharedChild: Sendable {
  private let child: Guarded<Child?>
  init(_ child: consuming Child) { self.child = Guarded(child) }

  func wait() -> Child.Ending? {
    guard let child = child.withLock({ $0.take() }) else { return nil }
    return try? child.wait()
  }
}
