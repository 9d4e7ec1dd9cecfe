import CLinux
import Fuse
import Glibc
import Posix

extension Files {
  /// chmod, chown, utimens, truncate.
  /// - Parameter lifetime: seconds for which the kernel may believe the answer; nil for as long as usual.
  func change(
    _ request: consuming Request, _ node: NodeID, _ change: AttributeChange, handle: UInt64?, lifetime: Double? = nil
  ) {
    do throws(Errno) {
      let node = try table.find(node)
      let caller = request.caller
      let status: FileStatus
      if let size = change.size {
        status = try streams.changingContent(node) { () throws(Errno) in
          try Credentials.changing(as: caller) { () throws(Errno) in try cut(node, to: size, handle: handle) }
          // The kernel asks for these together with a cut; they are part of it.
          try apply(change, to: node, as: caller)
        }
      } else if !change.isEmpty {
        let after = try streams.changingMetadata(node, setsTimes: change.modified != nil) { () throws(Errno) in
          try apply(change, to: node, as: caller)
        }
        status = if let after { after } else { try node.status() }
      } else {
        status = try node.status()
      }
      request.attributes(shown(status), lifetime: lifetime ?? self.lifetime(of: node, status))
    } catch {
      request.fail(error)
    }
  }

  private func cut(_ node: Node, to size: Int64, handle: UInt64?) throws(Errno) {
    if let handle, OpenFile.at(handle).isWriter {
      let file = try OpenFile.at(handle).file()
      try check { ftruncate(file.raw, off_t(size)) }
    } else {
      let held = try node.open()
      try unsafe FileName.ofDescriptor(held.raw).withCString { path throws(Errno) in
        _ = try check { unsafe truncate(path, off_t(size)) }
      }
    }
  }

  private func apply(_ change: AttributeChange, to node: Node, as caller: Caller) throws(Errno) {
    let held = try node.open()
    let raw = held.raw
    if change.user != nil || change.group != nil {
      try Credentials.changing(as: caller) { () throws(Errno) in
        // -1 is "as it is".
        _ = try check { unsafe fchownat(raw, "", change.user ?? .max, change.group ?? .max, AT_EMPTY_PATH) }
      }
    }
    if let mode = change.mode {
      guard node.kind != .link else { throw .notSupported }
      let set = { () throws(Errno) in
        try unsafe FileName.ofDescriptor(raw).withCString { path throws(Errno) in
          _ = try check { unsafe chmod(path, mode) }
        }
      }
      if mode & S_ISGID != 0 { try Credentials.keepingSetID(set) } else { try set() }
    }
    if change.accessed != nil || change.modified != nil {
      var times = (time(change.accessed), time(change.modified))
      try unsafe withUnsafePointer(to: &times) { times throws(Errno) in
        try unsafe times.withMemoryRebound(to: timespec.self, capacity: 2) { times throws(Errno) in
          _ = try check { unsafe utimensat(raw, "", times, AT_EMPTY_PATH) }
        }
      }
    }
  }

  /// `UTIME_NOW` and `UTIME_OMIT`, macros in C.
  private func time(_ change: AttributeChange.TimeChange?) -> timespec {
    switch change {
    case .now: timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)
    case .to(let seconds, let nanoseconds): timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    case nil: timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
    }
  }

  private static let capabilities = FileName("security.capability")

  func attribute(_ request: consuming Request, of node: NodeID, _ name: FileName, size: Int) {
    do throws(Errno) {
      let node = try table.find(node)
      // The kernel asks so before the first write to every file. Of one that was just made the answer is known without a look.
      if name == Self.capabilities, node.peek({ $0.stream.hasNoCapabilities }) == true { throw .noData }
      let held = try node.open()
      let raw = held.raw
      let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
      defer { unsafe room.deallocate() }
      let count = try unsafe Attributes.get(raw, name, into: room)
      if size == 0 {
        request.attributeSize(count)
      } else {
        unsafe request.bytes(UnsafeRawBufferPointer(rebasing: room[..<count]))
      }
    } catch {
      request.fail(error)
    }
  }

  func attributeNames(_ request: consuming Request, of node: NodeID, size: Int) {
    do throws(Errno) {
      let held = try table.find(node).open()
      let raw = held.raw
      let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
      defer { unsafe room.deallocate() }
      let count = try unsafe Attributes.list(raw, into: room)
      if size == 0 {
        request.attributeSize(count)
      } else {
        unsafe request.bytes(UnsafeRawBufferPointer(rebasing: room[..<count]))
      }
    } catch {
      request.fail(error)
    }
  }

  func setAttribute(
    _ request: consuming Request, of node: NodeID, _ name: FileName, _ value: UnsafeRawBufferPointer, flags: CInt
  ) {
    do throws(Errno) {
      let node = try table.find(node)
      if name == Self.capabilities { node.withStream { $0.hasNoCapabilities = false } }
      let held = try node.open()
      let caller = request.caller
      try streams.changingMetadata(node) { () throws(Errno) in
        try Credentials.changing(as: caller) { () throws(Errno) in
          try unsafe Attributes.set(held.raw, name, value, flags: flags)
        }
      }
      request.done()
    } catch {
      request.fail(error)
    }
  }

  func removeAttribute(_ request: consuming Request, of node: NodeID, _ name: FileName) {
    do throws(Errno) {
      let node = try table.find(node)
      let held = try node.open()
      try streams.changingMetadata(node) { () throws(Errno) in try Attributes.remove(held.raw, name) }
      request.done()
    } catch {
      request.fail(error)
    }
  }

  func control(
    _ request: consuming Request, _ node: NodeID, handle: UInt64, command: UInt32, _ bytes: UnsafeRawBufferPointer,
    room: Int
  ) {
    // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR: what lsattr(1), chattr(1) and project quotas ask.
    let known: [UInt32: (size: Int, sets: Bool)] = [
      0x8008_6601: (4, false), 0x4008_6602: (4, true), 0x801c_581f: (28, false), 0x401c_5820: (28, true),
    ]
    do throws(Errno) {
      guard let (size, sets) = known[command] else { throw .noTerminal }
      let node = try table.find(node)
      guard node.kind == .regular || node.kind == .folder else { throw .noTerminal }
      let held = try node.open()
      let file = try Descriptor.reopen(held.raw, O_RDONLY | O_NONBLOCK)
      var words = [UInt8](repeating: 0, count: 32)
      let given = unsafe Array(bytes.prefix(size))
      words.replaceSubrange(0..<given.count, with: given)
      var result: CInt = 0
      let act = { () throws(Errno) in result = try file.control(command, &words) }
      if sets { try streams.changingMetadata(node, act) } else { try act() }
      // The kernel does not know that this changes the change time.
      if sets { session.withLock { $0 }?.forgetAttributes(of: node.id) }
      request.control(result, sets ? [] : Array(words.prefix(min(size, max(room, 4)))))
    } catch {
      request.fail(error)
    }
  }
}
