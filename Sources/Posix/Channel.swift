import CLinux
import Glibc

/// One end of a pair of sockets that keeps messages apart and can carry descriptors.
public struct Channel: ~Copyable, Sendable {
  public let descriptor: Descriptor

  public init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// - Parameter body: owns both ends.
  public static func pair<Result: ~Copyable>(
    _ body: (consuming Channel, consuming Channel) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    var ends: [CInt] = [-1, -1]
    try check { unsafe socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) }
    return try body(Channel(Descriptor(owning: ends[0])), Channel(Descriptor(owning: ends[1])))
  }

  /// Closes this end now; the other end then reads the end.
  public consuming func close() {}

  /// Sends one message; the descriptors (at most 4) stay the caller's.
  public func send(_ message: [UInt8], descriptors: [CInt] = []) throws(Errno) {
    let raw = descriptor.raw
    try unsafe message.withUnsafeBufferPointer { bytes throws(Errno) in
      _ = try unsafe descriptors.withUnsafeBufferPointer { descriptors throws(Errno) in
        try check {
          unsafe clinux_send(raw, bytes.baseAddress, bytes.count, descriptors.baseAddress, descriptors.count)
        }
      }
    }
  }

  /// Receives one message of at most `limit` bytes and at most 4 descriptors, which are the caller's to own.
  /// - Returns: nil when the other end has gone.
  public func receive(limit: Int) throws(Errno) -> (message: [UInt8], descriptors: [CInt])? {
    let raw = descriptor.raw
    var message = [UInt8](repeating: 0, count: limit)
    var descriptors = [CInt](repeating: -1, count: 4)
    var count = 0
    let got: Int
    do throws(Errno) {
      got = try unsafe message.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try unsafe descriptors.withUnsafeMutableBufferPointer { descriptors throws(Errno) in
          try check {
            count = descriptors.count
            return unsafe clinux_receive(raw, bytes.baseAddress, bytes.count, descriptors.baseAddress, &count)
          }
        }
      }
    } catch {
      if error.rawValue == ECONNRESET { return nil }
      throw error
    }
    if got == 0 && count == 0 { return nil }
    return (Array(message[..<got]), Array(descriptors[..<count]))
  }

  /// Waits until a message, or the end, can be received.
  /// - Returns: false when the time came first.
  public func waitReadable(until deadline: Clock.Instant) throws(Errno) -> Bool {
    var poll = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
    while true {
      let left = max(0, deadline - Clock.now())
      let ready = unsafe Glibc.poll(&poll, 1, CInt(clamping: (left + 999_999) / 1_000_000))
      if ready > 0 { return true }
      if ready == 0 { return false }
      if Errno.last != .interrupted { throw Errno.last }
    }
  }
}
