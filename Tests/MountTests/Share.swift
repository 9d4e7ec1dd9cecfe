import Control
import FoundationEssentials
import Glibc
import Posix
import Testing

/// The three ways in which a share is served.
enum Mode: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// Root's mount, the kernel moves the data.
  case passthrough
  /// Root's mount, the daemon moves the data.
  case nopassthrough
  /// An ordinary user's mount through fusermount3.
  case user

  var testDescription: String { rawValue }

  /// As root all three can be tried; as anybody else only one's own.
  static var possible: [Mode] {
    guard unsafe access("/dev/fuse", R_OK | W_OK) == 0 else { return [] }
    return geteuid() == 0 ? allCases : [.user]
  }
}

/// A folder mounted by the built program, with its state beside it. Everything that acts on it is another process, of the user whose
/// mount it is.
final class Share: Sendable {
  let mode: Mode
  /// Holds the share and all else of the test.
  let base: String
  /// The mounted folder.
  let folder: String
  let state: String
  private let options: [String]

  /// nobody.
  private static let otherUser = 65534

  /// - Parameter mounted: false leaves it unmounted.
  init(_ mode: Mode, options: [String] = [], mounted: Bool = true) throws {
    self.mode = mode
    let place = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(place)/share-XXXXXX".utf8CString)
    base = unsafe String(cString: mkdtemp(&template))
    folder = base + "/share"
    state = base + "/state"
    self.options = options + (mode == .nopassthrough ? ["nopassthrough"] : [])
    if mode == .user && geteuid() == 0 { unsafe chown(base, uid_t(Share.otherUser), gid_t(Share.otherUser)) }
    unsafe chmod(base, 0o755)
    if mounted { try mount() }
  }

  static let sharefs: String = {
    // The products stand beside the test bundle.
    let own = (try? Files.target(FileName("/proc/self/exe")))?.parent
    let candidates = [own, CommandLine.arguments.first.flatMap { FileName($0).parent }].compactMap { $0 }
    for argument in CommandLine.arguments where argument.hasSuffix(".xctest") {
      if let parent = FileName(argument).parent { return parent.appending("sharefs").description }
    }
    return candidates.map { $0.appending("sharefs").description }.first { unsafe access($0, X_OK) == 0 } ?? "sharefs"
  }()

  func mount() throws {
    var arguments = ["mount", "--state", state]
    if !options.isEmpty { arguments += ["-o", options.joined(separator: ",")] }
    #expect(try sharefs(arguments + [folder]) == 0, "the share cannot be mounted")
  }

