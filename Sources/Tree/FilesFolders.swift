import CLinux
import Fuse
import Posix

/// An open folder. Its reader is made when it is first read, which the kernel does not ask for where it keeps the listing. It is taken out
/// while it is used, so that no lock is held over a system call; whoever finds none makes another.
private final class OpenFolder: KernelHandle, Sendable {
  final class Reader: @unchecked Sendable {
    // Sound since it belongs to the thread that took it out, until it is put back.
    var directory: Directory
    /// The position after the last entry that was given.
    var position: Int64 = 0
    /// Read, but there was no room for it any more.
    var pending: DirectoryEntry?

    init(_ folder: Node) throws(Errno) {
      let held = try folder.open()
      directory = try Directory(reading: held.raw)
    }
  }

  let reader = Guarded<Reader?>(nil)
}

extension Files {
  /// The position after the views' names, which follow the backing folder's own at its end.
  private static let afterViews = Int64.max - 7

  func openFolder(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    do throws(Errno) {
      _ = try table.find(node)
      let folder = OpenFolder()
      // Where all changes come through us the kernel sees them: the listing that it keeps is true.
      request.opened(OpenReply(handle: folder.handle(), flags: settings.isExclusive ? [.cacheFolder, .keepCache] : []))
    } catch {
      request.fail(error)
    }
  }

  func readFolder(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, size: Int, withAttributes: Bool
  ) {
    do throws(Errno) {
      let node = try table.find(node)
      let folder = OpenFolder.at(handle)
      var listing = Listing(size: size)
      if offset != Files.afterViews {
        let reader: OpenFolder.Reader
        if let free = folder.reader.withLock({ $0.take() }) { reader = free } else { reader = try .init(node) }
        if reader.position != offset || offset == 0 {
          try reader.directory.seek(offset)
          reader.position = offset
          reader.pending = nil
        }
        try fill(&listing, from: reader, node, request, withAttributes)
        folder.reader.withLock { $0 = reader }
      }
      request.listing(listing)
    } catch {
      request.fail(error)
    }
  }

  private func fill(
    _ listing: inout Listing, from reader: OpenFolder.Reader, _ folder: Node, _ request: borrowing Request,
    _ withAttributes: Bool
  ) throws(Errno) {
    while true {
      let read: DirectoryEntry?
      if let pending = reader.pending.take() { read = pending } else { read = try reader.directory.next() }
      guard let line = read else {
        if folder.id == .root { addViews(to: &listing, request, withAttributes) }
        return
      }
      guard try add(line, of: folder, to: &listing, request, withAttributes) else {
        reader.pending = line
        return
      }
      reader.position = line.next
    }
  }

  private func add(
    _ line: DirectoryEntry, of folder: Node, to listing: inout Listing, _ request: borrowing Request,
    _ withAttributes: Bool
  ) throws(Errno) -> Bool {
    func nameOnly(_ withAttributes: Bool) -> Bool {
      request.add(
        line.name, inode: line.inode, kind: line.kind, next: line.next, to: &listing, withAttributes: withAttributes)
    }
    guard withAttributes, !line.name.isDots else { return nameOnly(withAttributes) }
    let found: (Node, FileStatus)
    do throws(Errno) {
      found = try hold(in: folder, line.name)
    } catch {
      // Removed since it was read, or not to be looked at: the name alone, as a plain listing has it.
      if error == .tooManyOpen { throw error }
      return nameOnly(true)
    }
    let (node, status) = found
    guard request.add(line.name, entry(node, status), next: line.next, to: &listing) else {
      release(node.id, count: 1)
      return false
    }
    return true
  }

  private func addViews(to listing: inout Listing, _ request: borrowing Request, _ withAttributes: Bool) {
    for (name, view) in views where view.isListed {
      guard let status = view.rootStatus() else { continue }
      _ = request.add(
        name, inode: status.inode, kind: .folder, next: Files.afterViews, to: &listing, withAttributes: withAttributes)
    }
  }

  func releaseFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    OpenFolder.take(handle)
    request.done()
  }

  func synchronizeFolder(_ request: consuming Request, _ node: NodeID, handle: UInt64, dataOnly: Bool) {
    do throws(Errno) {
      let held = try table.find(node).open()
      let folder = try Descriptor.open(at: held.raw, FileName("."), O_RDONLY | O_DIRECTORY)
      try folder.synchronize()
      request.done()
    } catch {
      request.fail(error)
    }
  }
}
