public import CLinux
import Glibc

/// Unix stream sockets that have a name in a folder.
///
/// The folder is given by descriptor: a socket's address holds 107 bytes, and a path through `/proc/self/fd` fits whatever the folder
/// is called.
public enum UnixSocket {
  /// Bytes; the longest name a socket can have in its folder.
  public static let longestName = 80

  /// Makes a socket (mode 0600, non-blocking) under a name that must be free.
  public static func listen(in folder: CInt, _ name: FileName, backlog: CInt = 64) throws(Errno) -> Descriptor {
    let socket = try make(flags: CInt(SOCK_NONBLOCK.rawValue))
    let raw = socket.raw
    // bind(2) takes the socket's own mode for the name's: no moment at which others may connect.
    try check { fchmod(raw, 0o600) }
    try unsafe withAddress(in: folder, name) { address, length throws(Errno) in
      _ = try check { unsafe bind(raw, __CONST_SOCKADDR_ARG(__sockaddr__: address), length) }
    }
    try check { Glibc.listen(raw, backlog) }
    return socket
  }

  /// - Returns: a blocking socket whose sends give up after a second.
  public static func connect(in folder: CInt, _ name: FileName) throws(Errno) -> Descriptor {
    let socket = try make(flags: 0)
    let raw = socket.raw
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    try check {
      unsafe setsockopt(raw, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    try unsafe withAddress(in: folder, name) { address, length throws(Errno) in
      _ = try check { unsafe Glibc.connect(raw, __CONST_SOCKADDR_ARG(__sockaddr__: address), length) }
    }
    return socket
  }

  /// - Returns: nil when nobody waits (any more). The new socket is non-blocking.
  public static func accept(_ raw: CInt) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      let flags = CInt(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      return Descriptor(owning: try check { unsafe accept4(raw, __SOCKADDR_ARG(__sockaddr__: nil), nil, flags) })
    } catch {
      switch error.rawValue {
      case EAGAIN, ECONNABORTED, EPROTO, EPERM: return nil
      default: throw error
      }
    }
  }

  /// Who stood at the other end when it connected (or, seen from a client, began to listen).
  public static func peer(_ raw: CInt) throws(Errno) -> (user: uid_t, process: pid_t) {
    var user: uid_t = 0
    var process: pid_t = 0
    try check { unsafe clinux_peer(raw, &user, &process) }
    return (user, process)
  }

  /// - Returns: nil when there is nothing now; empty at the end, also when the other one broke off.
  public static func receive(_ raw: CInt, limit: Int) throws(Errno) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: limit)
    do throws(Errno) {
      let got = try unsafe buffer.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try check { unsafe recv(raw, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT)) }
      }
      return Array(buffer[..<got])
    } catch {
      if error == .again { return nil }
      if error.rawValue == ECONNRESET { return [] }
      throw error
    }
  }

  /// - Returns: how many of the bytes were taken; 0 when there is no room now.
  public static func send(_ raw: CInt, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
    do throws(Errno) {
      return try unsafe bytes.withUnsafeBufferPointer { bytes throws(Errno) in
        try check { unsafe Glibc.send(raw, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
      }
    } catch {
      if error == .again { return 0 }
      throw error
    }
  }

  /// The other one sees the end at once, also while others of ours hold the socket.
  public static func shutDown(_ raw: CInt) {
    // It can only fail where there is no other one any more.
    _ = shutdown(raw, CInt(SHUT_RDWR))
  }

  /// One datagram to a socket known by its path, or by an abstract name when that starts with "@" (systemd's way).
  public static func tell(_ address: String, _ text: String) throws(Errno) {
    let socket = Descriptor(
      owning: try check { Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0) })
    let raw = socket.raw
    var path = Array(address.utf8)
    if path.first == UInt8(ascii: "@") { path[0] = 0 }
    let bytes = Array(text.utf8)
    try unsafe withAddress(path) { address, length throws(Errno) in
      _ = try unsafe bytes.withUnsafeBufferPointer { bytes throws(Errno) in
        try check {
          unsafe sendto(
            raw, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL), __CONST_SOCKADDR_ARG(__sockaddr__: address), length
          )
        }
      }
    }
  }

  private static func make(flags: CInt) throws(Errno) -> Descriptor {
    Descriptor(
      owning: try check { Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | flags, 0) })
  }

  private static func withAddress<Result>(
    in folder: CInt, _ name: FileName, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    guard name.count <= longestName else { throw .nameTooLong }
    return try unsafe withAddress(Array("/proc/self/fd/\(folder)/".utf8) + name.bytes, unsafe body)
  }

  private static func withAddress<Result>(
    _ path: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .nameTooLong }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (path.first == 0 ? 0 : 1))
    return try unsafe withUnsafePointer(to: &address) { address throws(Errno) in
      try unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(Errno) in
        try unsafe body(address, length)
      }
    }
  }
}
