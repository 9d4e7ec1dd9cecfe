import Glibc
import Posix
import Testing

@testable import Control

@Suite struct OutgoingTests {
  private static func pair() throws -> (ours: SharedDescriptor, theirs: SharedDescriptor) {
    var ends: [CInt] = [0, 0]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let made = unsafe ends.withUnsafeMutableBufferPointer { unsafe socketpair(AF_UNIX, kind, 0, $0.baseAddress) }
    try #require(made == 0)
    return (SharedDescriptor(Descriptor(owning: ends[0])), SharedDescriptor(Descriptor(owning: ends[1])))
  }

  /// From many threads, to a client that takes its time: each line whole, and each thread's in its order.
  @Test func linesStayWhole() throws {
    let (ours, theirs) = try Self.pair()
    let outgoing = Outgoing(ours)
    let (threads, lines) = (4, 400)
    let isOver = Guarded(false)
    let senders = (0..<threads).map { thread in
      Thread("test-sender") {
        for line in 0..<lines {
          let text = "\(thread) \(line) " + String(repeating: "x", count: line % 500) + "\n"
          _ = outgoing.send(Array(text.utf8))
        }
      }
    }
    // As the server does when the socket can be written to.
    let server = Thread("test-server") {
      while !isOver.withLock({ $0 }) {
        _ = outgoing.sendRest()
        usleep(200)
      }
    }
    var got: [UInt8] = []
    let end = Clock.now() + Clock.seconds(60)
    while got.count(where: { $0 == UInt8(ascii: "\n") }) < threads * lines, Clock.now() < end {
      if let bytes = try UnixSocket.receive(theirs.raw, limit: 4096) { got += bytes } else { usleep(500) }
    }
    for sender in senders { sender.join() }
    isOver.withLock { $0 = true }
    server.join()
    var next = [Int](repeating: 0, count: threads)
    for line in String(decoding: got, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      let (thread, number) = (Int(words[0])!, Int(words[1])!)
      #expect(words.count == 3 && words[2].utf8.count == number % 500 && number == next[thread])
      next[thread] += 1
    }
    #expect(next == [Int](repeating: lines, count: threads))
    #expect(outgoing.unsent == 0 && !outgoing.isGone)
  }

  @Test func aClientThatTakesNothingIsDropped() throws {
    let (ours, theirs) = try Self.pair()
    let outgoing = Outgoing(ours)
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 65536)
    var sent = 0
    while !outgoing.isGone, sent < 100 {
      _ = outgoing.send(line)
      sent += 1
    }
    #expect(outgoing.isGone && sent > Outgoing.mostUnsent / line.count)
    // It gets what was on its way, and then the end.
    var got = 0
    while let bytes = try UnixSocket.receive(theirs.raw, limit: 65536), !bytes.isEmpty { got += bytes.count }
    #expect(got > 0 && got < sent * line.count)
    #expect(try UnixSocket.receive(theirs.raw, limit: 1)?.isEmpty == true)
    #expect(!outgoing.waitForRoom(below: 1, until: .max))
  }
}
