import Posix

/// Paths as the user types them, made absolute without asking a mount that may be dead.
enum Paths {
  /// Below the current folder, without empty components and single dots; links and `..` stay.
  static func absolute(_ path: FileName) throws(Failure) -> FileName {
    if path.isEmpty { throw Failure(.usage, "An empty path names nothing.") }
    var whole = Array(path.bytes)
    if !path.isAbsolute {
      let folder = try explain(.noSuchThing, "The current folder is gone") { () throws(Errno) in
        try System.currentFolder()
      }
      whole = Array(folder.bytes) + [UInt8(ascii: "/")] + whole
    }
    let parts = whole.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    return FileName([UInt8(ascii: "/")] + Array(parts.joined(separator: [UInt8(ascii: "/")])))
  }

  /// Absolute, without links; what does not exist, or is a dead mount, is named by its real parent folder.
  static func real(_ path: FileName, table: MountTable) throws(Failure) -> FileName {
    let absolute = try absolute(path)
    if table.top(at: absolute)?.isOurs == true { return absolute }
    try table.share(around: absolute)?.mustNotBeSilent()
    do throws(Errno) {
      return try Files.resolve(absolute)
    } catch {
      guard error == .noEntry || error == .notConnected, let parent = absolute.parent, parent != absolute else {
        throw Failure(.noSuchThing, "\(absolute) cannot be reached", error)
      }
      return try real(parent, table: table).appending(absolute.lastComponent)
    }
  }
}
