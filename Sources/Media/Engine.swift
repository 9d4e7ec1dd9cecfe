import CLibAV
public import Contracts
import Posix

/// Answers jobs: what a document is, whether it is whole, and its picture. Holds nothing between two jobs.
public struct Engine: Sendable {
  /// Seconds that one document may take here; the daemon ends the process a little later.
  private static let patience = 7.0

  public init() {
    // None at all: the usual one looks at every line of a trace before it drops it, which an index of two hours has many of.
    av_log_set_callback(nil)
  }

  /// Loads what is loaded at first use: before the sandbox closes.
  /// - Parameter memory: a memory file, of which nothing stays.
  public func warmUp(memory: CInt) {
    for kind in PlaceholderKind.allCases {
      _ = perform(Job(number: 0, task: .placeholder(kind), boxes: [Box(width: 32, height: 18)]), memory: memory)
    }
    ToneMap.warmUp()
    _ = (MediaTypes.unknown, MediaTypes.byExtension("mp4"))
  }

  /// - Parameters:
  ///   - document: a descriptor for reading; nil for a placeholder. Stays the caller's, as `memory` does.
  ///   - memory: a descriptor of the memory file that the pictures are written into, from its start.
  public func perform(_ job: Job, document: CInt? = nil, memory: CInt) -> Outcome {
    var finding: Finding
    switch (job.task, document) {
    case (.placeholder(let kind), _):
      finding = Finding(placeholder: kind)
      finding.rasters = job.boxes.map { Placeholder.draw(kind, $0) }
    case (.document(let name), let document?):
      finding = Study(name: name, boxes: job.boxes).finding(
        document, deadline: Clock.now() + Clock.seconds(Self.patience))
    case (.document, nil):
      finding = Finding(placeholder: .document)
      finding.judge(.damaged("No document came with the job."))
    }
    var pictures: [Outcome.Drawn] = []
    var writer = PictureWriter(memory)
    do throws(MediaError) {
      for raster in finding.rasters { pictures.append(try writer.write(raster)) }
    } catch {
      pictures = []
      finding.judge(error)
    }
    return Outcome(
      number: job.number, verdict: finding.verdict, reason: finding.reason, facts: finding.facts, pictures: pictures,
      placeholder: pictures.isEmpty ? finding.placeholder : nil)
  }
}

/// What is known of a document so far.
struct Finding {
  private(set) var verdict = Verdict.ready
  private(set) var reason = ""
  private(set) var isUnfinished = false
  var facts = Facts()
  /// One for each box, or none.
  var rasters: [Raster] = []
  var placeholder: PlaceholderKind

  init(placeholder: PlaceholderKind) { self.placeholder = placeholder }

  /// Some formats do not say how long the file is: then nothing is wrong with it as far as can be seen.
  /// - Parameter isUnfinished: that its last picture may be cut.
  mutating func doubt(isUnfinished: Bool = false) {
    reason = "Its format does not tell whether all of it is there."
    self.isUnfinished = isUnfinished
  }

  /// Takes the first thing that is wrong: what follows from it says less.
  mutating func judge(_ error: MediaError) {
    guard verdict == .ready else { return }
    verdict = error.verdict
    reason = error.reason
  }
}
