import Contracts
import Glibc
import Posix

/// The built worker, spoken to as the daemon does: sandboxed, one job at a time, a fresh memory file for each.
final class Worker {
  private let channel: Channel
  private var child: Child?
  private let process: pid_t

  init(_ program: FileName) throws(Failure) {
    do throws(Errno) {
      var ours: CInt = -1
      let child = try Channel.pair { mine, theirs throws(Errno) in
        ours = try mine.descriptor.duplicate().release()
        return try Child.spawn(program, [program], environment: [], descriptors: [2: 2, 3: theirs.descriptor.raw])
      }
      channel = Channel(Descriptor(owning: ours))
      process = child.process
      self.child = consume child
      guard try channel.receive(limit: 16)?.message == [1] else { throw Errno.pipe }
    } catch { throw Failure("\(program) cannot be used: \(error)") }
  }

  deinit {
    guard let child = child.take() else { return }
    child.kill()
    do throws(Errno) { _ = try child.wait() } catch { return }
  }

  /// - Returns: the outcome, from the job's handing in to the picture's bytes in our hands.
  func run(_ path: FileName, number: UInt64) throws(Failure) -> Outcome {
    let name = path.bytes.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    let job = Job(number: number, task: .document(name: name), boxes: [.standard])
    let memory: Descriptor
    let message: [UInt8]
    let size: Int
    do throws(Errno) { memory = try Descriptor.memory("picture") } catch { throw Failure("no memory file: \(error)") }
    do throws(Errno) {
      let document = try Descriptor.open(path, O_RDONLY)
      try channel.send(Frame.encode(job), descriptors: [document.raw, memory.raw])
      guard let answer = try channel.receive(limit: Frame.limit) else { throw Errno.pipe }
      message = answer.message
      size = Int(try memory.status().size)
    } catch { throw Failure("\(path): the worker gives no answer: \(error)") }
    let outcome: Outcome
    do throws(FrameError) {
      outcome = try Frame.outcome(message, for: job, memory: size)
    } catch { throw Failure("\(path): the worker answers nonsense: \(error.what)") }
    do throws(Errno) {
      for drawn in outcome.pictures { _ = try memory.read(at: drawn.offset, count: drawn.length) }
    } catch { throw Failure("\(path): its picture cannot be read: \(error)") }
    return outcome
  }

  /// Nanoseconds of processor time that the worker has taken since its start.
  var spent: Int64 {
    var clock = clockid_t()
    var time = timespec()
    guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Bytes: the most that was ever in memory at once.
  var peak: Int {
    do throws(Errno) {
      let text = String(
        decoding: try Descriptor.open("/proc/\(process)/status", O_RDONLY).readAll(limit: 65536), as: UTF8.self)
      let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0)
        * 1024
    } catch { return 0 }
  }
}

struct Failure: Error {
  let text: String
  init(_ text: String) { self.text = text }
}
