import Contracts
import Glibc
import Posix

/// Speaks the worker's protocol and does what the document's first word says. Each job is a line in `<argv0>.log`.
@main struct WorkerDouble {
  static func main() { serve(FileName(CommandLine.arguments[0])) }
}

private func serve(_ own: FileName) {
  let channel = Channel(Descriptor(owning: 3))
  do throws(Errno) {
    try channel.send([1])
    while let (message, descriptors) = try channel.receive(limit: Frame.limit) {
      guard let memory = descriptors.last.map({ Descriptor(owning: $0) }) else { exit(9) }
      let job: Job
      do throws(FrameError) { job = try Frame.job(message) } catch { exit(8) }
      switch job.task {
      case .placeholder(let kind):
        try log(own, "placeholder \(kind)")
        try memory.write(png(4, 3, Array("\(kind)".utf8)))
        try channel.send(
          Frame.encode(
            outcome(job.number, .ready, size: Int(try memory.status().size), width: 4, height: 3)))
      case .document(let name):
        let document = Descriptor(owning: descriptors[0])
        let content = try document.readAll(limit: 1 << 20)
        try log(own, "\(escaped(name)) \(escaped(content.prefix(40)))")
        try answer(job, content, memory, channel, own)
      }
    }
  } catch {
    exit(7)
  }
}

private func log(_ own: FileName, _ line: String) throws(Errno) {
  let path = FileName(Array(own.bytes) + Array(".log".utf8))
  try Descriptor.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o600).write(Array((line + "\n").utf8))
}

private func isThere(_ own: FileName, _ ending: String) -> Bool {
  Files.mayAccess(FileName(Array(own.bytes) + Array(ending.utf8)), 0)
}

private func answer(
  _ job: Job, _ content: [UInt8], _ memory: borrowing Descriptor, _ channel: borrowing Channel, _ own: FileName
) throws(Errno) {
  let word = String(decoding: content.prefix { $0 != 32 && $0 != 10 }, as: UTF8.self)
  let picture = png(30, 20, Array(content.prefix(64)))
  func send(_ outcome: Outcome) throws(Errno) { try channel.send(Frame.encode(outcome)) }
  func good(_ verdict: Verdict = .ready, _ bytes: [UInt8], width: Int = 30, height: Int = 20) throws(Errno) {
    // The same in each size asked for.
    for _ in job.boxes { try memory.write(bytes) }
    try send(
      outcome(job.number, verdict, size: bytes.count, width: width, height: height, pictures: job.boxes.count))
  }
  switch word {
  case "crash":
    // As a crash is outside of a test: nobody writes a backtrace, which under the thread sanitizer never ends.
    signal(SIGABRT, SIG_DFL)
    abort()
  case "exit": _exit(3)
  case "hang": while true { sleep(1) }
  case "cut": try good(.incomplete, picture)
  case "text":
    try send(
      Outcome(
        number: job.number, verdict: .unsupported, reason: "It is no medium.", facts: Facts(), pictures: [],
        placeholder: .document))
  case "held":
    // Until the test lets it go.
    while !isThere(own, ".go") { usleep(2000) }
    try good(.ready, picture)
  case "nonsense": try channel.send(Array("what?".utf8))
  case "long": try channel.send([UInt8](repeating: 1, count: Frame.limit + 1))
  case "lie-number":
    try memory.write(picture)
    try send(outcome(job.number + 1, .ready, size: picture.count, width: 30, height: 20))
  case "lie-large": try good(.ready, png(301, 20, []), width: 301)
  case "lie-outside":
    try memory.write(picture)
    try send(outcome(job.number, .ready, size: picture.count + 1, width: 30, height: 20))
  case "lie-png": try good(.ready, [UInt8](repeating: 7, count: 500))
  case "lie-size": try good(.ready, picture, width: 31)
  case "lie-tail": try good(.ready, picture + [0])
  case "lie-huge": try good(.ready, png(30, 20, [UInt8](repeating: 1, count: 400_000)))
  case "descriptors":
    try memory.write(picture)
    try channel.send(
      Frame.encode(outcome(job.number, .ready, size: picture.count, width: 30, height: 20)), descriptors: [memory.raw])
  default: try good(.ready, picture)
  }
}

private func outcome(
  _ number: UInt64, _ verdict: Verdict, size: Int, width: Int, height: Int, pictures: Int = 1
) -> Outcome {
  var facts = Facts()
  facts.type = MediaType(kind: .video, identifier: "public.mpeg-4", mime: "video/mp4")
  facts.container = "mov"
  facts.duration = 12.5
  facts.width = 1920
  facts.height = 1080
  facts.hasAudio = true
  return Outcome(
    number: number, verdict: verdict, reason: verdict == .ready ? "" : "It ends early.", facts: facts,
    pictures: (0..<pictures).map { Outcome.Drawn(width: width, height: height, offset: $0 * size, length: size) },
    placeholder: nil)
}

/// A PNG as far as the daemon looks; `mark` stands in its data.
private func png(_ width: Int, _ height: Int, _ mark: [UInt8]) -> [UInt8] {
  func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
  func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    number(data.count) + Array(type.utf8) + data + [0, 0, 0, 0]
  }
  return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    + chunk("IHDR", number(width) + number(height) + [8, 2, 0, 0, 0]) + chunk("IDAT", mark) + chunk("IEND", [])
}
