import Posix

/// One client as the server's own thread sees it: what came in, what must go out, and how long it has been silent.
final class Connection {
  /// Bytes; a longer request is refused and its client dropped.
  static let longestRequest = 65536
  /// Bytes not yet taken by the client; one that lets more gather is dropped. Whoever sends events stops long before.
  static let mostUnsent = 1 << 20

  enum Read {
    case nothing
    case requests([[UInt8]])
    case tooLong
    case gone
  }

  let socket: Descriptor
  let id: UInt64
  /// Who stood at the other end when it connected.
  let user: UInt32
  private var incoming: [UInt8] = []
  private var outgoing: [UInt8] = []
  private var sent = 0
  private(set) var lastProgress = Clock.now()
  /// Requests that are being handled.
  var inHand = 0
  /// Told to the one who sends events.
  var subscriber: Subscriber?
  /// No further request is read; what must go out goes, then it ends.
  var isEnding = false
  /// Broken or dropped; taken out at the next look.
  var isGone = false

  init(_ socket: consuming Descriptor, id: UInt64, user: UInt32) {
    self.socket = socket
    self.id = id
    self.user = user
  }

  var unsent: Int { outgoing.count - sent }

  /// One read, so that a client that sends without end cannot hold the thread.
  func read() -> Read {
    let got: [UInt8]?
    do throws(Errno) { got = try UnixSocket.receive(socket.raw, limit: 16384) } catch { return .gone }
    guard let got else { return .nothing }
    if got.isEmpty { return .gone }
    lastProgress = Clock.now()
    var requests: [[UInt8]] = []
    for byte in got {
      if byte != UInt8(ascii: "\n") {
        guard incoming.count < Self.longestRequest else { return .tooLong }
        incoming.append(byte)
      } else if !incoming.isEmpty {
        requests.append(incoming)
        incoming.removeAll(keepingCapacity: true)
      }
    }
    return requests.isEmpty ? .nothing : .requests(requests)
  }

  /// - Returns: false when too much stands unsent already.
  func append(_ line: [UInt8]) -> Bool {
    guard unsent + line.count <= Self.mostUnsent else { return false }
    if unsent == 0 { lastProgress = Clock.now() }
    outgoing.append(contentsOf: line)
    return true
  }

  /// - Returns: false when the client has gone.
  func write() -> Bool {
    let before = unsent
    defer { subscriber?.took(before - unsent) }
    while sent < outgoing.count {
      let taken: Int
      do throws(Errno) { taken = try UnixSocket.send(socket.raw, outgoing[sent...]) } catch { return false }
      if taken == 0 { break }
      sent += taken
      lastProgress = Clock.now()
    }
    if sent == outgoing.count {
      outgoing.removeAll(keepingCapacity: true)
      sent = 0
    } else if sent > 65536 {
      outgoing.removeFirst(sent)
      sent = 0
    }
    return true
  }
}
