import Glibc
public import Posix

/// The daemon's end of the control socket: JSON lines, see `Request`.
///
/// Two threads of its own: one moves bytes and never waits for a client, the other calls the handler. A client that is slow,
/// hostile or too much of it is dropped; nothing that a client does reaches the filesystem's threads.
public final class Server: Sendable {
  /// Clients at once; one more takes the place of the longest silent one that does not watch.
  public static let mostClients = 64
  /// Seconds that a client may take for a request, or leave its answer untaken.
  public static let patience = 10.0

  private enum Task {
    case request(client: UInt64, outgoing: Outgoing, user: UInt32, line: [UInt8])
    case end
  }

  private let path: FileName
  private let listener: SharedDescriptor
  private let handler: any Handler
  private let complain: @Sendable (String) -> Void
  private let tasks = Monitor<[Task]>([])
  private let outbox: Outbox
  private let threads = Monitor<(all: [Thread], isStopping: Bool)>((all: [], isStopping: false))

  /// Begins to listen. The socket's folder is made (0700) when missing, a dead socket in its place is removed.
  /// - Parameters:
  ///   - complain: told what hinders the server itself, a sentence each.
  /// - Throws: EADDRINUSE when another daemon listens there, EPERM when the folder is another user's.
  public init(
    socket path: FileName, handler: any Handler, complain: @escaping @Sendable (String) -> Void
  ) throws(Errno) {
    guard let parent = path.parent else { throw .invalid }
    try Files.makeFolders(parent, mode: 0o700)
    let folder = try Descriptor.open(parent, O_PATH | O_DIRECTORY)
    guard try folder.status().user == System.user else { throw .notPermitted }
    let name = path.lastComponent
    do throws(Errno) {
      _ = try UnixSocket.connect(in: folder.raw, name)
      throw Errno(EADDRINUSE)
    } catch {
      switch error.rawValue {
      case ENOENT: break
      case ECONNREFUSED: try Files.remove(path)
      default: throw error
      }
    }
    listener = SharedDescriptor(try UnixSocket.listen(in: folder.raw, name))
    outbox = try Outbox()
    self.path = path
    self.handler = handler
    self.complain = complain
    let all = [
      Thread("control") { [self] in
        Thread.beQuick(.now)
        moveBytes()
      },
      Thread("control-handler") { [self] in handleTasks() },
    ]
    threads.withLock { $0.all = all }
  }

  /// Sends what was answered, drops every client, removes the socket; returns when nothing of it runs. A second call does nothing.
  public func stop() {
    let all = threads.withLock { threads in
      threads.isStopping = true
      defer { threads.all = [] }
      return threads.all
    }
    if all.isEmpty { return }
    tasks.change { $0.append(.end) }
    outbox.wakeup.wake()
    for thread in all { thread.join() }
    // Gone already when somebody cleared the runtime folder: nothing is left to do then.
    do throws(Errno) { try Files.remove(path) } catch {
      if error != .noEntry { complain("The control socket stays behind: \(error).") }
    }
  }

  // MARK: - The thread that moves bytes

  private func moveBytes() {
    var clients: [Connection] = []
    var lastID: UInt64 = 0
    var acceptsAgain: Clock.Instant = 0
    while true {
      let isStopping = threads.withLock { $0.isStopping }
      deliver(to: clients)
      if isStopping { break }
      let now = Clock.now()
      clients.removeAll { client in
        let isDone = client.isEnding && client.inHand == 0 && client.outgoing.unsent == 0
        let isSlow =
          now - client.lastProgress > Clock.seconds(Self.patience) && client.inHand == 0 && !client.isWatching
        if isDone || isSlow { client.outgoing.end() }
        return client.outgoing.isGone
      }
      var awaited = [Awaited(outbox.wakeup.raw), Awaited(listener.raw, read: now >= acceptsAgain)]
      // No further request of a client is read before the last ones are answered: that bounds what it can pile up.
      awaited += clients.map {
        Awaited($0.socket.raw, read: !$0.isEnding && $0.inHand == 0, write: $0.outgoing.unsent > 0)
      }
      do throws(Errno) {
        try Awaited.wait(&awaited, until: clients.isEmpty && now >= acceptsAgain ? nil : now + Clock.seconds(0.5))
      } catch {
        // Out of memory: nothing better than to try again a little later.
        acceptsAgain = now + Clock.seconds(0.5)
        continue
      }
      if awaited[0].canRead { outbox.wakeup.clear() }
      for (client, found) in zip(clients, awaited[2...]) { serve(client, found) }
      clients.removeAll { $0.outgoing.isGone }
      if awaited[1].canRead, awaited[1].wantsRead { accept(into: &clients, &lastID, &acceptsAgain) }
    }
    for client in clients { client.outgoing.end() }
  }