  func unmount() throws { #expect(try sharefs(["umount", folder]) == 0, "the share cannot be unmounted") }

  /// Unmounts and removes everything.
  func end() throws {
    if isMounted { try unmount() }
    #expect(!isMounted)
    // Not as the share's user, who may not write in the folder that the base stands in.
    let child = try Child.spawn(FileName("/bin/rm"), ["rm", "-rf", base].map { FileName($0) }, descriptors: [2: 2])
    #expect(try child.wait() == .exited(0))
  }

  var isMounted: Bool {
    let table = (try? Descriptor.open("/proc/self/mountinfo", O_RDONLY).readAll(limit: 1 << 22)) ?? []
    return String(decoding: table, as: UTF8.self).contains(" \(folder) ")
  }

  // MARK: Acting

  struct Result: Sendable {
    let code: Int32
    let output: String
  }

  @discardableResult
  func run(_ program: String, _ arguments: String...) throws -> Int32 { try call(program, arguments).code }

  @discardableResult
  func shell(_ script: String) throws -> Int32 { try call("sh", ["-c", "cd '\(folder)' && \(script)"]).code }

  func sharefs(_ arguments: [String]) throws -> Int32 { try call(Share.sharefs, arguments).code }

  func output(_ program: String, _ arguments: [String]) throws -> String { try call(program, arguments).output }

  /// What makes a program the share's user's, without our locale and home.
  var words: [String] {
    var words = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=\(base)"]
    words += [
      "XDG_RUNTIME_DIR=\(base)/run", "XDG_DATA_HOME=\(base)/data", "XDG_CACHE_HOME=\(base)/cache", "LC_ALL=C.UTF-8",
    ]
    for name in ["TSAN_OPTIONS", "TMPDIR"] {
      if let value = unsafe getenv(name) { words.append("\(name)=\(unsafe String(cString: value))") }
    }
    if mode == .user && geteuid() == 0 {
      words += ["setpriv", "--reuid=\(Share.otherUser)", "--regid=\(Share.otherUser)", "--clear-groups"]
    }
    return words
  }

  /// Runs a program as the share's user.
  func call(_ program: String, _ arguments: [String]) throws -> Result {
    let out = try Descriptor.memory("output")
    let child = try Child.spawn(
      FileName("/usr/bin/env"), (words + [program] + arguments).map { FileName($0) }, descriptors: [1: out.raw, 2: 2],
      folder: FileName("/"))
    let code: Int32
    switch try child.wait() {
    case .exited(let exit): code = exit
    case .killed(let signal): code = -signal
    }
    return Result(code: code, output: String(decoding: try out.readAll(limit: 1 << 26), as: UTF8.self))
  }

  /// Runs a Python program with the mount as its working folder, which it leaves at its end. `say(word)` in it tells us to look, and waits until `at` has
  /// returned.
  func python(_ program: String, at: (String) throws -> Void = { _ in }) throws {
    let prelude = """
      import os, sys, mmap, socket, time, fcntl, signal, subprocess, ctypes, errno
      os.chdir('\(folder)')
      def say(word):
          os.write(3, word.encode()); os.read(3, 64)

      """
    let words = words + ["python3", "-c", prelude + program]
    let code: Int32 = try Channel.pair { ours, theirs throws(Errno) -> Int32 in
      let child = try Child.spawn(
        FileName("/usr/bin/env"), words.map { FileName($0) }, descriptors: [2: 2, 3: theirs.descriptor.raw],
        folder: FileName("/"))
      theirs.close()
      while let (message, _) = try ours.receive(limit: 64) {
        do { try at(String(decoding: message, as: UTF8.self)) } catch { Issue.record(error) }
        do throws(Errno) { try ours.send([1]) } catch { if error != .pipe { throw error } }
      }
      switch try child.wait() {
      case .exited(let code): return code
      case .killed(let signal): return -signal
      }
    }
    #expect(code == 0, "the python program failed")
  }

  // MARK: Looking

  struct Row: Decodable {
    let id: Int64
    let path: String
    let verdict: String?
    let state: String?
    let version: Int64?
  }

  func list() throws -> [Row] {
    let text = try output(Share.sharefs, ["list", "--json", folder] + (isMounted ? [] : ["--state", state]))
    return try text.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
  }

  func row(_ path: String) throws -> Row? { try list().first { $0.path == path } }

  func status() throws -> ShareStatus {
    // Not through the command, which is less patient than a test on a busy machine.
    var client = try Client.connect(to: FileName(state + "/control.sock"))
    return try client.ask(.status, for: ShareStatus.self, within: 60)
  }

  /// What the daemon knows of a document, everything counted that was closed before.
  func document(_ path: String) throws -> DocumentStatus {
    var client = try Client.connect(to: FileName(state + "/control.sock"))
    return try client.ask(.document(SharePath(path)!), for: DocumentStatus.self, within: 10)
  }

  func waitUntilIdle() throws {
    try eventually("the share is at rest", seconds: 120) {
      let status = try self.status()
      return status.pending == 0 && status.running == 0 && status.scan != .running
    }
  }

  /// Asked as the share's user: root does not see into a user's mount.
  func exists(_ name: String) throws -> Bool { try run("test", "-e", "\(folder)/\(name)") == 0 }

  func names(_ name: String) throws -> Set<String> {
    Set(
      try output("find", ["\(folder)/\(name)", "-mindepth", "1", "-maxdepth", "1", "-printf", "%f\\n"]).split(
        separator: "\n"
      ).map { String($0) })
  }

  /// The mean colour of a picture, as "red", "green", "blue" or "grey"; nil when it cannot be read.
  func colour(_ picture: String) throws -> String? {
    let raw = try output(
      "sh",
      [
        "-c",
        "ffmpeg -v error -nostdin -i '\(folder)/\(picture)' -vf scale=1:1 -f rawvideo -pix_fmt rgb24 - | od -An -tu1",
      ])
    let parts = raw.split(separator: " ").compactMap { Int($0.filter { $0.isNumber }) }
    guard parts.count == 3 else { return nil }
    let (red, green, blue) = (parts[0], parts[1], parts[2])
    if red > green + 60 && red > blue + 60 { return "red" }
    if green > red + 60 && green > blue + 60 { return "green" }
    if blue > red + 60 && blue > green + 60 { return "blue" }
    return "grey"
  }
}

/// Looks again until it is so; the test fails when the time is over.
func eventually(
  _ what: String, seconds: Double = 60, _ condition: () throws -> Bool, location: SourceLocation = #_sourceLocation
) throws {
  let deadline = Clock.now() + Clock.seconds(seconds)
  while Clock.now() < deadline {
    if try condition() { return }
    usleep(5000)
  }
  try #require(try condition(), "\(what), in \(seconds) s", sourceLocation: location)
}

/// Mounts, acts, unmounts.
func onShare(_ mode: Mode, options: [String] = [], _ body: (Share) throws -> Void) throws {
  let share = try Share(mode, options: options)
  do { try body(share) } catch {
    try share.end()
    throw error
  }
  try share.end()
}

/// The events of a share, read by a thread of its own from the control socket.
final class EventLog: Sendable {
  struct Line: Decodable, Sendable {
    let number: Int
    let event: String
    let path: String
    let verdict: String?
    let version: Int64?
    let asset: Int64?
    let size: Int64
  }

