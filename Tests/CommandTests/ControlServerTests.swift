import Control
import Glibc
import Posix
import Testing

/// A daemon of a few lines.
private final class Daemon: Handler {
  let asked = Guarded<[String]>([])
  let subscribers = Guarded<[Subscriber]>([])
  let name: FileName

  init(name: FileName = FileName("/home/me/share")) { self.name = name }

  private func note(_ what: String) { asked.withLock { $0.append(what) } }

  func status() -> ShareStatus {
    note("status")
    return ShareStatus(
      pid: 42, mountpoint: name, source: name, state: FileName("/state"), passthrough: false,
      passthroughReason: "an ordinary user's mount", pending: 3, running: 2, counts: .init(ready: 5, invalid: 1),
      scan: .running, workers: 2, lastErrors: [.init(time: "2026-01-31 12:00:00", text: "The disk is full.")],
      version: "0.1.0")
  }
  func document(_ path: SharePath) -> DocumentStatus? {
    note("document \(path)")
    if path == SharePath(Array("none".utf8)) { return nil }
    return DocumentStatus(path: FileName(path.bytes), state: .writing, writers: 1, asset: 7)
  }
  func rescan(repairs: Bool) { note(repairs ? "repair" : "rescan") }
  func stop() { note("stop") }
  func bookmark(_ request: BookmarkRequest, user: UInt32) throws(Refusal) -> BookmarkAnswer {
    note("\(request) of \(user)")
    if case .resolve("none") = request { throw Refusal(.unknownBookmark, "There is none.") }
    var answer = BookmarkAnswer()
    answer.token = "token"
    return answer
  }
  func watch(_ subscriber: Subscriber, since: UInt64?) {
    do { try subscriber.begin(Watching(next: (since ?? 0) &+ 1)) } catch { Issue.record(error) }
    subscribers.withLock { $0.append(subscriber) }
  }
}

/// A server in a folder of its own, stopped at the end.
private final class Running {
  let folder: TemporaryFolder
  let daemon: Daemon
  let server: Server
  let socket: FileName

  init(_ daemon: Daemon = Daemon()) throws {
    folder = try TemporaryFolder()
    self.daemon = daemon
    socket = folder.path.appending("run/share.sock")
    server = try Server(socket: socket, handler: daemon) { Issue.record("\($0)") }
  }

  deinit { server.stop() }

  /// A connection without manners.
  func raw() throws -> Descriptor {
    let run = try Descriptor.open(folder.path.appending("run"), O_PATH)
    return try UnixSocket.connect(in: run.raw, socket.lastComponent)
  }

  func status() throws -> ShareStatus {
    var client = try Client.connect(to: socket)
    return try client.ask(.status, for: ShareStatus.self, within: 10)
  }
}

/// All that comes until the other end goes, or a time-out.
private func everything(_ socket: borrowing Descriptor) throws -> String {
  var bytes: [UInt8] = []
  while true {
    var awaited = [Awaited(socket.raw)]
    try #require(try Awaited.wait(&awaited, until: Clock.now() + Clock.seconds(20)))
    guard let got = try UnixSocket.receive(socket.raw, limit: 65536) else { continue }
    if got.isEmpty { return String(decoding: bytes, as: UTF8.self) }
    bytes += got
  }
}

