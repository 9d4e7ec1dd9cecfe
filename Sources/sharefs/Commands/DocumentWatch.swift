import Catalog
import Contracts
import Control
import Posix

/// Follows documents of one share until each is whole or is known not to become so: by what the daemon knows of it, asked again whenever an
/// event speaks of it. Of a share that is not mounted the catalog tells.
final class DocumentWatch {
  final class Item {
    let typed: FileName
    fileprivate(set) var path: SharePath
    fileprivate(set) var asset: Int64?
    fileprivate(set) var outcome: DocumentOutcome?
    /// Whether what is there shall be asked.
    fileprivate var isStale = true
    fileprivate var wasRemoved = false
    /// The end of a stream that changed nothing is no event: what is being written is asked again after a while.
    fileprivate var isWriting = false

    /// The content version that the outcome speaks of.
    var version: (asset: Int64, version: Int64)? {
      switch outcome {
      case .whole(let asset, _, let version)?, .broken(let asset, _, let version, _)?: (asset, version)
      default: nil
      }
    }

    fileprivate init(_ path: SharePath, typed: FileName) {
      self.path = path
      self.typed = typed
    }
  }

  /// Seconds that a restarting daemon may be away before the catalog is believed.
  private static let patience = 10.0
  /// Seconds between two questions about what is being written.
  private static let pause = 0.1
  /// Seconds after which is asked though no event came: one comes a moment before the daemon answers by it, and this process may be the faster.
  private static let doubt = 1.0

  let share: FoundShare
  private let stream: EventStream
  private var items: [Item] = []
  /// Since when nobody serves the share.
  private var awaySince: Clock.Instant?

  init(_ share: FoundShare) {
    self.share = share
    stream = EventStream(share.root)
  }

  /// Events that come from now on are not missed.
  /// - Parameter deadline: until which the daemon may take to answer, if that is sooner than it may take anyway.
  func begin(until deadline: Clock.Instant? = nil) throws(Failure) {
    if share.running != nil { _ = try stream.connect(until: deadline) }
  }

  func add(_ path: SharePath, typed: FileName) throws(Failure) -> Item {
    let item = Item(path, typed: typed)
    items.append(item)
    return item
  }

  /// - Parameter deadline: nil waits for ever; what is not decided then has no outcome.
  func wait(until deadline: Clock.Instant?) throws(Failure) {
    if share.running == nil { return try askCatalog() }
    while true {
      if !stream.isConnected, try stream.connect(until: deadline) {
        // First connected, then asked: what happens in between comes as an event.
        for item in items { item.isStale = true }
      }
      for item in items where item.outcome == nil && item.isStale { try look(item, until: deadline) }
      if items.allSatisfy({ $0.outcome != nil }) { return }
      if let deadline, Clock.now() >= deadline { return }
      let isWriting = items.contains { $0.outcome == nil && $0.isWriting }
      let next = Clock.now() + Clock.seconds(isWriting ? Self.pause : Self.doubt)
      switch try stream.next(until: min(deadline ?? next, next)) {
      case .event(let event, _):
        awaySince = nil
        for item in items where item.outcome == nil { note(event, item) }
      case .overflow:
        for item in items { item.isStale = true }
      case .timedOut: for item in items where item.isWriting == isWriting { item.isStale = true }
      case .unmounted:
        let since = awaySince ?? Clock.now()
        awaySince = since
        if Clock.now() - since > Clock.seconds(Self.patience) { return try askCatalog() }
        Clock.pause(0.02)
        for item in items { item.isStale = true }
      }
    }
  }

  private func note(_ event: EventRecord, _ item: Item) {
    let isOurs = event.asset != nil && event.asset == item.asset
    let stands = event.path.bytes.elementsEqual(item.path.bytes)
    if event.event == Event.Kind.renamed.rawValue, let from = event.from, from.bytes.elementsEqual(item.path.bytes),
      isOurs || item.asset == nil || event.asset == nil, let path = SharePath(Array(event.path.bytes))
    {
      item.path = path
      item.asset = event.asset ?? item.asset
    } else if event.event == Event.Kind.removed.rawValue, stands {
      item.wasRemoved = true
    } else if !isOurs && !stands {
      return
    }
    if stands, let asset = event.asset { item.asset = asset }
    item.isStale = true
  }