  private let lines = Monitor<[Line]>([])
  private let thread: Monitor<Posix.Thread?> = Monitor(nil)

  init(_ share: Share) throws {
    let lines = lines
    let isReady = Monitor(false)
    let socket = FileName(share.state + "/control.sock")
    let thread = Posix.Thread("test-events") {
      do {
        var client = try Client.connect(to: socket)
        try client.send(.watch(since: nil), until: Clock.now() + Clock.seconds(5))
        _ = try client.nextLine(until: Clock.now() + Clock.seconds(5))
        isReady.change { $0 = true }
        while let line = try client.nextLine(until: nil) {
          if let event = try? JSONDecoder().decode(Line.self, from: Data(line)) { lines.change { $0.append(event) } }
        }
      } catch {
        // The daemon has ended: so does this thread.
        isReady.change { $0 = true }
      }
    }
    self.thread.withLock { $0 = thread }
    _ = isReady.wait { $0 ? true : nil }
  }

  var all: [Line] { lines.withLock { $0 } }

  func count(_ event: String, _ path: String) -> Int { all.filter { $0.event == event && $0.path == path }.count }
}

/// Small media, made once for all tests.
enum Fixtures {
  static let folder: String = {
    let place = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(place)/fixtures-XXXXXX".utf8CString)
    let folder = unsafe String(cString: mkdtemp(&template))
    unsafe chmod(folder, 0o755)
    return folder
  }()

  /// A clip of one colour, one second, mp4 with its index in front.
  static func clip(_ colour: String, seconds: Int = 1, size: String = "160x90") throws -> String {
    let path = "\(folder)/\(colour)-\(seconds)-\(size).mp4"
    if unsafe access(path, R_OK) == 0 { return path }
    // Other suites may be making the same one at this moment.
    let aside = "\(path).\(UInt32.random(in: 0 ... .max))"
    let child = try Child.spawn(
      FileName("/usr/bin/env"),
      [
        "env", "ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
        "color=\(colour):size=\(size):rate=10:duration=\(seconds)",
        "-c:v", "mpeg4", "-q:v", "5", "-movflags", "+faststart", "-f", "mp4", aside,
      ].map { FileName($0) }, descriptors: [2: 2])
    let ending = try child.wait()
    try #require(ending == .exited(0), "ffmpeg made no clip")
    try unsafe #require(rename(aside, path) == 0)
    return path
  }
}
