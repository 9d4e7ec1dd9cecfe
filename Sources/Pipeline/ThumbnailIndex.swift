import Catalog
import Contracts
import Posix

/// What stands in `.thumbs`, in memory, by volume and inode: asked for every entry of a listing, so it never waits for the catalog.
///
/// A change that was taken but not yet applied by the writer is counted in its entry: until the count is back at 0 the document is in the
/// making, whatever the writer publishes about older versions meanwhile.
///
/// Lock order of the pipeline: inbox, then index. Observers, waiters and the store are called without any.
final class ThumbnailIndex: Sendable {
  struct Key: Hashable {
    let volume: UInt64
    let inode: UInt64
  }

  /// 24 bytes; with its key 32, so a million of them take 64 MB at the table's largest.
  struct Entry {
    /// 0 until the writer has looked.
    var asset: Int64 = 0
    /// Of the picture; 0 for none.
    var version: UInt32 = 0
    var size: UInt32 = 0
    /// The lower half of the birth time: tells a recycled inode.
    var birth: UInt32
    /// Changes taken and not yet applied.
    var unapplied: UInt16 = 0
    var placeholder: UInt8 = 0
    var flags: Flags = []

    var isMaking: Bool { !flags.contains(.gone) && (unapplied > 0 || flags.contains(.pending)) }
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let pending = Flags(rawValue: 1)
    static let hidden = Flags(rawValue: 2)
    /// Its last name went; the writer has not heard of it yet.
    static let gone = Flags(rawValue: 4)
    /// The newest content is all there.
    static let whole = Flags(rawValue: 8)
  }

  struct State {
    /// The share's own volume, number 0.
    var main: [UInt64: Entry] = [:]
    var others: [Key: Entry] = [:]
    var waiters = Waiters()
    /// Counts the changes of entries.
    private(set) var revision: UInt64 = 0
    var isLoaded = false
    var isStopping = false

    subscript(_ key: Key) -> Entry? {
      get { key.volume == 0 ? main[key.inode] : others[key] }
      set {
        revision += 1
        if key.volume == 0 { main[key.inode] = newValue } else { others[key] = newValue }
      }
    }

    /// Tells those who wait when the entry is in the making no more.
    mutating func settle(_ key: Key) {
      if !waiters.isEmpty, self[key]?.isMaking != true { waiters.finished(key) }
    }
  }

  let state = Monitor(State())
  private let store: ThumbnailStore

  init(store: ThumbnailStore) { self.store = store }

  func picture(volume: UInt64, inode: UInt64) -> PictureState {
    let found = state.withLock { $0[Key(volume: volume, inode: inode)] }
    guard let entry = found, entry.flags.isDisjoint(with: [.hidden, .gone]) else { return .unknown }
    let picture = picture(entry)
    if entry.isMaking { return .making(previous: picture) }
    if let picture { return .ready(picture) }
    // A placeholder that is being drawn just now.
    return entry.version > 0 ? .making(previous: nil) : .unknown
  }

  func wholeness(volume: UInt64, inode: UInt64) -> Wholeness {
    let found = state.withLock { $0[Key(volume: volume, inode: inode)] }
    guard let entry = found, entry.flags.isDisjoint(with: [.hidden, .gone]) else { return .unknown }
    if entry.isMaking { return .making }
    return entry.flags.contains(.whole) ? .whole : .broken
  }

  /// The picture that is shown for a file now, by its placeholder's true size.
  func picture(of file: FileID) -> Picture? {
    switch picture(volume: file.volume, inode: file.inode) {
    case .unknown: nil
    case .making(let previous): previous
    case .ready(let picture): picture
    }
  }

  private func picture(_ entry: Entry) -> Picture? {
    guard entry.version > 0 else { return nil }
    guard let kind = PlaceholderKind(rawValue: entry.placeholder) else {
      return Picture(asset: entry.asset, version: Int64(entry.version), placeholder: nil, size: Int64(entry.size))
    }
    guard let size = store.size(kind) else { return nil }
    return Picture(asset: entry.asset, version: Int64(entry.version), placeholder: kind, size: size)
  }

  // MARK: - From the thread that made the change

  /// Takes a change into account at once.
  /// - Returns: whether `applied` must follow for it.
  func note(_ change: Change, isTemporary: Bool) -> Bool {
    switch change {
    case .settled(let document, _):
      return expect(document.file, isTemporary: isTemporary, onlyUnknown: false)
    case .seen(let document, _):
      return isTemporary ? false : expect(document.file, isTemporary: false, onlyUnknown: true)
    case .removed(let document, .regular, wasLast: true):
      let key = document.file.key
      state.withLock { state in
        guard var entry = state[key], entry.birth == document.file.shortBirth else { return }
        entry.flags.insert(.gone)
        state[key] = entry
        state.settle(key)
      }
      return false
    default: return false
    }
  }

