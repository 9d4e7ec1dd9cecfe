import Contracts
import Fuse
import Glibc
import Posix
import Testing

@testable import Tree

/// A folder mounted in place by this process, with a recorder for the pipeline. Programs that act on it are other processes.
final class TestMount: Sendable {
  let folder: String
  private let isOurs: Bool
  let recorder = Recorder()
  let pictures = Pictures()
  let tree: ShareTree
  let session: Session
  private let thread: Posix.Thread

  /// Whether this machine lets us mount: as root, with the device.
  static let isPossible = unsafe geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

  /// - Parameter place: a folder to be mounted in place; nil for a fresh one.
  init(
    passthrough: Bool, thumbs: TreeSettings.Thumbs = .listed, keptDescriptors: Int? = nil, at place: String? = nil
  ) throws {
    folder = try place ?? TestMount.temporaryFolder()
    isOurs = place == nil
    var settings = TreeSettings(isExclusive: true, thumbs: thumbs, mountpoint: FileName(folder))
    if let keptDescriptors { settings.keptDescriptors = keptDescriptors }
    tree = try ShareTree(
      source: try Descriptor.open(folder, O_PATH | O_DIRECTORY), settings: settings, passthrough: passthrough,
      settled: recorder, projection: pictures)
    session = try Session(
      SessionSettings(
        source: FileName(folder), mountpoint: FileName(folder), allowOther: true, passthrough: passthrough,
        readOnly: false, isExclusive: true, further: []), operations: tree)
    let session = session
    thread = Posix.Thread("test-session") { session.run() }
    tree.attach(session)
    // The first answer says that INIT is through.
    barrier()
    try #require(session.hasPassthrough == passthrough)
  }

  /// Everything that was closed before this call has been counted after it.
  func barrier() {
    var status = statvfs()
    _ = unsafe statvfs(folder, &status)
  }

  func end() throws {
    // Another suite's child, just being started by this very process, holds copies of our descriptors until it runs its program.
    let deadline = Clock.now() + Clock.seconds(5)
    var status = try run("umount", "-q", folder)
    while status != 0, Clock.now() < deadline { status = try run("umount", "-q", folder) }
    #expect(status == 0, "the test left something open in the mount")
    if status != 0 {
      try run("umount", "-l", folder)
      session.stop()
    }
    thread.join()
    session.close()
    tree.detach()
    guard isOurs else { return }
    _ = unsafe rmdir(folder)
    _ = try run("rm", "-rf", folder)
  }

  static func temporaryFolder() throws -> String {
    var template = Array("/tmp/sharefs-test-XXXXXX".utf8CString)
    return unsafe String(cString: mkdtemp(&template))
  }

  /// Runs a program and waits for its end.
  @discardableResult
  func run(_ program: String, _ arguments: String...) throws -> Int32 { try TestMount.execute(program, arguments) }

  @discardableResult
  static func execute(_ program: String, _ arguments: String...) throws -> Int32 { try execute(program, arguments) }

  static func execute(_ program: String, _ arguments: [String]) throws -> Int32 {
    let child = try Child.spawn(
      FileName("/usr/bin/env"),
      (["env", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", program] + arguments).map { FileName($0) },
      descriptors: [2: 2], folder: FileName("/"))
    switch try child.wait() {
    case .exited(let code): return code
    case .killed(let signal): return -signal
    }
  }

  /// Runs a Python program with the mount as its working folder, which it leaves at its end. `say(word)` in it tells us to look: it waits
  /// until `at` has been called with the word. `at_once(count, work)` calls `work` with the numbers below `count`, in a process each.
  func python(_ program: String, at: (String) throws -> Void = { _ in }) throws {
    let prelude = """
      import os, sys, mmap, socket, time, fcntl, signal, subprocess, ctypes
      os.chdir(\(quoted(folder)))
      def say(word):
          os.write(3, word.encode()); os.read(3, 64)
      def at_once(count, work):
          children = []
          for n in range(count):
              pid = os.fork()
              if pid == 0: work(n); os._exit(0)
              children.append(pid)
          for pid in children: assert os.waitpid(pid, 0)[1] == 0

      """
    let code: Int32 = try Channel.pair { ours, theirs throws(Errno) -> Int32 in
      let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first { (path: String) in
        unsafe access(path, X_OK) == 0
      }
      let child = try Child.spawn(
        FileName(python ?? "/usr/bin/python3"),
        (["python3", "-c", prelude + program] as [String]).map { FileName($0) },
        descriptors: [2: 2, 3: theirs.descriptor.raw], folder: FileName("/"))
      theirs.close()
      var failure: (any Error)?
      while true {
        guard try ours.waitReadable(until: Clock.now() + Clock.seconds(60)) else { break }
        guard let (message, _) = try ours.receive(limit: 64) else { break }
        do { try at(String(decoding: message, as: UTF8.self)) } catch { failure = error }
        do throws(Errno) { try ours.send([1]) } catch .pipe { break }
      }
      if let failure { Issue.record(failure) }
      switch try child.wait() {
      case .exited(let code): return code
      case .killed(let signal): return -signal
      }
    }
    #expect(code == 0, "the python program failed")
  }

  func inode(_ name: String) throws -> UInt64 { try FileStatus.of(path: "\(folder)/\(name)").inode }

  func text(_ name: String) throws -> String {
    String(decoding: try Descriptor.open("\(folder)/\(name)", O_RDONLY).readAll(limit: 1 << 20), as: UTF8.self)
  }

  func names(_ name: String) throws -> Set<String> {
    var directory = Directory(try Descriptor.open("\(folder)/\(name)", O_RDONLY | O_DIRECTORY))
    var names: Set<String> = []
    while let line = try directory.next() { if !line.name.isDots { names.insert(line.name.description) } }
    return names
  }
}

func quoted(_ text: String) -> String { "'" + text + "'" }

/// Mounts, acts, unmounts: with passthrough and without.
func onMount(passthrough: Bool, keptDescriptors: Int? = nil, _ body: (TestMount) throws -> Void) throws {
  let mount = try TestMount(passthrough: passthrough, keptDescriptors: keptDescriptors)
  do { try body(mount) } catch {
    try mount.end()
    throw error
  }
  try mount.end()
}
