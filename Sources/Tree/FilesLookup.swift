import CLinux
import Fuse
import Posix

extension Files {
  func lookup(_ request: consuming Request, in parent: NodeID, _ name: FileName) {
    do throws(Errno) {
      let (node, status) = try hold(in: try table.find(parent), name)
      if !request.entry(entry(node, status)) { release(node.id, count: 1) }
    } catch {
      if error == .noEntry { request.absent(lifetime: settings.lifetimeOfAbsence) } else { request.fail(error) }
    }
  }

  func forget(_ node: NodeID, count: UInt64) { release(node, count: count) }

  func attributes(_ request: consuming Request, of node: NodeID, handle: UInt64?) {
    do throws(Errno) {
      let node = try table.find(node)
      let status = try node.status()
      request.attributes(shown(status), lifetime: lifetime(of: node, status))
    } catch {
      request.fail(error)
    }
  }

  func readLink(_ request: consuming Request, _ node: NodeID) {
    do throws(Errno) {
      let node = try table.find(node)
      var room = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
      let held = try node.open()
      let raw = held.raw
      let count = try unsafe room.withUnsafeMutableBufferPointer { room throws(Errno) in
        try unsafe room.withMemoryRebound(to: CChar.self) { room throws(Errno) in
          try check { unsafe readlinkat(raw, "", room.baseAddress!, room.count - 1) }
        }
      }
      request.link(FileName(room[..<count]))
    } catch {
      request.fail(error)
    }
  }

  func fileSystem(_ request: consuming Request, _ node: NodeID) {
    do throws(Errno) {
      // Asked of us by ourselves too, to be sure that all that was closed before has been counted.
      streams.lookAgain()
      let node = try table.find(node)
      var status = statvfs()
      let held = try node.open()
      let raw = held.raw
      try check { unsafe fstatvfs(raw, &status) }
      request.fileSystem(status)
    } catch {
      request.fail(error)
    }
  }
}
