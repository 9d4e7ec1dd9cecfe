import Contracts
import Testing

@Suite struct FrameTests {
  private let job = Job(
    number: 7, task: .document(name: [0xff, 0x0a, 0x2e, 0x6d]), boxes: [.standard, Box(width: 128, height: 128)])

  private var outcome: Outcome {
    var facts = Facts()
    facts.type = MediaTypes.byExtension("mp4")
    facts.container = "mov"
    facts.duration = 12.5
    facts.width = 1920
    facts.height = 1080
    facts.videoCodec = "h264"
    facts.audioCodec = "aac"
    facts.frameRate = 25
    facts.rotation = 90
    facts.hasAudio = true
    facts.taken = "2024-05-01T12:30:00"
    facts.cameraMake = "Maker"
    facts.cameraModel = "Model"
    return Outcome(
      number: 7, verdict: .incomplete, reason: "The end of the file is missing.", facts: facts,
      pictures: [
        .init(width: 300, height: 169, offset: 0, length: 100), .init(width: 128, height: 72, offset: 100, length: 50),
      ], placeholder: nil)
  }

  @Test func jobsAndOutcomesComeBackAsTheyWere() throws {
    #expect(try Frame.job(Frame.encode(job)) == job)
    let placeholder = Job(number: .max, task: .placeholder(.damaged), boxes: [.standard])
    #expect(try Frame.job(Frame.encode(placeholder)) == placeholder)
    #expect(try Frame.outcome(Frame.encode(outcome), for: job, memory: 150) == outcome)
  }

  @Test func everyCutOrLongerMessageIsRefused() {
    let message = Frame.encode(outcome)
    for length in 0..<message.count {
      #expect(throws: FrameError.self) { try Frame.outcome(Array(message[..<length]), for: job, memory: 150) }
    }
    #expect(throws: FrameError.self) { try Frame.outcome(message + [0], for: job, memory: 150) }
  }

  @Test func anyChangedByteIsReadOrRefusedButNeverTraps() {
    let message = Frame.encode(outcome)
    for place in message.indices {
      for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
        var changed = message
        changed[place] = value
        _ = try? Frame.outcome(changed, for: job, memory: 150)
        _ = try? Frame.job(changed)
      }
    }
  }

  @Test func picturesOutsideOfTheMemoryOrTheBoxAreRefused() {
    #expect(throws: FrameError.self) { try Frame.outcome(Frame.encode(outcome), for: job, memory: 149) }
    let small = Job(number: 7, task: job.task, boxes: [Box(width: 299, height: 169), Box(width: 128, height: 128)])
    #expect(throws: FrameError.self) { try Frame.outcome(Frame.encode(outcome), for: small, memory: 150) }
    let other = Job(number: 8, task: job.task, boxes: job.boxes)
    #expect(throws: FrameError.self) { try Frame.outcome(Frame.encode(outcome), for: other, memory: 150) }
  }

  @Test func controlCharactersInTextsAreMadeHarmless() throws {
    let loud = Outcome(
      number: 7, verdict: .invalid, reason: "a\u{1b}[31mb\nc", facts: Facts(), pictures: [], placeholder: .video)
    #expect(try Frame.outcome(Frame.encode(loud), for: job, memory: 0).reason == "a [31mb c")
  }
}
