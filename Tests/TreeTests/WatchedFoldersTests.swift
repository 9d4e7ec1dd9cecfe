import Glibc
import Posix
import Testing

@testable import Tree

/// While somebody watches one folder of a view, the others are not visited: that would cost a dozen requests for each picture.
@Suite("Watched folders", .serialized, .enabled(if: TestMount.isPossible, "mounting needs root and /dev/fuse"))
struct WatchedFoldersTests {
  /// Has the announcing thread make a change of a picture known.
  /// - Returns: whether it went there to do so.
  private func visits(_ folder: String, _ thumbs: Thumbs) throws -> Bool {
    let path = try #require(SharePath(folder))
    let real = try #require(thumbs.holdReal(path))
    let action = Announcer.Action(kind: .changes, folder: path, name: FileName("a.mp4.png"), key: real.key)
    thumbs.releaseReal(real)
    let answer = Monitor<Bool?>(nil)
    thumbs.announcer.look { answer.change { $0 = thumbs.announcer.act(action) } }
    return answer.wait { $0 }
  }

  @Test func onlyTheyAreVisited() throws {
    try onMount(passthrough: true) { mount in
      let thumbs = try #require(mount.tree.thumbs)
      for folder in ["watched", "other"] {
        try mount.run("sh", "-c", "mkdir '\(mount.folder)/\(folder)' && printf x >'\(mount.folder)/\(folder)/a.mp4'")
        mount.pictures.ready(try mount.inode(folder + "/a.mp4"), version: 1, "A")
      }
      let watch = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
      try #require(watch >= 0)
      defer { close(watch) }
      try #require(unsafe inotify_add_watch(watch, mount.folder + "/.thumbs/watched", UInt32(IN_ATTRIB)) >= 0)
      // Whoever looked at a folder has a moment to set a watch on it: so long, each may be watched.
      let deadline = Clock.now() + Clock.seconds(20)
      while try visits("other", thumbs), Clock.now() < deadline { usleep(20_000) }
      for _ in 0..<100 { #expect(try !visits("other", thumbs)) }
      var events = [UInt8](repeating: 0, count: 4096)
      while unsafe read(watch, &events, events.count) > 0 {}
      #expect(try visits("watched", thumbs))
      #expect(unsafe read(watch, &events, events.count) > 0, "its watcher is told")
    }
  }
}
