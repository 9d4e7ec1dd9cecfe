import Catalog
import Contracts
import Glibc
import Pipeline
import Posix
import Testing

/// Workers that crash, hang and lie.
@Suite struct WorkerTests {
  @Test(arguments: [
    "crash", "exit", "nonsense", "long", "lie-number", "lie-large", "lie-outside", "lie-png", "lie-size", "lie-tail",
    "lie-huge", "descriptors",
  ])
  func aPoisonDocumentIsTriedTwiceAndNotAgain(word: String) throws {
    let share = try Share()
    let poison = try share.put(path("poison.mp4"), word)
    let good = try share.put(path("good.mp4"), "good")
    let picture = try share.ready(poison)
    #expect(picture.placeholder == .damaged)
    #expect(try share.content(picture).isEmpty == false)
    #expect(try share.ready(good).placeholder == nil)
    try share.idle()
    let asset = try share.asset(path("poison.mp4"))
    #expect(asset.verdict == .invalid)
    #expect(asset.reason.contains("twice"))
    #expect(share.jobs().filter { $0.hasPrefix("poison") }.count == 2)
    // Not after a restart, but after a change.
    try share.restart()
    try share.idle()
    #expect(share.jobs().filter { $0.hasPrefix("poison") }.count == 2)
    #expect(share.isReady(poison))
    try share.put(path("poison.mp4"), "good now")
    try eventually("its picture") {
      if case .ready(let picture) = share.picture(poison) { picture.placeholder == nil } else { false }
    }
    #expect(share.recorder.texts.filter { $0.contains("poison.mp4") }.count == 2)
  }

  @Test func aDocumentThatHangsAWorkerDoesNotHoldUpTheNext() throws {
    let share = try Share(starting: false)
    share.patience = Clock.seconds(0.5)
    share.workers = 1
    try share.start()
    let hang = try share.put(path("hang.mp4"), "hang")
    let good = try share.put(path("good.mp4"), "good")
    #expect(try share.ready(good).placeholder == nil)
    #expect(try share.ready(hang).placeholder == .damaged)
    #expect(try share.asset(path("hang.mp4")).reason.contains("no answer"))
  }

  @Test func crashesAreRememberedOverARestart() throws {
    let share = try Share(starting: false)
    share.workers = 1
    try share.start()
    // The second try waits behind a document that holds the only worker.
    try share.put(path("poison.mp4"), "crash")
    try share.put(path("held.mp4"), "held")
    try eventually("one crash and one job held") { share.jobs().contains { $0.hasPrefix("held") } }
    let tried = share.jobs().filter { $0.hasPrefix("poison") }.count
    share.stop()
    try share.go()
    try share.start()
    try share.idle()
    #expect(tried >= 1)
    #expect(share.jobs().filter { $0.hasPrefix("poison") }.count == 2)
  }

  @Test func withoutAWorkerDocumentsStayPendingAndAreDoneLater() throws {
    let share = try Share(starting: false)
    try Files.remove(share.worker)
    try share.start()
    let file = try share.put(path("a.mp4"), "good")
    try eventually("the failure in status") { share.pipeline.status().workerFailure != nil }
    try eventually("the row") { share.pipeline.status().summary?.pending == 1 }
    #expect(share.picture(file) == .making(previous: nil))
    #expect(share.recorder.texts.filter { $0.contains("cannot be started") }.count == 1)
    try share.link(try Share.double)
    #expect(try share.ready(file).placeholder == nil)
    #expect(share.pipeline.status().workerFailure == nil)
    #expect(share.recorder.texts.contains { $0.contains("runs again") })
    #expect(share.recorder.texts.filter { $0.contains("cannot be started") }.count == 1)
  }

  @Test func aWorkerThatEndsAtOnceIsAFailureToo() throws {
    let share = try Share(starting: false)
    try share.link(FileName("/bin/true"))
    try share.start()
    try share.put(path("a.mp4"), "good")
    try eventually("the failure in status") {
      share.pipeline.status().workerFailure?.contains("cannot be started") == true
    }
    let begun = Clock.now()
    share.stop()
    #expect(Clock.now() - begun < Clock.seconds(2))
  }

  @Test func aWorkerKilledWhileIdleIsReplacedAndNobodyIsBlamed() throws {
    let share = try Share()
    _ = try share.ready(try share.put(path("a.mp4"), "good"))
    try share.idle()
    for process in try children(of: share.worker) { kill(process, SIGKILL) }
    let file = try share.put(path("b.mp4"), "good")
    #expect(try share.ready(file).placeholder == nil)
    #expect(try share.asset(path("b.mp4")).crashes == 0)
    #expect(share.jobs().count == 2)
  }

  @Test func stoppingIsQuickAndLeavesNoProcessAndNoBlame() throws {
    let share = try Share()
    try share.put(path("a.mp4"), "held")
    try share.put(path("b.mp4"), "held")
    try share.put(path("c.mp4"), "held")
    try eventually("two jobs") { share.jobs().count == 2 }
    let workers = try children(of: share.worker)
    #expect(workers.count == 2)
    let begun = Clock.now()
    share.stop()
    #expect(Clock.now() - begun < Clock.seconds(2))
    #expect(try children(of: share.worker).isEmpty)
    let reader = try share.reader()
    #expect(try reader.summary().pending == 3)
    for listing in try reader.list() { #expect(listing.asset.attempts == 0 && listing.asset.crashes == 0) }
    try share.go()
    try share.start()
    try share.idle()
    #expect(share.pipeline.status().summary?.verdicts == [.ready: 3])
  }

  @Test func noDescriptorIsLeft() throws {
    let share = try Share()
    for number in 0..<20 { try share.put(path("\(number).mp4"), number % 4 == 0 ? "crash" : "good") }
    try share.idle()
    // Nothing of the source stays open but its folder.
    let inside = ProcessTable.held(by: ProcessTable.own).map(\.path).filter {
      $0 != share.source && $0.isWithin(share.source)
    }
    #expect(inside.isEmpty)
  }

  /// Not under the thread sanitizer, whose shadow memory the worker's limits forbid.
  @Test(.enabled(if: System.environment("TSAN_OPTIONS") == nil))
  func theRealWorkerMakesARealPicture() throws {
    let share = try Share(starting: false)
    try share.link(try Share.built("sharefs-worker"))
    try share.start()
    let text = try share.put(path("a.txt"), "nothing to see")
    let picture = try share.ready(text)
    #expect(picture.placeholder != nil)
    #expect(try share.content(picture).starts(with: [0x89, 0x50, 0x4e, 0x47]))
    try eventually("both workers") { share.pipeline.status().workers == 2 }
  }

  /// Our child processes that run this program.
  private func children(of program: FileName) throws -> [pid_t] {
    try ProcessTable.all().filter { process in
      let line = (try? Files.readStream(FileName("/proc/\(process)/cmdline"), limit: 4096)) ?? []
      return line.dropLast().elementsEqual(program.bytes)
    }
  }
}
