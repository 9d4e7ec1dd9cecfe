import CLinux
import Contracts
import Glibc
import Media
import Posix

/// The number under which the daemon gives the channel.
private let channelNumber: CInt = 3
/// What stood as the error output at the start.
private let wordsNumber: CInt = 4

func serve() -> Never {
  silenceLibraries()
  if fcntl(channelNumber, F_GETFD) < 0 { fail("it is started by sharefs, with a channel as descriptor 3") }
  // What one frame took the next one takes again, instead of giving it back and having the kernel clear it anew; what only a
  // huge picture needs is given back.
  clinux_keep_memory(48 << 20, 16 << 20)
  let channel = Channel(Descriptor(owning: channelNumber))
  let engine = Engine()
  do throws(Errno) {
    let memory = try Descriptor.memory("warm-up")
    engine.warmUp(memory: memory.raw)
  } catch { fail("no memory file: \(error)") }
  do throws(SandboxError) {
    for warning in try Sandbox.enter() { say(warning) }
  } catch { fail("\(error.what) cannot be set up: \(error.errno)") }
  do throws(Errno) {
    try channel.send([1])
    while let (message, descriptors) = try channel.receive(limit: Frame.limit) {
      try answer(message, descriptors, engine, channel)
    }
  } catch { fail("the channel to the daemon is broken: \(error)") }
  exit(0)
}

private func answer(_ message: [UInt8], _ descriptors: [CInt], _ engine: Engine, _ channel: borrowing Channel)
  throws(Errno)
{
  defer { for raw in descriptors { close(raw) } }
  let job: Job
  do throws(FrameError) {
    job = try Frame.job(message)
  } catch { fail("a job that is none: \(error.what)") }
  let outcome: Outcome
  switch (job.task, descriptors.count) {
  case (.document, 2): outcome = engine.perform(job, document: descriptors[0], memory: descriptors[1])
  case (.placeholder, 1): outcome = engine.perform(job, memory: descriptors[0])
  default: fail("a job with \(descriptors.count) descriptors")
  }
  try channel.send(Frame.encode(outcome))
}

/// Libraries write what they think of a file to the error output (libjxl does), and a hostile file could fill the daemon's log so: our own
/// words go to a descriptor of their own, theirs to where the standard output goes, /dev/null.
private func silenceLibraries() {
  guard dup2(2, wordsNumber) == wordsNumber, dup2(1, 2) == 2 else { _exit(1) }
}

private func say(_ text: String) {
  let line = Array("sharefs-worker: \(text)\n".utf8)
  // There is nowhere else to tell that even this failed.
  _ = unsafe line.withUnsafeBufferPointer { unsafe write(wordsNumber, $0.baseAddress, $0.count) }
}

private func fail(_ text: String) -> Never {
  say(text)
  exit(1)
}
