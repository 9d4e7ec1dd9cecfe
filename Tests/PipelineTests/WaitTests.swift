import Catalog
import Contracts
import Pipeline
import Posix
import Testing

/// Those who wait for a picture.
@Suite struct WaitTests {
  final class Count: Sendable {
    private let count = Guarded(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
  }

  @Test func answeredOnceWhenAllAreReady() throws {
    let share = try Share()
    let files = [try share.put(path("a.mp4"), "held"), try share.put(path("b.mp4"), "good")]
    let count = Count()
    _ = share.pipeline.wait(for: files, until: Clock.now() + Clock.seconds(20)) { count.add() }
    _ = try share.ready(files[1])
    #expect(count.value == 0)
    try share.go()
    try eventually("an answer") { count.value == 1 }
    #expect(share.isReady(files[0]))
    try share.idle()
    #expect(count.value == 1)
  }

  @Test func answeredAtOnceWhenNothingIsInTheMaking() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "good")
    _ = try share.ready(file)
    let count = Count()
    _ = share.pipeline.wait(for: [file], until: .max) { count.add() }
    _ = share.pipeline.wait(for: [], until: .max) { count.add() }
    _ = share.pipeline.wait(for: [FileID(volume: 0, inode: 1, birth: FileTime(nanoseconds: 0))], until: .max) {
      count.add()
    }
    try eventually("three answers", within: 2) { count.value == 3 }
  }

  @Test func answeredAtTheDeadline() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    let deadline = Clock.now() + Clock.seconds(0.3)
    let later = Count()
    let token = share.pipeline.wait(for: [file], until: Clock.now() + Clock.seconds(600)) { later.add() }
    let answers = Count()
    let time = Answered()
    _ = share.pipeline.wait(for: [file], until: deadline) {
      time.set(Clock.now())
      answers.add()
    }
    try eventually("the answer") { answers.value == 1 }
    #expect(try #require(time.value) >= deadline)
    #expect(try #require(time.value) < deadline + Clock.seconds(1))
    #expect(later.value == 0)
    #expect(share.pipeline.cancel(token))
  }

  final class Answered: Sendable {
    private let time = Guarded<Clock.Instant?>(nil)
    func set(_ value: Clock.Instant) { time.withLock { $0 = value } }
    var value: Clock.Instant? { time.withLock { $0 } }
  }

  @Test func cancelledIsNotAnswered() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    let count = Count()
    let token = share.pipeline.wait(for: [file], until: Clock.now() + Clock.seconds(20)) { count.add() }
    #expect(share.pipeline.cancel(token))
    #expect(!share.pipeline.cancel(token))
    try share.go()
    _ = try share.ready(file)
    try share.idle()
    #expect(count.value == 0)
  }

  @Test func everyoneIsAnsweredExactlyOnceWhateverHappens() throws {
    let share = try Share()
    let counts = (0..<300).map { _ in Count() }
    let pipeline = share.pipeline!
    var files: [FileID] = []
    for number in 0..<30 { files.append(try share.put(path("\(number).mp4"), number % 10 == 9 ? "text" : "good")) }
    let all = files
    let threads = (0..<3).map { part in
      Thread("test-wait") {
        for number in (part * 100)..<(part * 100 + 100) {
          let count = counts[number]
          let deadline = Clock.now() + Int64(number % 7) * 2_000_000
          let token = pipeline.wait(for: [all[number % 30], all[(number * 7) % 30]], until: deadline) { count.add() }
          if number % 5 == 0, pipeline.cancel(token) { count.add() }
        }
      }
    }
    for thread in threads { thread.join() }
    try eventually("every answer") { counts.allSatisfy { $0.value >= 1 } }
    try share.idle()
    #expect(counts.allSatisfy { $0.value == 1 })
  }

  @Test func stoppingAnswersAll() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    let count = Count()
    _ = share.pipeline.wait(for: [file], until: .max) { count.add() }
    let pipeline = share.pipeline!
    share.stop()
    #expect(count.value == 1)
    // Also those who come late.
    _ = pipeline.wait(for: [file], until: .max) { count.add() }
    try eventually("the late one") { count.value == 2 }
  }

  /// While all workers have to do with what nobody asked for.
  @Test func whatIsWaitedForIsBegunAtOnce() throws {
    let share = try Share()
    try share.put(path("first.mp4"), "held")
    try share.put(path("second.mp4"), "held")
    try eventually("the workers are busy") { share.jobs().count == 2 }
    var files: [FileID] = []
    for number in 0..<50 { files.append(try share.put(path("\(number).mp4"), "good \(number)")) }
    for number in [40, 20] {
      _ = share.pipeline.wait(for: [files[number]], until: Clock.now() + Clock.seconds(60)) {}
      _ = try share.ready(files[number])
    }
    #expect(share.jobs().count == 4)
    try share.go()
    try share.idle()
  }

  @Test func waitedForMeansMadeFirst() throws {
    let share = try Share(starting: false)
    share.workers = 1
    try share.start()
    var files: [FileID] = []
    try share.put(path("first.mp4"), "held")
    try eventually("the worker is busy") { share.jobs().count == 1 }
    // The one for what is waited for, too.
    let asked = try share.put(path("asked.mp4"), "held")
    _ = share.pipeline.wait(for: [asked], until: Clock.now() + Clock.seconds(60)) {}
    try eventually("both are busy") { share.jobs().count == 2 }
    for number in 0..<50 { files.append(try share.put(path("\(number).mp4"), "good \(number)")) }
    _ = share.pipeline.wait(for: [files[40]], until: Clock.now() + Clock.seconds(60)) {}
    try eventually("the writer has heard") { share.pipeline.status().backlog == 0 }
    try share.go()
    _ = try share.ready(files[40])
    try share.idle()
    let position = try #require(share.jobs().firstIndex { $0.hasPrefix("40.mp4") })
    #expect(position <= 3)
  }

  @Test func aRemovedDocumentKeepsNobodyWaiting() throws {
    let share = try Share()
    let file = try share.put(path("a.mp4"), "held")
    let count = Count()
    _ = share.pipeline.wait(for: [file], until: .max) { count.add() }
    try share.remove(path("a.mp4"))
    try eventually("an answer") { count.value == 1 }
    #expect(share.picture(file) == .unknown)
  }

  @Test func aSlowSubscriberIsToldWhatItMissed() throws {
    let share = try Share()
    let slow = share.pipeline.events.subscribe(limit: 3)
    for number in 0..<5 { try share.put(path("\(number).mp4"), "good") }
    try share.idle()
    for number: UInt64 in 0..<3 {
      guard case .event(let event) = slow.next(until: 0) else { throw InVain() }
      #expect(event.number == slow.first + number)
    }
    #expect(slow.next(until: 0) == .overflow(resumeFrom: slow.first + 3))
    #expect(slow.next(until: 0) == .timedOut)
    try share.put(path("x.mp4"), "good")
    guard case .event(let event) = slow.next(until: Clock.now() + Clock.seconds(10)) else { throw InVain() }
    #expect(event.number > slow.first + 3)
    slow.cancel()
    try share.idle()
    share.stop()
  }
}
