import Contracts
import Pipeline
import Posix
import Testing

@testable import Catalog

@Suite struct NamesTests {
  /// An index that cannot be written is told once, and holds up nothing.
  @Test func anIndexThatFailsIsToldOnce() throws {
    let share = try Share()
    _ = try share.ready(try share.put(path("first.mp4"), "good"))
    let connection = try Connection(share.state.appending(Catalog.fileName), .write)
    func unindexed() throws -> Int64? { try connection.first("SELECT count(*) FROM unindexed") { $0.integer(0) } }
    try eventually("the first is indexed") { try unindexed() == 0 }
    try connection.run("ALTER TABLE name RENAME TO elsewhere")
    let told = { share.recorder.texts.filter { $0.contains("cannot be indexed") }.count }
    _ = try share.ready(try share.put(path("second.mp4"), "good"))
    try eventually("it is told") { told() == 1 }
    for number in 0..<20 { _ = try share.ready(try share.put(path("\(number).mp4"), "good")) }
    // Longer than it would have taken to try again after the usual time.
    Clock.pause(0.5)
    #expect(told() == 1)
    #expect(try unindexed() == 21)
    #expect(share.pipeline.status().problems.contains { $0.text.contains("cannot be indexed") })
  }
}
