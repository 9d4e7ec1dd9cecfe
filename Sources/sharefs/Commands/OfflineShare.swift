import Catalog
import Contracts
import Glibc
import Pipeline
import Posix

/// The pipeline of a share that is not mounted, run for as long as it takes to catalog what is there. The share is locked meanwhile, as by a mount.
enum OfflineShare {
  /// - Parameter state: given with `--state`.
  static func catalog(_ root: FileName, state: FileName?) throws(Failure) {
    let folder = try explain(.noSuchThing, "The folder \(root) cannot be opened") { () throws(Errno) in
      SharedDescriptor(try Descriptor.open(root, O_PATH | O_DIRECTORY))
    }
    let location = try ShareLocation.claim(
      folder: folder.raw, path: root, folders: try StateFolders.own(),
      state: try state.map { path throws(Failure) in try Paths.absolute(path) })
    let complaints = Complaints()
    let settings = Settings(
      catalogFolder: location.data, cacheFolder: location.cache, worker: try Daemonize.worker(),
      workers: System.processors, name: location.name, source: folder.raw, isBeingWritten: { _ in false })
    let pipeline: Pipeline
    do throws(PipelineError) {
      pipeline = try Pipeline(settings: settings, reporter: complaints)
    } catch {
      throw Failure(.usage, error.what)
    }
    pipeline.start(observer: complaints)
    defer { pipeline.stop() }
    var isIdle = false
    while !isIdle {
      Clock.pause(0.01)
      let status = pipeline.status()
      isIdle =
        status.scanEnded != nil && status.backlog == 0 && status.running == 0 && status.summary?.pending == 0
      if let failure = status.workerFailure { throw Failure(.usage, "Media cannot be looked at: \(failure).") }
    }
  }

  /// Says what goes wrong, and shows nothing.
  private final class Complaints: Reporter, ProjectionObserver {
    func report(_ severity: Severity, _ text: String) {
      if severity <= .warning { Output.complain("sharefs: \(text)\n") }
    }
    func pictureChanged(of document: Document, old: Picture?, new: Picture?) {}
    func wholenessChanged(of document: Document, isWhole: Bool) {}
  }
}
