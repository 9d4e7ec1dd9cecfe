import Catalog
import Contracts
import Glibc
import Pipeline
import Posix
import Testing

/// kill -9 at any moment.
@Suite struct KillTests {
  @Test func noAnnouncedRowIsLostAndWhatWasPendingIsDone() async throws {
    for after in [1, 40, 170] {
      let share = try Share(starting: false)
      let folder = "\(share.folder.path)"
      // The child's pipeline works in the same folders; it ends itself as soon as so many documents were announced.
      await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, after = after as Int] in
        let share = try Share(starting: false, in: FileName(folder))
        try share.start()
        let feed = share.pipeline.events.subscribe()
        let log = try Descriptor.createFile(FileName(folder).appending("announced"))
        let announcer = Thread("test-announce") {
          var count = 0
          while case .event(let event) = feed.next(until: .max) {
            guard event.kind == .closed || event.kind == .ready else { continue }
            try? log.write(Array("\(event.kind.rawValue) \(event.asset) \(event.version) \(event.path)\n".utf8))
            count += 1
            if count == after { kill(getpid(), SIGKILL) }
          }
        }
        for number in 0..<200 { try share.put(path("d/\(number).mp4"), "good \(number)") }
        announcer.join()
      }
      let announced = String(
        decoding: try Files.read(share.folder.path.appending("announced"), limit: 1 << 20), as: UTF8.self
      ).split(separator: "\n").map { $0.split(separator: " ") }
      #expect(announced.count >= after)
      let reader = try share.reader()
      for line in announced {
        let id = try #require(Int64(line[1]))
        let asset = try #require(try reader.asset(id: id))
        #expect(try reader.asset(at: path(String(line[3])))?.id == asset.id)
        #expect(asset.version >= Int64(line[2])!)
        if line[0] == "ready" { #expect(asset.verdict == .ready && asset.picture != nil) }
      }
      try share.start()
      try share.idle()
      let present = try Files.names(in: share.real(path("d"))).count
      #expect(try share.reader().list().count == present)
      #expect(share.pipeline.status().summary?.verdicts == [.ready: present])
      for listing in try share.reader().list() {
        let picture = try #require(listing.asset.picture)
        // The copy itself may have been ended before its first byte.
        let content = String(decoding: try Files.read(share.real(listing.path), limit: 4096), as: UTF8.self)
        #expect(String(decoding: try share.content(picture), as: UTF8.self).contains("IDAT\(content)"))
      }
      // Nobody is blamed for having been looked at when the daemon was ended.
      #expect(try share.reader().list().allSatisfy { $0.asset.version == 1 && $0.asset.crashes == 0 })
    }
  }
}
