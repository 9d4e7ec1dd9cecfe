public import Contracts
public import Posix

/// One look at one document by a worker of its own, without a catalog: for what does not stand in a share.
public enum Examination {
  /// What came of it.
  public struct Result: Sendable {
    public let outcome: Outcome
    /// A PNG; nil where there is no picture of the content.
    public let picture: [UInt8]?
  }

  /// - Parameters:
  ///   - worker: the program `sharefs-worker`.
  ///   - document: a descriptor open for reading.
  ///   - name: a hint of its type.
  ///   - box: what the picture must fit into.
  /// - Throws: one sentence on what hinders the worker.
  public static func run(
    worker: FileName, document: CInt, name: FileName, box: Box = .standard, patience: Clock.Instant = Clock.seconds(10)
  ) throws(PipelineError) -> Result {
    do throws(WorkerProcess.Failure) {
      let process = try WorkerProcess.start(worker, patience: patience, isStopping: { false })
      defer { process.end() }
      let job = Job(number: 1, task: .document(name: Array(name.bytes)), boxes: [box])
      let (outcome, pictures) = try process.run(job, document: document)
      return Result(outcome: outcome, picture: pictures.first)
    } catch {
      switch error {
      case .notThere, .stopped: throw PipelineError("The media worker ended before it began.")
      case .broken(let how): throw PipelineError("The media worker failed: \(how).")
      case .ours(let errno): throw PipelineError("The media worker cannot be run: \(errno).")
      }
    }
  }
}

/// The stored thumbnails of a share, compared with its catalog.
public struct StoredPictures {
  /// Files that belong to no asset's present picture, without the youngest, which may be in the making.
  public private(set) var orphans: [FileName] = []
  /// Assets whose picture is not there, or not as it was stored.
  public private(set) var lost: [Int64] = []

  /// - Parameter expected: the pictures that the catalog speaks of, without placeholders.
  public init(cacheFolder: FileName, expected: [Picture]) throws(Errno) {
    let store = ThumbnailStore(folder: cacheFolder, box: .standard)
    let (stored, others) = try store.entries()
    var left = stored
    for picture in expected {
      let isThere = left.remove(ThumbnailStore.Entry(asset: picture.asset, version: picture.version)) != nil
      if !isThere || (try? store.open(picture)) == nil { lost.append(picture.asset) }
    }
    let limit = ThumbnailStore.oldestInTheMaking
    orphans = (others + left.map { store.path(of: $0) })
      .filter { ((try? Files.status($0))?.modified).map { $0 < limit } ?? false }
  }
}
