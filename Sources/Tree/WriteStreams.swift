import CLinux
import Contracts
import Fuse
import Posix

/// What is known of one document's write stream: from the first open for writing to the end of the last one.
struct StreamState {
  /// Open handles that may write.
  var writers = 0
  /// Whether the stream goes on: while there are writers, and after the last one while a writable mapping lives.
  var isOpen = false
  /// Whether a handle of this stream could be mapped writable past its own release.
  var mayBeMapped = false
  /// Whether it is being waited for such a mapping.
  var isWatched = false
  /// The stamp that the content must still have to count as unchanged; moved along by changes of metadata.
  var baseline: ContentStamp?
  /// The stamp at the stream's start, to see whether anything is to be told at all.
  var first: ContentStamp?
  /// The content is known to have changed, or the document has come to its first real name meanwhile.
  var isChanged = false
  /// Whether this stream made the file, and nobody has given it capabilities since.
  var hasNoCapabilities = false

  /// Whether its end is being told, and whether the document has come to its first real name meanwhile.
  var isBeingTold = false
  var cameToName = false
  /// Whether it is being given a name, and by which path an end has been told meanwhile.
  var isBeingNamed = false
  var toldMeanwhile: SharePath?

  /// Nothing is going on that must be remembered.
  var isAtRest: Bool { writers == 0 && !isOpen && !isWatched && !isBeingTold && !isBeingNamed }
}

/// Tells when a document's last writer has gone, and whether its content changed.
///
/// Called in the order in which requests leave the kernel. Nothing here waits: a mapping that lives on is watched by a thread of
/// its own. No lock is held over a system call or over a call to `settled`.
final class WriteStreams: Sendable {
  private let settled: any Settled
  private let table: NodeTable
  private let watch: MappingWatch?

  /// - Parameter passthrough: whether a mapping may outlive RELEASE at all.
  init(table: NodeTable, settled: any Settled, watch: MappingWatch?) {
    self.table = table
    self.settled = settled
    self.watch = watch
  }

  /// A handle that may write is about to be opened.
  /// - Parameters:
  ///   - before: the status before anything that the open itself changes; nil for a document that it created.
  func begin(_ node: Node, before: FileStatus?, mayBeMapped: Bool) {
    // Whoever opens it again after close() has returned begins a new version, though the watch may not have heard of the old one's end yet.
    if node.peek({ $0.stream.isOpen && $0.stream.writers == 0 }) == true { lookAgain() }
    let isFirst = node.withStream { stream in
      stream.writers += 1
      if mayBeMapped { stream.mayBeMapped = true }
      if stream.isOpen { return false }
      stream.isOpen = true
      stream.baseline = before?.stamp
      stream.first = before?.stamp
      stream.isChanged = before == nil
      stream.hasNoCapabilities = before == nil
      return true
    }
    if isFirst, let path = node.path { settled.take(.started(Document(file: node.file, path: path))) }
  }

  /// A handle that may write was released, or was not opened after all.
  func end(_ node: Node) {
    let isLast = node.withStream { stream in
      stream.writers -= 1
      return stream.writers == 0
    }
    if isLast { finishOrWatch(node) }
  }

  /// The last handle has gone; a mapping may live on.
  private func finishOrWatch(_ node: Node) {
    guard node.peek({ $0.stream.mayBeMapped }) == true, let watch, watch.outlives(node) else { return finish(node) }
    let isNew = node.withStream { stream in
      defer { stream.isWatched = true }
      return !stream.isWatched
    }
    // The kernel may forget the inode while only the mapping of the backing file lives: it is held for it.
    guard isNew, table.hold(node) else { return }
    // And so is its descriptor; a release that is just being counted has it pinned, so this asks nothing of the disk.
    let isPinned = (try? node.pin()) != nil
    watch.wait(for: node) { [self] in
      mappingEnded(node)
      if isPinned { node.unpin() }
    }
  }

  /// Asks once more about all documents that wait for the end of a mapping: the kernel drops the backing file a moment after it has queued
  /// the RELEASE, and whoever asks after close() must find it done.
  func lookAgain() { watch?.lookAgain() }

  /// Whether a document is being written now, by the inode's numbers.
  func isBeingWritten(_ key: NodeKey) -> Bool { table.find(key)?.peek { $0.stream.isOpen } ?? false }

  func writers(of key: NodeKey) -> Int { table.find(key)?.peek { $0.stream.writers } ?? 0 }

