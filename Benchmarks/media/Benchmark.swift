import Contracts
import Glibc
import Posix

/// Measures the media worker against ffmpegthumbnailer over a folder of files and prints tables in Markdown.
///
///     media-benchmark [--rounds N] [--alone] FOLDER
///
/// `--alone` leaves the other program out. A number of files counts only where both make a picture.
@main struct Benchmark {
  static func main() {
    do throws(Failure) { try run(Array(CommandLine.arguments.dropFirst())) } catch {
      print("media-benchmark: \(error.text)")
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws(Failure) {
    var rounds = 5
    var isAlone = false
    var folder: String?
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--alone": isAlone = true
      case "--rounds":
        guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
          throw Failure("--rounds needs a number")
        }
        rounds = count
      default: folder = word
      }
    }
    guard let folder else { throw Failure("usage: media-benchmark [--rounds N] [--alone] FOLDER") }
    let setting = try Setting(program: worker(), files: files(folder), rounds: rounds, isAlone: isAlone)
    let rows = try setting.each()
    let common = rows.filter { $0.isCommon }
    report(rows, setting)
    if !isAlone { try report(setting.together(common.map(\.path)), common.count) }
  }

  /// Built beside us.
  private static func worker() throws(Failure) -> FileName {
    do throws(Errno) {
      guard let folder = try Files.target(FileName("/proc/self/exe")).parent else { throw Errno.noEntry }
      return folder.appending("sharefs-worker")
    } catch { throw Failure("our own place cannot be found: \(error)") }
  }

  private static func files(_ folder: String) throws(Failure) -> [FileName] {
    do throws(Errno) {
      var directory = try Directory(Descriptor.open(folder, O_RDONLY | O_DIRECTORY))
      var paths: [FileName] = []
      while let entry = try directory.next() {
        if entry.name.bytes.first != UInt8(ascii: ".") { paths.append(FileName(folder).appending(entry.name)) }
      }
      return paths.sorted { $0.description < $1.description }
    } catch { throw Failure("\(folder) cannot be read: \(error)") }
  }

  private static func report(_ rows: [Row], _ setting: Setting) {
    print("| file | verdict | ours, ms | peer, ms | ratio |\n|---|---|---:|---:|---:|")
    for row in rows {
      let peer = row.peer.map { milliseconds($0) } ?? "-"
      let ratio = row.peer.map { fixed(Double($0) / Double(max(1, row.ours)), 1) } ?? "-"
      let verdict = "\(row.verdict)" + (row.isPlaceholder ? ", placeholder" : "")
      print("| \(row.name.description) | \(verdict) | \(milliseconds(row.ours)) | \(peer) | \(ratio) |")
    }
    let ready = rows.filter { $0.verdict == .ready && !$0.isPlaceholder }
    print(
      "\nProcessor time, median of \(setting.rounds) rounds. Ready with a picture: \(ready.count) of \(rows.count) files,"
    )
    print(
      "median \(milliseconds(median(ready.map(\.ours)))) ms, sum \(milliseconds(ready.map(\.ours).reduce(0, +))) ms.")
    print("Most memory of the worker: \(setting.peak.withLock { $0 } >> 20) MB.")
    let common = rows.filter { $0.isCommon }
    guard !common.isEmpty else { return }
    let ratios = common.map { Double($0.peer ?? 0) / Double(max(1, $0.ours)) }
    print(
      "Files of which both make a picture: \(common.count), ours median \(milliseconds(median(common.map(\.ours)))) ms;",
      "peer/ours: median \(fixed(median(ratios), 1)), worst \(fixed(ratios.min() ?? 0, 1)),",
      "sum \(fixed(Double(common.compactMap(\.peer).reduce(0, +)) / Double(max(1, common.map(\.ours).reduce(0, +))), 1))."
    )
  }

  private static func report(_ turns: [Turn], _ count: Int) {
    print("\nTwo at a time over these \(count) files, turn about:\n")
    print(
      "| turn | ours wall | ours CPU | peer wall | peer CPU | wall ratio | CPU ratio |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    for (index, turn) in turns.enumerated() {
      print(
        "| \(index + 1) | \(milliseconds(turn.ours.wall)) | \(milliseconds(turn.ours.cpu)) |",
        "\(milliseconds(turn.peer.wall)) | \(milliseconds(turn.peer.cpu)) | \(fixed(turn.wall, 1)) | \(fixed(turn.cpu, 1)) |"
      )
    }
    print("\nMedian: \(fixed(median(turns.map(\.wall)), 1)) x throughput, \(fixed(median(turns.map(\.cpu)), 1)) x CPU.")
  }

  static func median<Value: Comparable>(_ values: [Value]) -> Value where Value: ExpressibleByIntegerLiteral {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String { fixed(Double(nanoseconds) / 1e6, 1) }

  private static func fixed(_ value: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    return "\((value * scale).rounded() / scale)"
  }
}
