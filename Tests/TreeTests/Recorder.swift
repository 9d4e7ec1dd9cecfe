import Contracts
import Posix

/// Takes what the tree announces, in order.
final class Recorder: Settled {
  private let changes = Monitor<[Change]>([])

  func take(_ change: Change) { self.changes.change { $0.append(change) } }

  var all: [Change] { changes.withLock { $0 } }

  func forget() { changes.change { $0 = [] } }

  /// The paths of settled documents, in order.
  var settled: [String] {
    all.compactMap { if case .settled(let document, _) = $0 { document.path.description } else { nil } }
  }

  func settled(_ path: String) -> [ContentStamp] {
    all.compactMap {
      if case .settled(let document, let stamp) = $0, document.path.description == path { stamp } else { nil }
    }
  }

  /// One word for each change of a document: "started a", "settled a", "renamed a b".
  var words: [String] {
    all.map { change in
      switch change {
      case .started(let document): "started \(document.path)"
      case .settled(let document, _): "settled \(document.path)"
      case .unchanged(let document): "unchanged \(document.path)"
      case .renamed(_, _, let from, let to, let replaced): "renamed \(from) \(to)\(replaced == nil ? "" : " replacing")"
      case .exchanged(let first, _, let second, _): "exchanged \(first.path) \(second.path)"
      case .linked(let document): "linked \(document.path)"
      case .removed(let document, _, let wasLast): "removed \(document.path)\(wasLast ? " last" : "")"
      case .touched: "touched"
      case .seen(let document, _): "seen \(document.path)"
      }
    }
  }

  func wait(_ seconds: Double = 5, until condition: @escaping ([String]) -> Bool) -> Bool {
    let deadline = Clock.now() + Clock.seconds(seconds)
    while Clock.now() < deadline {
      if condition(words) { return true }
      _ = changes.wait(until: Clock.now() + Clock.seconds(0.05)) { _ in Bool?.none }
    }
    return condition(words)
  }
}

/// A projection that shows what the test says.
final class Pictures: Projection {
  private struct State {
    var states: [UInt64: PictureState] = [:] { didSet { revision += 1 } }
    var revision: UInt64 = 0
    var waits: [UInt64: (files: Set<UInt64>, deadline: Clock.Instant, then: @Sendable () -> Void)] = [:]
    var next: UInt64 = 1
    var bytes: [Int64: [UInt8]] = [:]
  }

  private let state = Monitor(State())

  func picture(volume: UInt64, inode: UInt64) -> PictureState { state.withLock { $0.states[inode] ?? .unknown } }

  var revision: UInt64 { state.withLock { $0.revision } }

  /// Whole is what is shown.
  func wholeness(volume: UInt64, inode: UInt64) -> Wholeness {
    switch picture(volume: volume, inode: inode) {
    case .ready: .whole
    case .making: .making
    case .unknown: .unknown
    }
  }

  func wait(for files: [FileID], until deadline: Clock.Instant, then: @escaping @Sendable () -> Void) -> UInt64 {
    let token = state.change { state in
      state.next += 1
      state.waits[state.next] = (Set(files.map { $0.inode }), deadline, then)
      return state.next
    }
    answerWaits()
    return token
  }

  func cancel(_ token: UInt64) -> Bool { state.change { $0.waits.removeValue(forKey: token) != nil } }

  func placeholder(for name: FileName) -> Picture { Picture(asset: 0, version: 0, placeholder: .document, size: 3) }

  func open(_ picture: Picture) throws(Errno) -> Descriptor {
    guard let bytes = state.withLock({ $0.bytes[picture.asset * 1000 + picture.version] }) else { throw .noEntry }
    let file = try Descriptor.memory("picture")
    try file.write(bytes)
    return file
  }

  func making(_ inode: UInt64) {
    state.change { state in
      if case .ready(let picture)? = state.states[inode] {
        state.states[inode] = .making(previous: picture)
      } else {
        state.states[inode] = .making(previous: nil)
      }
    }
  }

  func ready(_ inode: UInt64, version: Int64, _ text: String) {
    state.change { state in
      let bytes = Array(text.utf8)
      state.bytes[Int64(inode) * 1000 + version] = bytes
      state.states[inode] = .ready(
        Picture(asset: Int64(inode), version: version, placeholder: nil, size: Int64(bytes.count)))
    }
    answerWaits()
  }

  /// How many wait now.
  var waiting: Int { state.withLock { $0.waits.count } }

  private func answerWaits() {
    let due = state.change { state in
      let due = state.waits.filter { _, wait in
        wait.files.allSatisfy { if case .ready? = state.states[$0] { true } else { false } }
      }
      for token in due.keys { state.waits[token] = nil }
      return due.values.map { $0.then }
    }
    for then in due { then() }
  }
}
