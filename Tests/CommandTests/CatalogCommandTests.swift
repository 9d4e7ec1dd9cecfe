import Catalog
import Contracts
import Control
import FoundationEssentials
import Glibc
import Posix
import Testing

@testable import sharefs

/// `list` and `info` on a share that is not mounted.
@Suite struct CatalogCommandTests {
  /// A share with its state as a daemon would have left them.
  private final class Share {
    let base: TemporaryFolder
    let path: FileName
    let state: FileName

    init() throws {
      base = try TemporaryFolder()
      path = try base.make("share")
      state = base.path.appending("state")
      let folder = try Descriptor.open(path, O_PATH)
      let folders = StateFolders(data: state, cache: state, runtime: base.path.appending("run"))
      _ = try ShareLocation.claim(folder: folder.raw, path: path, folders: folders, state: state)
    }

    func run(_ words: [String]) throws -> Program.Result {
      try Program.run([words[0], "--state", "\(state)"] + words.dropFirst())
    }
  }

  @Test func aShareWithoutCatalogListsNothing() throws {
    let share = try Share()
    let list = try share.run(["list", "\(share.path)"])
    #expect(list.code == 0 && list.output.isEmpty && list.complaint.isEmpty)
    let none = try share.run(["list", "\(share.path)/none"])
    #expect(none.code == 2 && none.complaint == "sharefs: \(share.path)/none: No such file or directory.\n")
  }

  @Test func infoSaysWhyThereIsNone() throws {
    let share = try Share()
    try Files.replace(share.path.appending("new.mp4"), with: [])
    try Files.replace(share.path.appending(".hidden.mp4"), with: [])
    let new = try share.run(["info", "\(share.path)/new.mp4"])
    #expect(new.code == 2 && new.complaint.hasPrefix("sharefs: \(share.path)/new.mp4 is not catalogued yet.\n"))
    let hidden = try share.run(["info", "\(share.path)/.hidden.mp4"])
    #expect(hidden.code == 2 && hidden.complaint.contains("has a temporary or hidden name"))
    let folder = try share.run(["info", "\(share.path)"])
    #expect(folder.code == 2 && folder.complaint.contains("is no regular file"))
    #expect(try share.run(["info", "\(share.path)/none"]).code == 2)
  }

  /// A catalog of one good clip, one broken one and one that waits, under names of every kind.
  private func fill(_ share: Share) throws {
    let catalog = try Catalog(folder: share.state) { _ in }
    var facts = Facts()
    facts.type = MediaType(kind: .video, identifier: "public.mpeg-4", mime: "video/mp4")
    facts.duration = 62.5
    facts.width = 1920
    facts.height = 1080
    for (name, verdict) in [("trip/good.mp4", Verdict.ready), ("broken.mp4", .incomplete)] {
      let id = try enter(catalog, Array(name.utf8))
      try catalog.finish(
        id, verdict: verdict, reason: verdict == .ready ? "" : "The file is cut off.", facts: facts, placeholder: nil,
        pictureSize: 100)
    }
    _ = try enter(catalog, [0xff, UInt8(ascii: "\n")])
  }

  private func enter(_ catalog: Catalog, _ name: [UInt8]) throws -> Int64 {
    let path = try #require(SharePath(name))
    let birth = FileTime(nanoseconds: 1_700_000_000_000_000_000)
    let file = FileID(volume: 0, inode: UInt64(name.count), birth: birth)
    var effects: [Effect] = []
    try catalog.settle(
      Document(file: file, path: path), ContentStamp(size: 1_234_567, modified: birth, changed: birth), &effects)
    return try #require(try catalog.asset(at: path)).id
  }

  @Test func listShowsWhatIsKnown() throws {
    let share = try Share()
    try fill(share)
    let list = try share.run(["list", "\(share.path)"])
    #expect(list.code == 0 && list.complaint.isEmpty)
    #expect(
      list.output == """
        broken.mp4     public.mpeg-4  1.2 MB  1:03  1920x1080  incomplete
        trip/good.mp4  public.mpeg-4  1.2 MB  1:03  1920x1080  ready
        \\xff\\x0a                      1.2 MB                   pending

        """)
    try Files.makeFolders(share.path.appending("trip"))
    #expect(try share.run(["list", "\(share.path)/trip"]).output.hasPrefix("trip/good.mp4  "))
    #expect(try share.run(["list", "--type", "audio", "\(share.path)"]).output.isEmpty)
    #expect(try share.run(["list", "--type", "video", "\(share.path)"]).output.split(separator: "\n").count == 2)
  }

  @Test func itsJSONHasThePromisedNames() throws {
    let share = try Share()
    try fill(share)
    let lines = try share.run(["list", "--json", "\(share.path)"]).output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[1].contains(#""duration":62.5,"#) && lines[1].contains(#""kind":"video""#))
    #expect(lines[1].contains(#""modified":"2023-11-14T22:13:20Z","path":"trip/good.mp4","settled_at":"#))
    #expect(lines[1].contains(#""type":"public.mpeg-4","verdict":"ready","version":1,"width":1920"#))
    #expect(lines[2].contains(#""path":"\\xff\\x0a","path_bytes":"/wo=""#))
  }

  @Test func infoTellsAllAndItsExitCodeTheVerdict() throws {
    let share = try Share()
    try fill(share)
    let good = try share.run(["info", "\(share.path)/trip/good.mp4"])
    #expect(
      good.code == 0
        && good.output.hasPrefix("trip/good.mp4\n  verdict     ready\n  asset       1, content version 1\n"))
    let broken = try share.run(["info", "--json", "\(share.path)/broken.mp4"])
    #expect(broken.code == 3 && broken.output.contains(#""reason":"The file is cut off.""#))
  }
}
