public import Catalog
import Contracts
public import Posix

/// How a pipeline stands.
public struct PipelineStatus: Hashable, Sendable {
  /// What the catalog counts; nil when it cannot be read now.
  public var summary: Summary?
  /// Changes taken and not yet in the catalog.
  public var backlog = 0
  /// Documents being looked at.
  public var running = 0
  /// Worker processes that are there.
  public var workers = 0
  public var workersWanted = 0
  /// Why there are fewer; nil when all is well.
  public var workerFailure: String?
  public var isScanning = false
  /// Files looked at by the present scan, or the last one.
  public var scannedFiles = 0
  /// When the last whole scan ended.
  public var scanEnded: FileTime?
  /// Whether that scan could look everywhere.
  public var isScanComplete = true
  /// Whether `.thumbs` knows already what the catalog knows.
  public var isIndexLoaded = false
  /// The last errors and warnings, the youngest last.
  public var problems: [Problem] = []
}
