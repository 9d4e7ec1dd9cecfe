import Glibc
import Posix
import Testing

@testable import sharefs

/// A folder of a test's own, removed with everything in it when the test is over.
struct TemporaryFolder: ~Copyable {
  let path: FileName

  init() throws {
    let base = System.environment("TMPDIR") ?? FileName("/tmp")
    path = base.appending("sharefs-command-\(ProcessTable.own)-\(UInt64.random(in: 0 ... .max))")
    try Files.makeFolder(path, mode: 0o755)
  }

  deinit { Self.remove(path) }

  func make(_ name: String) throws -> FileName {
    let folder = path.appending(name)
    try Files.makeFolders(folder)
    return folder
  }

  private static func remove(_ folder: FileName) {
    for name in (try? Files.names(in: folder)) ?? [] {
      let whole = folder.appending(name)
      do { try Files.remove(whole) } catch { remove(whole) }
    }
    try? Files.removeFolder(folder)
  }
}

/// The built program, which stands beside the program of the tests.
enum Program {
  struct Result {
    let ending: Child.Ending
    let output: String
    let complaint: String

    var code: Int32? { if case .exited(let code) = ending { code } else { nil } }
  }

  static func path(_ name: String = "sharefs") throws -> FileName {
    let own = try Files.target(FileName("/proc/self/exe"))
    return try #require(own.parent).appending(name)
  }

  /// - Parameters:
  ///   - user: another one to run as, when the tests run as root.
  ///   - environment: besides that of the tests.
  static func run(_ arguments: [String], user: UInt32? = nil, environment: [String] = []) throws -> Result {
    try run(arguments.map { FileName($0) }, user: user, environment: environment)
  }

  static func run(_ arguments: [FileName], user: UInt32? = nil, environment: [String] = []) throws -> Result {
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let complaint = folder.path.appending("err")
    let to = try Descriptor.open(output, O_WRONLY | O_CREAT, mode: 0o600)
    let complaints = try Descriptor.open(complaint, O_WRONLY | O_CREAT, mode: 0o600)
    var words = [FileName("/usr/bin/env")] + environment.map { FileName($0) }
    if let user { words += ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"].map { FileName($0) } }
    let child = try Child.spawn(
      FileName("/usr/bin/env"), words + [try path()] + arguments, descriptors: [1: to.raw, 2: complaints.raw])
    let ending = try child.wait()
    return Result(
      ending: ending, output: String(decoding: try Files.read(output, limit: 1 << 24), as: UTF8.self),
      complaint: String(decoding: try Files.read(complaint, limit: 1 << 24), as: UTF8.self))
  }
}

/// The failure that `body` ends with.
func failure(_ body: () throws(Failure) -> Void) -> Failure? {
  do throws(Failure) {
    try body()
    return nil
  } catch { return error }
}
