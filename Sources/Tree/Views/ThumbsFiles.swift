import CLinux
import Contracts
import Fuse
import Glibc
import Posix

/// An open picture or note. The kernel keeps a pointer to it as the file handle.
private final class OpenPicture: KernelHandle, Sendable {
  enum Content: Sendable {
    case stored(SharedDescriptor)
    case fixed([UInt8])
  }

  let content: Content
  init(_ content: Content) { self.content = content }
}

extension Thumbs {
  func open(_ request: consuming Request, _ node: NodeID, flags: CInt) {
    do throws(Errno) {
      if flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 { throw .readOnly }
      switch try find(node).what {
      case .folder, .ghostFolder: throw .isFolder
      case .ghost: throw .stale
      case .note(let note): opened(request, .fixed(note.bytes))
      case .page(_, let page): opened(request, .fixed(page.bytes))
      case .picture(let folder, let document, _, _, let picture):
        if let stored = try stored(picture) {
          opened(request, .stored(stored))
        } else if let status = try documentStatus(document, in: folder) {
          wait(request, forLost: picture, of: status.id(root: root.key.device))
        } else {
          throw .stale
        }
      }
    } catch {
      request.fail(error)
    }
  }

  private func opened(_ request: consuming Request, _ content: OpenPicture.Content) {
    // A node shows one content version for ever, so the kernel may keep its pages.
    request.opened(OpenReply(handle: OpenPicture(content).handle(), flags: .keepCache))
  }

  /// nil when somebody emptied the cache: then it is being made again.
  private func stored(_ picture: Picture) throws(Errno) -> SharedDescriptor? {
    do throws(Errno) { return SharedDescriptor(try projection.open(picture)) } catch {
      if error == .noEntry { return nil }
      throw error
    }
  }

  private func wait(_ request: consuming Request, forLost picture: Picture, of file: FileID) {
    let wait = Wait()
    let deferred = Deferred(request) { [projection] in if let token = wait.token { _ = projection.cancel(token) } }
    wait.token = projection.wait(for: [file], until: Clock.now() + Thumbs.patience) { [self] in
      if let request = deferred.take() { found(request, picture) }
    }
  }

  private func found(_ request: consuming Request, _ picture: Picture) {
    do throws(Errno) {
      // Another version by now, or none: the kernel then looks the name up again.
      guard let stored = try stored(picture) else { throw .stale }
      opened(request, .stored(stored))
    } catch {
      request.fail(error)
    }
  }

  func read(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, count: Int) {
    switch OpenPicture.at(handle).content {
    case .fixed(let bytes):
      let start = Int(clamping: min(max(0, offset), Int64(bytes.count)))
      request.bytes(Array(bytes[start..<min(bytes.count, start + count)]))
    case .stored(let file):
      do throws(Errno) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { unsafe room.deallocate() }
        let got = try check { unsafe pread(file.raw, room.baseAddress, count, off_t(offset)) }
        unsafe request.bytes(UnsafeRawBufferPointer(rebasing: room[..<got]))
      } catch {
        request.fail(error)
      }
    }
  }

  func release(_ request: consuming Request, _ node: NodeID, handle: UInt64) {
    OpenPicture.take(handle)
    request.done()
  }

  /// No picture has holes.
  func seek(_ request: consuming Request, _ node: NodeID, handle: UInt64, offset: Int64, whence: CInt) {
    do throws(Errno) {
      let size = try status(of: try find(node)).size
      guard (0..<size).contains(offset) else { throw Errno(ENXIO) }
      request.offset(whence == 4 ? size : offset)  // SEEK_HOLE
    } catch {
      request.fail(error)
    }
  }

  func unlink(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    remove(request, in: parent, name, isFolder: false)
  }

  func removeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    remove(request, in: parent, name, isFolder: true)
  }

  /// Succeeds and hides the entry for a while.
  private func remove(_ request: consuming Request, in parent: NodeID, _ name: FileName, isFolder: Bool) {
    do throws(Errno) {
      guard case .folder(let folder) = try find(parent).what else { throw .notFolder }
      if announcer.current(for: request.caller.thread, in: folder.key, name) == .vanishes {
        // The kernel considers it dead from now on.
        if isFolder { renumber(.ghostFolder) }
        return request.done()
      }
      switch try resolve(name, in: folder) {
      case nil: throw .noEntry
      case .folder(let status):
        guard isFolder else { throw .isFolder }
        if let real = table.find(NodeKey(device: status.device, inode: status.inode)) { renumber(.folder(real.id)) }
      case .document, .note, .page:
        guard !isFolder else { throw .notFolder }
      }
      hidden.hide(HiddenNames.Key(folder: folder.key, name: name))
      request.done()
    } catch {
      request.fail(error)
    }
  }

  func makeFolder(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t) {
    do throws(Errno) {
      guard case .folder(let folder) = try find(parent).what,
        announcer.current(for: request.caller.thread, in: folder.key, name) == .appears
      else { throw .readOnly }
      guard case .folder = try resolve(name, in: folder) else { throw .again }
      let (node, status) = try mirror(name, in: folder)
      answer(request, node, status)
    } catch {
      request.fail(error)
    }
  }

  /// Only the daemon itself, to make known what has appeared; everybody else gets EROFS.
  func makeNode(_ request: consuming Request, in parent: NodeID, _ name: FileName, mode: mode_t, device: UInt64) {
    do throws(Errno) {
      guard case .folder(let folder) = try find(parent).what,
        announcer.current(for: request.caller.thread, in: folder.key, name) == .appears
      else { throw .readOnly }
      guard case .document(let document, let status) = try resolve(name, in: folder) else { throw .again }
      // A document that gets its real name back is told as settled too: its picture may be in question again by now.
      switch projection.picture(volume: volume(of: status), inode: status.inode) {
      case .ready(let picture), .making(previous: let picture?):
        answer(request, picture, of: document, status, in: folder)
      case .making(previous: nil), .unknown: throw .again
      }
    } catch {
      request.fail(error)
    }
  }
}
