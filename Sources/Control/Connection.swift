import Posix

/// One client as the server's own thread sees it: what came in, what must go out, and how long it has been silent.
final class Connection {
  /// Bytes; a longer request is refused and its client dropped.
  static let longestRequest = 65536

  enum Read {
    case nothing
    case requests([[UInt8]])
    case tooLong
    case gone
  }

  let socket: SharedDescriptor
  let outgoing: Outgoing
  let id: UInt64
  /// Who stood at the other end when it connected.
  let user: UInt32
  private var incoming: [UInt8] = []
  private var lastRead = Clock.now()
  /// Requests that are being handled.
  var inHand = 0
  var isWatching = false
  /// No further request is read; what must go out goes, then it ends.
  var isEnding = false

  init(_ socket: consuming Descriptor, id: UInt64, user: UInt32) {
    self.socket = SharedDescriptor(socket)
    outgoing = Outgoing(self.socket)
    self.id = id
    self.user = user
  }

  /// When it last sent or took something.
  var lastProgress: Clock.Instant { max(lastRead, outgoing.lastProgress) }

  /// One read, so that a client that sends without end cannot hold the thread.
  func read() -> Read {
    let got: [UInt8]?
    do throws(Errno) { got = try UnixSocket.receive(socket.raw, limit: 16384) } catch { return .gone }
    guard let got else { return .nothing }
    if got.isEmpty { return .gone }
    lastRead = Clock.now()
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
}
