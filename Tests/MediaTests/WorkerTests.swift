import Contracts
import Glibc
import Posix
import Testing

@testable import Media

/// The built worker, driven as the daemon drives it.
@Suite struct WorkerTests {
  private static func program() throws -> FileName {
    var path = [CChar](repeating: 0, count: 4096)
    let length = unsafe readlink("/proc/self/exe", &path, path.count)
    let own = path[..<length].map { UInt8(bitPattern: $0) }
    // Built binaries stand beside the tests.
    let folder = try #require(own.lastIndex(of: UInt8(ascii: "/")))
    return FileName(own[...folder] + Array("sharefs-worker".utf8))
  }

  /// A worker that has said that it is ready.
  private static func withWorker(_ body: (borrowing Channel, pid_t) throws -> Void) throws -> Child.Ending {
    let program = try program()
    var ours: CInt = -1
    var theirs: CInt = -1
    try Channel.pair { ours1, theirs1 throws(Errno) in
      ours = try ours1.descriptor.duplicate().release()
      theirs = try theirs1.descriptor.duplicate().release()
    }
    let child = try Child.spawn(program, [program], environment: [], descriptors: [2: 2, 3: theirs])
    close(theirs)
    let process = child.process
    do {
      let channel = Channel(Descriptor(owning: ours))
      let ready = try #require(try channel.receive(limit: 16))
      #expect(ready.message == [1])
      try body(channel, process)
    } catch {
      child.kill()
      _ = try child.wait()
      throw error
    }
    return try child.wait()
  }

  private static func job(_ channel: borrowing Channel, _ job: Job, document: [UInt8]?) throws -> (Outcome, [UInt8]) {
    let memory = try Descriptor.memory("pictures")
    if let document {
      let file = try Descriptor.memory("document")
      try file.write(document)
      try channel.send(Frame.encode(job), descriptors: [file.raw, memory.raw])
    } else {
      try channel.send(Frame.encode(job), descriptors: [memory.raw])
    }
    let answer = try #require(try channel.receive(limit: Frame.limit))
    let outcome = try Frame.outcome(answer.message, for: job, memory: Int(try memory.status().size))
    return (outcome, try memory.readAll(limit: 1 << 20))
  }

  @Test func jobsAreAnsweredUntilTheChannelEnds() throws {
    let video = try Fixtures.video("a.mp4", Fixtures.quarters)
    let ending = try Self.withWorker { channel, process in
      for number in 1...3 as ClosedRange<UInt64> {
        let (outcome, bytes) = try Self.job(
          channel, Job(number: number, task: .document(name: [0xff, 0x0a]), boxes: [.standard]), document: video)
        #expect(outcome.verdict == .ready && outcome.number == number)
        let drawn = try #require(outcome.pictures.first)
        #expect(try Made.read(Array(bytes[drawn.offset..<drawn.offset + drawn.length])).corners == "rgbw")
      }
      let (outcome, _) = try Self.job(
        channel, Job(number: 9, task: .placeholder(.audio), boxes: [.standard]), document: nil)
      #expect(outcome.pictures.count == 1)
    }
    #expect(ending == .exited(0))
  }

  @Test func descriptorsAreClosedAfterEveryJob() throws {
    _ = try Self.withWorker { channel, process in
      // More than the process may have open at once.
      for number in 1...100 as ClosedRange<UInt64> {
        let (outcome, _) = try Self.job(
          channel, Job(number: number, task: .document(name: Array("a.txt".utf8)), boxes: [.standard]), document: [0x61]
        )
        #expect(outcome.verdict == .ready && outcome.placeholder == .document)
      }
    }
  }

  @Test func theWallsStand() throws {
    _ = try Self.withWorker { _, process in
      let status = String(
        decoding: try Descriptor.open("/proc/\(process)/status", O_RDONLY).readAll(limit: 65536), as: UTF8.self)
      let lines = status.split(separator: "\n").map { $0.split(separator: "\t").joined(separator: " ") }
      #expect(lines.contains("NoNewPrivs: 1") && lines.contains("Seccomp: 2") && lines.contains("Threads: 1"))
      #expect(!lines.contains { $0.hasPrefix("Uid: 0") || $0.hasPrefix("Gid: 0") })
      #expect(lines.contains("CapEff: 0000000000000000"))
    }
  }

  @Test func aMessageThatIsNoJobEndsIt() throws {
    let ending = try Self.withWorker { channel, _ in
      try channel.send([9, 9, 9])
      let after = try channel.receive(limit: 16)
      #expect(after == nil)
    }
    #expect(ending == .exited(1))
  }

  @Test func startedByHandItSaysWhatItIs() throws {
    let words = try Descriptor.memory("words")
    let program = try Self.program()
    #expect(try Child.spawn(program, [program], descriptors: [2: words.raw]).wait() == .exited(1))
    let text = String(decoding: try words.readAll(limit: 4096), as: UTF8.self)
    #expect(text == "sharefs-worker: it is started by sharefs, with a channel as descriptor 3\n")
  }

  @Test func deathIsSeenAtTheOtherEnd() throws {
    let ending = try Self.withWorker { channel, process in
      kill(process, SIGSEGV)
      let after = try channel.receive(limit: 16)
      #expect(after == nil)
    }
    #expect(ending == .killed(SIGSEGV))
  }
}