  private func accept(into clients: inout [Connection], _ lastID: inout UInt64, _ acceptsAgain: inout Clock.Instant) {
    do throws(Errno) {
      guard let socket = try UnixSocket.accept(listener.raw) else { return }
      let peer = try UnixSocket.peer(socket.raw)
      if clients.count >= Self.mostClients {
        // A watcher that does not read costs little, and has its place until somebody needs it.
        let now = Clock.now()
        let silent = clients.indices.filter { index in
          let client = clients[index]
          return !client.isWatching
            || (client.outgoing.unsent > 0 && now - client.lastProgress > Clock.seconds(Self.patience))
        }
        guard let longest = silent.min(by: { clients[$0].lastProgress < clients[$1].lastProgress }) else { return }
        clients.remove(at: longest).outgoing.end()
      }
      lastID += 1
      let client = Connection(socket, id: lastID, user: peer.user)
      clients.append(client)
      if peer.user != System.user && peer.user != 0 {
        refuse(client, Refusal(.notAllowed, "This share is another user's; only its user and root may ask."))
      }
    } catch {
      complain("The control socket takes no client for now: \(error).")
      acceptsAgain = Clock.now() + Clock.seconds(1)
    }
  }

  private func serve(_ client: Connection, _ found: Awaited) {
    if found.canWrite { _ = client.outgoing.sendRest() }
    if found.canRead && found.wantsRead {
      switch client.read() {
      case .nothing: break
      case .gone: client.isEnding = true
      case .tooLong:
        refuse(client, Refusal(.tooLong, "A request is at most \(Connection.longestRequest) bytes long."))
      case .requests(let lines):
        client.inHand += lines.count
        tasks.change {
          $0.append(
            contentsOf: lines.map {
              .request(client: client.id, outgoing: client.outgoing, user: client.user, line: $0)
            })
        }
      }
    } else if found.hasHungUp {
      client.outgoing.end()
    }
  }

  private func refuse(_ client: Connection, _ refusal: Refusal) {
    client.isEnding = true
    _ = client.outgoing.send(encoded(refusal))
  }

  private func deliver(to clients: [Connection]) {
    for letter in outbox.take() {
      guard let client = clients.first(where: { $0.id == letter.client }) else { continue }
      if letter.isAnswer { client.inHand -= 1 }
      if letter.watches { client.isWatching = true }
      // What does not go at once goes when the socket can be written to.
      if !letter.line.isEmpty { _ = client.outgoing.send(letter.line) }
    }
  }

  // MARK: - The thread that calls the handler

  private func handleTasks() {
    while true {
      let batch = tasks.wait { tasks -> [Task]? in
        if tasks.isEmpty { return nil }
        defer { tasks.removeAll() }
        return tasks
      }
      for task in batch {
        guard case .request(let client, let outgoing, let user, let line) = task else { return }
        answer(client, outgoing, user, line)
      }
    }
  }

  private func answer(_ client: UInt64, _ outgoing: Outgoing, _ user: UInt32, _ line: [UInt8]) {
    do {
      switch try JSONLine.decode(Request.self, line) {
      case .status: reply(client, handler.status())
      case .rescan(let repairs):
        handler.rescan(repairs: repairs)
        reply(client, Done())
      case .stop:
        reply(client, Done())
        handler.stop()
      case .document(let path):
        if let status = handler.document(path) {
          reply(client, status)
        } else {
          reply(client, Refusal(.noSuchDocument, "There is no such document in the share."))
        }
      case .bookmark(let request): reply(client, try handler.bookmark(request, user: user))
      case .watch(let since):
        handler.watch(Subscriber(client: client, outgoing: outgoing, outbox: outbox), since: since)
      }
    } catch let refusal as Refusal {
      reply(client, refusal)
    } catch {
      // The decoder's own words may repeat what a hostile client sent; they stay here.
      reply(client, Refusal(.badRequest, "That is no request: one JSON object a line, such as {\"op\":\"status\"}."))
    }
  }

  private func reply(_ client: UInt64, _ message: some Encodable) {
    outbox.put(client, encoded(message), isAnswer: true)
  }

  private func encoded(_ message: some Encodable) -> [UInt8] {
    do {
      return try JSONLine.encode(message)
    } catch {
      complain("An answer could not be written as JSON: \(error).")
      return Array("{\"code\":\"bad_request\",\"error\":\"The answer could not be written.\"}\n".utf8)
    }
  }
}
