public import Catalog
import Posix

/// Something that somebody outside of the pipeline wants written into the catalog, and waits for.
final class Step: Sendable {
  private enum Outcome {
    case done
    case failed(CatalogError)
  }

  let body: @Sendable (Catalog) throws(CatalogError) -> Void
  private let outcome = Monitor<Outcome?>(nil)

  init(_ body: @escaping @Sendable (Catalog) throws(CatalogError) -> Void) { self.body = body }

  func end(_ error: CatalogError?) { outcome.change { $0 = error.map { .failed($0) } ?? .done } }

  /// - Returns: nil when it was not written in time.
  func wait(until deadline: Clock.Instant) throws(CatalogError) -> Bool {
    switch outcome.wait(until: deadline, { $0 }) {
    case .done?: return true
    case .failed(let error)?: throw error
    case nil: return false
    }
  }
}

extension Pipeline {
  /// Nanoseconds.
  private static let patience = Clock.seconds(0.5)

  /// Has the writer run a step in a transaction of its own thread, and waits for it, half a second at most.
  public func write(_ body: @escaping @Sendable (Catalog) throws(CatalogError) -> Void) throws(BookmarkFailure) {
    let step = Step(body)
    post(.step(step))
    do throws(CatalogError) {
      if try step.wait(until: Clock.now() + Pipeline.patience) { return }
    } catch {
      throw .unavailable(error.what)
    }
    throw .unavailable("The catalog is busy; ask again.")
  }
}