@Suite struct ControlServerTests {
  @Test func answersWhatIsAsked() throws {
    let running = try Running()
    var client = try Client.connect(to: running.socket)
    #expect(client.daemon == ProcessTable.own)
    #expect(try client.ask(.status, for: ShareStatus.self) == running.daemon.status())
    let path = try #require(SharePath([0xff, UInt8(ascii: "a")]))
    #expect(try client.ask(.document(path), for: DocumentStatus.self).path == FileName(path.bytes))
    #expect(try client.ask(.rescan(repairs: false), for: Done.self).done)
    #expect(try client.ask(.stop, for: Done.self).done)
    let none = #expect(throws: Client.Failure.self) {
      try client.ask(.document(SharePath(Array("none".utf8))!), for: DocumentStatus.self)
    }
    guard case .refused(let refusal)? = none else {
      Issue.record("\(String(describing: none))")
      return
    }
    #expect(refusal.code == .noSuchDocument)
  }

  @Test func theWireHasItsPromisedNames() throws {
    let running = try Running(Daemon(name: FileName([UInt8(ascii: "/"), 0xff])))
    let socket = try running.raw()
    try socket.write(Array("{\"op\":\"status\"}\n".utf8))
    try check { shutdown(socket.raw, CInt(SHUT_WR)) }
    #expect(
      try everything(socket) == #"""
        {"counts":{"incomplete":0,"invalid":1,"ready":5,"unsupported":0},"kinds":{},"last_errors":[{"text":"The disk is full.","time":"2026-01-31 12:00:00"}],"library":{"available":true,"permission":"read_write","thumbnails":true},"mountpoint":"/\\xff","mountpoint_bytes":"L/8=","passthrough":false,"passthrough_reason":"an ordinary user's mount","pending":3,"pid":42,"protocol":1,"running":2,"scan":"running","source":"/\\xff","source_bytes":"L/8=","state":"/state","version":"0.1.0","workers":2}

        """#)
  }

  @Test func theSocketIsItsUsersAlone() throws {
    let running = try Running()
    let folder = try Descriptor.open(running.folder.path.appending("run"), O_PATH)
    #expect(try folder.status().permissions == 0o700)
    #expect(try FileStatus.of(running.socket.lastComponent, in: folder.raw).permissions == 0o600)
  }

  @Test func aDeadSocketIsReplacedAndALiveOneIsNot() throws {
    let running = try Running()
    let second = #expect(throws: Errno.self) { _ = try Server(socket: running.socket, handler: Daemon()) { _ in } }
    #expect(second == Errno(EADDRINUSE))
    #expect(try running.status().pid == 42)
    running.server.stop()
    #expect((try? Files.names(in: running.folder.path.appending("run"))) == [])
    // Left behind as by kill -9.
    let folder = try Descriptor.open(running.folder.path.appending("run"), O_PATH)
    _ = try UnixSocket.listen(in: folder.raw, running.socket.lastComponent)
    let third = try Server(socket: running.socket, handler: Daemon()) { _ in }
    #expect(try running.status().pid == 42)
    third.stop()
  }

  @Test(arguments: [
    "nonsense\n", "{}\n", "[]\n", "null\n", "{\"op\":1}\n", "{\"op\":\"frob\"}\n", "{\"op\":\"document\"}\n",
    "{\"op\":\"document\",\"path\":\"../etc\"}\n", "{\"op\":\"document\",\"path\":\"/a\"}\n",
    "{\"op\":\"document\",\"path\":\"a\\u0000b\"}\n", "{\"op\":\"document\",\"path\":\"a\",\"path_bytes\":\"%\"}\n",
    "\u{0}\n",
  ])
  func whatIsNoRequestIsRefused(line: String) throws {
    let running = try Running()
    let socket = try running.raw()
    try socket.write(Array((line + "{\"op\":\"rescan\"}\n").utf8))
    try check { shutdown(socket.raw, CInt(SHUT_WR)) }
    let answers = try everything(socket).split(separator: "\n")
    #expect(answers.count == 2 && answers[0].contains("\"code\":\"bad_request\"") && answers[1] == "{\"done\":true}")
  }

  @Test func aRequestOfManyLevelsIsRefused() throws {
    try whatIsNoRequestIsRefused(line: String(repeating: "[", count: 60000) + "\n")
  }

  @Test func aRequestThatIsTooLongEndsTheConversation() throws {
    let running = try Running()
    let socket = try running.raw()
    let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 16384)
    // It may be refused before all is sent: then the pipe is broken, which is as good.
    for _ in 0..<8 { _ = try? UnixSocket.send(socket.raw, chunk[...]) }
    let answer = try everything(socket)
    #expect(answer.contains("too_long") || answer.isEmpty)
    #expect(try running.status().pid == 42)
  }

  @Test func aHundredSilentClientsDoNotKeepAnybodyOut() throws {
    let running = try Running()
    var silent: [SharedDescriptor] = []
    for number in 0..<100 {
      let socket = try running.raw()
      // Half of them begin a request that they never end.
      if number % 2 == 0 { try socket.write(Array("{\"op\":".utf8)) }
      silent.append(SharedDescriptor(socket))
    }
    for _ in 0..<10 { #expect(try running.status().pid == 42) }
    _ = consume silent
    #expect(try running.status().pid == 42)
  }

  @Test func oneThatAsksAndNeverReadsHurtsNobody() throws {
    let running = try Running()
    let socket = try running.raw()
    let requests = Array(String(repeating: "{\"op\":\"status\"}\n", count: 1000).utf8)
    for _ in 0..<50 {
      // Once the server has stopped reading, there is no room.
      var awaited = [Awaited(socket.raw, read: false, write: true)]
      guard try Awaited.wait(&awaited, until: Clock.now() + Clock.seconds(0.2)) else { break }
      guard let sent = try? UnixSocket.send(socket.raw, requests[...]), sent > 0 else { break }
    }
    #expect(try running.status().pid == 42)
  }

  @Test func bookmarksAreAskedForInTheNameOfWhoConnected() throws {
    let running = try Running()
    var client = try Client.connect(to: running.socket)
    let path = try #require(SharePath([0xff, UInt8(ascii: "a")]))
    let requests: [BookmarkRequest] = [
      .create(path, isReadOnly: true), .resolve("t"), .list, .remove("t"), .start("t", seconds: 1.5),
      .start("t", seconds: nil), .stop("a"),
    ]
    for request in requests {
      #expect(try client.ask(.bookmark(request), for: BookmarkAnswer.self, within: 10).token == "token")
    }
    #expect(running.daemon.asked.withLock { $0 } == requests.map { "\($0) of \(System.user)" })
    let refused = #expect(throws: Client.Failure.self) {
      try client.ask(.bookmark(.resolve("none")), for: BookmarkAnswer.self, within: 10)
    }
    #expect(refused == .refused(Refusal(.unknownBookmark, "There is none.")))
  }

  /// Bytes of every kind, whole requests with some of them changed, and broken ones: each gets an answer or the door, and the next client is served.
  @Test(arguments: 0..<40 as Range<UInt64>) func noiseHurtsNobody(seed: UInt64) throws {
    let running = try Running()
    var generator = Noise(state: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1)
    let seeds = [
      #"{"op":"status"}"#, #"{"op":"document","path":"a/b.mp4"}"#, #"{"op":"watch","since":18446744073709551615}"#,
      #"{"op":"bookmark_create","path":"x","path_bytes":"/wo=","read_only":true}"#,
      #"{"op":"access_start","token":"0123456789abcdef0123456789abcdef","seconds":1e9}"#,
      #"{"op":"rescan","repair":1}"#,
    ]
    let socket = try running.raw()
    for _ in 0..<60 {
      var line = Array(seeds[Int(generator.next() % UInt64(seeds.count))].utf8)
      for _ in 0..<(generator.next() % 6) {
        let place = Int(generator.next() % UInt64(line.count))
        switch generator.next() % 3 {
        case 0: line[place] = UInt8(truncatingIfNeeded: generator.next())
        case 1: line.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
        default: if line.count > 1 { line.remove(at: place) }
        }
      }
      do throws(Errno) { try socket.write(line + [UInt8(ascii: "\n")]) } catch { break }
    }
    // The ends of both: whatever it made of that, it serves the next one.
    _ = try? check { shutdown(socket.raw, CInt(SHUT_WR)) }
    #expect(try running.status().pid == 42)
  }

  private struct Noise: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  @Test func thousandsOfRequestsInOneGoAreAllAnswered() throws {
    let running = try Running()
    let socket = try running.raw()
    let count = 500
    try socket.write(Array(String(repeating: "{\"op\":\"rescan\"}\n", count: count).utf8))
    try check { shutdown(socket.raw, CInt(SHUT_WR)) }
    #expect(try everything(socket).split(separator: "\n").count == count)
  }

  @Test func watchersGetEveryEventUntilTheyGo() throws {
    let running = try Running()
    var client = try Client.connect(to: running.socket)
    #expect(try client.ask(.watch(since: 41), for: Watching.self).next == 42)
    let deadline = Clock.now() + Clock.seconds(20)
    while running.daemon.subscribers.withLock({ $0.isEmpty }) { try #require(Clock.now() < deadline) }
    let subscriber = running.daemon.subscribers.withLock { $0[0] }
    for number in 0..<1000 { subscriber.send(Array("{\"number\":\(number)}\n".utf8)) }
    for number in 0..<1000 {
      let line = try client.nextLine(until: deadline)
      #expect(line.map { String(decoding: $0, as: UTF8.self) } == "{\"number\":\(number)}")
    }
    _ = consume client
    while !subscriber.isGone {
      try #require(Clock.now() < deadline)
      subscriber.send(Array("{}\n".utf8))
    }
  }

  /// It keeps its place and costs no more than its share of memory: whoever has events for it waits, nobody else does.
  @Test func aWatcherThatDoesNotReadHoldsUpItsOwnEventsOnly() throws {
    let running = try Running()
    let socket = try running.raw()
    try socket.write(Array("{\"op\":\"watch\"}\n".utf8))
    let deadline = Clock.now() + Clock.seconds(20)
    while running.daemon.subscribers.withLock({ $0.isEmpty }) { try #require(Clock.now() < deadline) }
    let subscriber = running.daemon.subscribers.withLock { $0[0] }
    let long = Array("{\"text\":\"\(String(repeating: "x", count: 4000))\"}\n".utf8)
    var sent = 0
    while subscriber.waitForRoom(until: Clock.now() + Clock.seconds(0.2)) {
      try #require(Clock.now() < deadline)
      subscriber.send(long)
      sent += long.count
    }
    #expect(!subscriber.isGone && sent < 4 << 20)
    #expect(try running.status().pid == 42)
    // It reads on: nothing is lost, and there is room again.
    var taken = 0
    while taken < sent {
      var awaited = [Awaited(socket.raw)]
      try #require(try Awaited.wait(&awaited, until: deadline))
      taken += try UnixSocket.receive(socket.raw, limit: 1 << 20)?.count ?? 0
    }
    #expect(subscriber.waitForRoom(until: deadline))
  }

  @Test(.enabled(if: System.isRoot && Files.mayAccess(FileName("/usr/bin/python3"), X_OK)))
  func anotherUserIsRefusedEvenWhereTheFolderWouldLetItIn() throws {
    let running = try Running()
    try Files.setPermissions(running.folder.path.appending("run"), 0o755)
    try Files.setPermissions(running.socket, 0o666)
    let script = """
      import socket
      s = socket.socket(socket.AF_UNIX)
      s.connect("\(running.socket)")
      s.sendall(b'{"op":"stop"}\\n')
      print(s.makefile().read(), end="")
      """
    let output = running.folder.path.appending("out")
    let to = try Descriptor.open(output, O_WRONLY | O_CREAT, mode: 0o600)
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script]
    let child = try Child.spawn(FileName("/usr/bin/setpriv"), words.map { FileName($0) }, descriptors: [1: to.raw])
    // Refused at the door: the request may meet a closed one.
    _ = try child.wait()
    let answer = String(decoding: try Files.read(output, limit: 65536), as: UTF8.self)
    #expect(answer.contains("not_allowed") || answer.isEmpty)
    #expect(running.daemon.asked.withLock { $0 } == [])
  }
}