  private func expect(_ file: FileID, isTemporary: Bool, onlyUnknown: Bool) -> Bool {
    state.withLock { state in
      let known = state[file.key].flatMap { $0.birth == file.shortBirth ? $0 : nil }
      if known == nil && isTemporary { return false }
      if known != nil && onlyUnknown { return false }
      var entry = known ?? Entry(birth: file.shortBirth)
      if entry.unapplied == .max { return false }
      entry.unapplied += 1
      entry.flags.remove(.gone)
      state[file.key] = entry
      return true
    }
  }

  /// Whether a change of it was taken that the writer has not applied yet.
  func isExpected(_ file: FileID) -> Bool {
    state.withLock { state in state[file.key].map { $0.birth == file.shortBirth && $0.unapplied > 0 } ?? false }
  }

  // MARK: - From the writer

  /// A noted change is in the catalog, or came to nothing.
  func applied(_ file: FileID) {
    state.withLock { state in
      guard var entry = state[file.key], entry.birth == file.shortBirth, entry.unapplied > 0 else { return }
      entry.unapplied -= 1
      state[file.key] = entry.unapplied == 0 && entry.asset == 0 ? nil : entry
      state.settle(file.key)
    }
  }

  /// What the catalog says about a living asset now.
  func set(_ asset: Asset) {
    state.withLock { state in
      let key = asset.file.key
      var entry = state[key] ?? Entry(birth: asset.file.shortBirth)
      // Another file has this inode by now.
      if entry.birth != asset.file.shortBirth { return }
      entry.fill(
        asset.id, asset.picture, isPending: asset.state == .pending, isHidden: asset.isHidden, isWhole: asset.isWhole)
      state[key] = entry
      state.settle(key)
    }
  }

  /// The asset has this file no more.
  /// - Returns: the picture that was shown.
  @discardableResult
  func drop(_ file: FileID, asset: Int64) -> Picture? {
    let dropped = state.withLock { state -> Entry? in
      guard let entry = state[file.key], entry.asset == asset else { return nil }
      var fresh = Entry(birth: entry.birth)
      fresh.unapplied = entry.unapplied
      state[file.key] = fresh.unapplied > 0 ? fresh : nil
      state.settle(file.key)
      return entry
    }
    return dropped.flatMap { picture($0) }
  }

  /// Takes over all that the catalog knew at the start; what was noted meanwhile stays noted.
  func load(_ reader: CatalogReader, count: Int) throws(CatalogError) {
    state.withLock { $0.main.reserveCapacity(count) }
    try reader.shown { shown in
      state.withLock { state in
        let key = shown.file.key
        var entry = state[key] ?? Entry(birth: shown.file.shortBirth)
        guard entry.asset == 0, entry.birth == shown.file.shortBirth else { return }
        entry.fill(
          shown.asset, shown.picture, isPending: shown.isPending, isHidden: shown.isHidden, isWhole: shown.isWhole)
        state[key] = entry
      }
      return true
    }
    state.withLock { $0.isLoaded = true }
  }

  /// Forgets everything, since the catalog was lost; changes in flight stay noted.
  func clear() {
    state.change { state in
      for (inode, entry) in state.main {
        var fresh = Entry(birth: entry.birth)
        fresh.unapplied = entry.unapplied
        state[Key(volume: 0, inode: inode)] = fresh.unapplied > 0 ? fresh : nil
      }
      for key in state.others.keys { state[key] = nil }
    }
  }

  var revision: UInt64 { state.withLock { $0.revision } }
  var count: Int { state.withLock { $0.main.count + $0.others.count } }
  var isLoaded: Bool { state.withLock { $0.isLoaded } }
}

extension ThumbnailIndex.Entry {
  fileprivate mutating func fill(_ id: Int64, _ picture: Picture?, isPending: Bool, isHidden: Bool, isWhole: Bool) {
    asset = id
    version = picture.map { UInt32(clamping: $0.version) } ?? 0
    size = picture.map { UInt32(clamping: $0.size) } ?? 0
    placeholder = picture?.placeholder?.rawValue ?? 0
    if isPending { flags.insert(.pending) } else { flags.remove(.pending) }
    if isHidden { flags.insert(.hidden) } else { flags.remove(.hidden) }
    if isWhole { flags.insert(.whole) } else { flags.remove(.whole) }
  }
}

extension FileID {
  var key: ThumbnailIndex.Key { ThumbnailIndex.Key(volume: volume, inode: inode) }
  var shortBirth: UInt32 { UInt32(truncatingIfNeeded: birth.nanoseconds) }
}