  /// Does something that changes a node's change time but not its content, and sees to it that the stream does not take it for a
  /// change of content (and does not lose one).
  /// - Parameter setsTimes: whether the modification time is set by it, so that it tells nothing.
  /// - Returns: a document's status after it; nil for what is none, which has no stream.
  @discardableResult
  func changingMetadata(
    _ node: Node, setsTimes: Bool = false, _ body: () throws(Errno) -> Void
  ) throws(Errno) -> FileStatus? {
    guard node.kind == .regular else {
      try body()
      return nil
    }
    let isOpen = node.peek { $0.stream.isOpen } ?? false
    let before = isOpen ? try node.status().stamp : nil
    try body()
    let status = try node.status()
    let after = status.stamp
    let isStillOpen = node.withStream { stream in
      if stream.isOpen {
        if before != stream.baseline { stream.isChanged = true }
        // A write from elsewhere, between the two looks.
        if let before, !setsTimes, after.modified != before.modified { stream.isChanged = true }
        stream.baseline = after
      }
      return stream.isOpen
    }
    if !isStillOpen { settled.take(.touched(node.file, after)) }
    return status
  }

  /// Does something that changes the content without a handle of its own, such as truncate(2).
  /// - Returns: the status after it.
  func changingContent(_ node: Node, _ body: () throws(Errno) -> Void) throws(Errno) -> FileStatus {
    let before = try node.status().stamp
    try body()
    let status = try node.status()
    let after = status.stamp
    let isOpen = node.withStream { stream in
      if stream.isOpen && after != before { stream.isChanged = true }
      return stream.isOpen
    }
    if !isOpen, let path = node.path {
      let document = Document(file: node.file, path: path)
      if after.size != before.size {
        settled.take(.settled(document, after))
      } else if after != before {
        settled.take(.touched(node.file, after))
      }
    }
    return status
  }

  /// A node is about to be reached by another name. Between that and `cameToName` the thread that watches mappings may tell an end by it.
  func beginNaming(_ node: Node) { node.withStream { $0.isBeingNamed = true } }

  func endNaming(_ node: Node) {
    node.withStream { stream in
      stream.isBeingNamed = false
      stream.toldMeanwhile = nil
    }
  }

  /// A finished document got its first real name (renamed or linked from a temporary one, or from none).
  func cameToName(_ node: Node) {
    guard node.kind == .regular, let stamp = try? node.status().stamp, let path = node.path else { return }
    let isTold = node.withStream { stream in
      if stream.isOpen { stream.isChanged = true }
      // By the thread that watches mappings, which tells this too.
      if stream.isBeingTold { stream.cameToName = true }
      return stream.isOpen || stream.isBeingTold || stream.toldMeanwhile == path
    }
    if !isTold { settled.take(.settled(Document(file: node.file, path: path), stamp)) }
  }

  private func mappingEnded(_ node: Node) {
    let isOver = node.withStream { stream in
      stream.isWatched = false
      return stream.isOpen && stream.writers == 0
    }
    // Another handle may have come and gone meanwhile, and left another mapping.
    if isOver { finishOrWatch(node) }
    _ = table.release(node.id, count: 1)
  }

  private func finish(_ node: Node) {
    // A descriptor of the inode is at hand, so this fails only on a broken disk; then the document is looked at again.
    let after = try? node.status().stamp
    let outcome: (isChanged: Bool, wasTouched: Bool)? = node.withStream { stream in
      // A new writer may have come meanwhile (for the watching thread): the stream goes on.
      guard stream.isOpen, stream.writers == 0, !stream.isWatched else { return nil }
      let isChanged = stream.isChanged || after != stream.baseline
      let wasTouched = after != stream.first
      let isBeingNamed = stream.isBeingNamed
      stream = StreamState()
      stream.isBeingTold = true
      stream.isBeingNamed = isBeingNamed
      return (isChanged, wasTouched)
    }
    guard let outcome else { return }
    let unreadable = ContentStamp(size: -1, modified: FileTime(nanoseconds: 0), changed: FileTime(nanoseconds: 0))
    var told: SharePath?
    if let path = node.path {
      let document = Document(file: node.file, path: path)
      if outcome.isChanged {
        settled.take(.settled(document, after ?? unreadable))
        told = path
      } else {
        if outcome.wasTouched, let after { settled.take(.touched(node.file, after)) }
        settled.take(.unchanged(document))
      }
    }
    // Whoever moved it to its first real name in the meantime has left that to us, unless it is told by that name already.
    while node.withStream({ stream in
      defer { stream.cameToName = false }
      stream.isBeingTold = stream.cameToName
      if !stream.isBeingTold && stream.isBeingNamed { stream.toldMeanwhile = told }
      return stream.cameToName
    }) {
      guard let path = node.path, path != told else { continue }
      settled.take(.settled(Document(file: node.file, path: path), (try? node.status().stamp) ?? unreadable))
      told = path
    }
  }
}
