import Catalog
import Contracts
import Pipeline
import Posix
import Testing

/// Changes come faster than the catalog takes them.
@Suite struct FloodTests {
  /// What is too much is dropped and found again by a scan, and ending does not take longer for it.
  @Test func whatIsTooMuchIsFoundByAScan() throws {
    let share = try Share()
    try share.store(path("a.mp4"), "good")
    let (document, stamp) = try share.document(path("a.mp4"))
    for _ in 0..<260_000 { share.pipeline.take(.started(document)) }
    share.pipeline.take(.settled(document, stamp))
    #expect(share.pipeline.status().backlog <= 200_000)
    let began = Clock.now()
    share.stop()
    #expect(Clock.now() - began < Clock.seconds(20))
    let texts = share.recorder.texts
    #expect(texts.contains("Too many changes waited at once; a scan finds those that were dropped."))
    #expect(
      texts.contains { $0.hasSuffix("changes were not written down any more; the next mount's scan finds them.") })
    try share.start()
    _ = try share.ready(document.file)
    try share.idle()
    #expect(try share.asset(path("a.mp4")).file == document.file)
  }
}