  private func look(_ item: Item, until deadline: Clock.Instant?) throws(Failure) {
    item.isStale = false
    guard let known = try ask(item.path, until: deadline, isAway: { item.isStale = true }) else {
      if item.wasRemoved && !item.isStale { item.outcome = .removed }
      return
    }
    item.wasRemoved = false
    item.isWriting = known.state == .writing
    item.asset = known.asset ?? item.asset
    switch known.state {
    case .ignored:
      item.outcome = .noDocument(
        TemporaryNames.contains(item.path)
          ? "has a temporary or hidden name; wait for the name that it will get." : "is no regular file.")
    case .settled:
      guard let asset = known.asset, let verdict = known.verdict else { return }
      item.outcome = Self.outcome(asset, verdict, known.version ?? 0, known.reason)
    case .writing, .pending: break
    }
  }

  /// What the daemon knows of a document at this moment.
  /// - Parameter isAway: called when there is no daemon to be asked.
  /// - Returns: nil when there is no such document, or nobody to be asked.
  func ask(
    _ path: SharePath, until deadline: Clock.Instant? = nil, isAway: () -> Void = {}
  ) throws(Failure) -> DocumentStatus? {
    guard let running = RunningShare.at(share.root) else {
      isAway()
      return nil
    }
    do throws(Client.Failure) {
      var client = try Client.connect(to: running.socket)
      return try client.ask(
        .document(path), for: DocumentStatus.self, within: EventStream.patience(until: deadline))
    } catch {
      switch error {
      case .refused(let refusal) where refusal.code == .noSuchDocument: return nil
      case .silent: throw Failure(.timedOut, "The daemon of \(share.root) does not answer.")
      default:
        isAway()
        return nil
      }
    }
  }

  private static func outcome(_ asset: Int64, _ verdict: String, _ version: Int64, _ reason: String?)
    -> DocumentOutcome
  {
    switch verdict {
    case "incomplete", "invalid":
      .broken(asset: asset, verdict: verdict, version: version, reason: reason ?? "nobody knows why.")
    default: .whole(asset: asset, verdict: verdict, version: version)
    }
  }

  /// Of a share that is not mounted: at once.
  private func askCatalog() throws(Failure) {
    let catalog = try share.catalog()
    for item in items where item.outcome == nil {
      let asset = try FoundShare.explained { () throws(CatalogError) in
        if let id = item.asset { return try catalog?.asset(id: id) }
        return try catalog?.asset(at: item.path)
      }
      let whole = item.path.isRoot ? share.root : share.root.appending(FileName(item.path.bytes))
      if isDead {
        // What stands there cannot be looked at, and somebody may have been writing it when the daemon ended.
        item.outcome = .unmounted("cannot be looked at: the daemon of its share was killed. Mount the share again.")
        continue
      }
      let status = try? Files.status(whole)
      if let asset, asset.state == .removed || status == nil {
        item.outcome = .removed
      } else if let asset, asset.state == .done, status?.stamp == asset.stamp {
        item.asset = asset.id
        item.outcome = Self.outcome(asset.id, AssetRecord.verdict(of: asset), asset.version, asset.reason)
      } else if status == nil {
        item.outcome =
          share.running == nil || item.wasRemoved
          ? .removed : .unmounted("has not come, and its share is not mounted any more.")
      } else {
        item.outcome = .unmounted(
          asset == nil
            ? "is not catalogued, and its share is not mounted."
            : "is not as it was catalogued, and its share is not mounted.")
      }
    }
  }

  /// Whether nothing can be looked at there, since a killed daemon left its mount behind.
  private var isDead: Bool {
    do throws(Errno) {
      // The kernel goes on telling what it knows of the root itself.
      try System.touchFileSystem(share.root)
      return false
    } catch {
      return error == .notConnected
    }
  }
}
