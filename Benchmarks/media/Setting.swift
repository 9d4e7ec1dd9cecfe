import Contracts
import Glibc
import Posix

/// What one file costs.
struct Row {
  let path: FileName
  let verdict: Verdict
  let isPlaceholder: Bool
  /// Nanoseconds of processor time.
  let ours: Int64
  /// nil where the peer makes no picture.
  let peer: Int64?

  var name: FileName { FileName(path.bytes.split(separator: UInt8(ascii: "/")).last ?? []) }
  var isCommon: Bool { verdict == .ready && !isPlaceholder && peer != nil }
}

/// One turn of all files, ours and then the peer's.
struct Turn {
  let ours: (wall: Int64, cpu: Int64)
  let peer: (wall: Int64, cpu: Int64)

  var wall: Double { Double(peer.wall) / Double(ours.wall) }
  var cpu: Double { Double(peer.cpu) / Double(ours.cpu) }
}

struct Setting: Sendable {
  let program: FileName
  let files: [FileName]
  let rounds: Int
  let isAlone: Bool
  let peak = Share(0)

  /// A number that threads share.
  typealias Share = Monitor<Int>

  private func picture(_ number: Int) -> FileName { FileName("/tmp/media-benchmark-\(getpid())-\(number).png") }

  /// Each file by itself, ours and the peer's turn about, so that both meet the same noise.
  func each() throws(Failure) -> [Row] {
    let worker = try Worker(program)
    var rows: [Row] = []
    for (number, path) in files.enumerated() {
      // The first time warms the page cache.
      let outcome = try worker.run(path, number: UInt64(number))
      var ours: [Int64] = []
      var peers: [Int64] = []
      let isOpen = !isAlone && outcome.verdict == .ready && !outcome.pictures.isEmpty
      var hasPeer = isOpen && Peer.run(path, into: picture(0))
      for round in 0..<rounds {
        let before = worker.spent
        _ = try worker.run(path, number: UInt64(round))
        ours.append(worker.spent - before)
        if hasPeer {
          let before = Peer.spent
          hasPeer = Peer.run(path, into: picture(0))
          peers.append(Peer.spent - before)
        }
      }
      rows.append(
        Row(
          path: path, verdict: outcome.verdict, isPlaceholder: outcome.pictures.isEmpty,
          ours: Benchmark.median(ours), peer: hasPeer ? Benchmark.median(peers) : nil))
    }
    unsafe unlink(picture(0).description)
    let most = worker.peak
    peak.withLock { $0 = max($0, most) }
    return rows
  }

  /// All files, two at a time.
  func together(_ paths: [FileName]) throws(Failure) -> [Turn] {
    let workers = [try Worker(program), try Worker(program)]
    let failures = Monitor<[Failure]>([])
    var turns: [Turn] = []
    for turn in 0...rounds {
      let before = workers.map(\.spent).reduce(0, +)
      let pair = Pair(workers)
      let wall = both(paths) { side, path in
        do throws(Failure) { _ = try pair.run(side, path) } catch { failures.withLock { $0.append(error) } }
      }
      let ours = (wall, workers.map(\.spent).reduce(0, +) - before)
      if let failure = failures.withLock({ $0.first }) { throw failure }
      let spent = Peer.spent
      let peerWall = both(paths) { side, path in _ = Peer.run(path, into: picture(side)) }
      // The first turn warms up.
      if turn > 0 { turns.append(Turn(ours: ours, peer: (peerWall, Peer.spent - spent))) }
    }
    for side in 0...1 { unsafe unlink(picture(side).description) }
    return turns
  }

  /// - Returns: nanoseconds until two threads have done all paths.
  private func both(_ paths: [FileName], _ act: @escaping @Sendable (Int, FileName) -> Void) -> Int64 {
    let next = Share(0)
    let start = Clock.now()
    let threads = (0...1).map { side in
      Thread("bench-\(side)") {
        while true {
          let place = next.withLock { place in
            defer { place += 1 }
            return place
          }
          guard place < paths.count else { return }
          act(side, paths[place])
        }
      }
    }
    for thread in threads { thread.join() }
    return Clock.now() - start
  }
}

/// Two workers, each used by the one thread of its side.
@safe private final class Pair: @unchecked Sendable {
  private let workers: [Worker]
  init(_ workers: [Worker]) { self.workers = workers }
  func run(_ side: Int, _ path: FileName) throws(Failure) -> Outcome { try workers[side].run(path, number: 1) }
}
