import Control
import Glibc
import Posix

/// Starts the daemon as a process of its own and waits for its word.
enum Daemonize {
  /// The number by which the daemon knows the pipe.
  static let readyNumber: CInt = 3

  /// Runs this program again with `arguments` and the hidden `--ready-fd`, in a session of its own.
  /// - Returns: when the mount answers.
  static func start(_ arguments: [FileName]) throws(Failure) {
    let (message, ending) = try explain(.mountFailed, "The daemon cannot be started") { () throws(Errno) in
      try System.pipe { (reading, writing) throws(Errno) in try run(arguments, reading, writing) }
    }
    if let message, message.code == 0 { return }
    if let message {
      throw Failure(ExitCode(rawValue: message.code) ?? .mountFailed, message.sentence, hint: message.hint)
    }
    let how: String
    switch ending {
    case .exited(let code)?: how = "ended with exit code \(code)"
    case .killed(let signal)?: how = "was killed by signal \(signal)"
    case nil: how = "said something that this version does not understand"
    }
    throw Failure(
      .mountFailed, "The daemon \(how) before the mount answered.",
      hint: "Try `sharefs mount --foreground`, which shows what it says.")
  }

  private static func run(
    _ arguments: [FileName], _ reading: consuming Descriptor, _ writing: consuming Descriptor
  ) throws(Errno) -> (ReadyPipe.Message?, Child.Ending?) {
    let child = try Child.spawn(
      program, arguments, descriptors: [readyNumber: writing.raw], folder: FileName("/"), session: true)
    try writing.close()
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      var chunk = [UInt8](repeating: 0, count: 4096)
      let got = try unsafe chunk.withUnsafeMutableBufferPointer { chunk throws(Errno) in
        try unsafe reading.read(into: UnsafeMutableRawBufferPointer(chunk))
      }
      if got == 0 { break }
      line += chunk[..<got]
    }
    if line.isEmpty { return (nil, try child.wait()) }
    return (try? JSONLine.decode(ReadyPipe.Message.self, line), nil)
  }

  /// The program that runs, by its path, so that `ps` and `pidof` know it; when the file was replaced, by the kernel's link.
  static var program: FileName {
    let link = FileName("/proc/self/exe")
    guard let path = try? Files.target(link), Files.mayAccess(path, X_OK) else { return link }
    return path
  }

  /// The worker beside this program, or in ../libexec/sharefs as installed.
  static func worker() throws(Failure) -> FileName {
    let folder = program.parent ?? FileName("/")
    let places = [folder.appending("sharefs-worker"), folder.appending("../libexec/sharefs/sharefs-worker")]
    if let found = places.first(where: { Files.mayAccess($0, X_OK) }) { return found }
    throw Failure(
      .mountFailed, "The program sharefs-worker, which makes the pictures, is missing.",
      hint: "It belongs beside \(program); build or install sharefs again.")
  }
}
