import Control
import Glibc
import Posix
import Testing

/// A daemon that is stopped, by a debugger or by SIGSTOP, hangs no command: each says so within seconds, or tells what the catalog knows.
@Suite("Stopped daemon", .serialized, .enabled(if: !Mode.possible.isEmpty, "mounting needs /dev/fuse"))
struct StoppedDaemonTests {
  @Test(arguments: Mode.possible) func hangsNoCommand(mode: Mode) throws {
    let clip = try Fixtures.clip("red")
    try onShare(mode) { share in
      try share.shell("cp '\(clip)' a.mp4")
      try share.waitUntilIdle()
      let daemon = try share.status().pid
      #expect(Glibc.kill(daemon, SIGSTOP) == 0)
      defer { _ = Glibc.kill(daemon, SIGCONT) }
      // The signal comes to one thread, which stops the others when it gets a processor.
      try eventually("all of its threads stand") {
        try share.run("sh", "-c", "! grep -h '^State:' /proc/\(daemon)/task/*/status | grep -qv stopped") == 0
      }
      let document = "\(share.folder)/a.mp4"
      let commands: [([String], ClosedRange<Int32>)] = [
        (["status", share.folder], 4...4), (["umount", share.folder], 4...4), (["check", share.folder], 4...4),
        (["rescan", share.folder], 4...4), (["import", "--to", share.folder, clip], 4...4),
        (["thumbnail", document, "\(share.base)/x.png"], 4...4), (["wait", "--timeout", "1", document], 4...4),
        (["cat", document], 4...4), (["info", document], 4...4), (["bookmark", "create", document], 1...20),
        (["watch", share.folder], 4...4), (["list", share.folder], 0...4),
      ]
      for (words, codes) in commands {
        let code = try share.call("timeout", ["20", Share.sharefs] + words).code
        #expect(codes.contains(code), "\(words[0]) ended with \(code)")
      }
    }
  }
}
