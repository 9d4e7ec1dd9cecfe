import Posix

/// What went wrong, as a person is told it: a sentence, what to do, and the exit code.
struct Failure: Error, Hashable {
  let code: ExitCode
  /// What and why, one sentence with its full stop.
  let sentence: String
  /// What to do; nil where there is nothing to say.
  let hint: String?

  init(_ code: ExitCode, _ sentence: String, hint: String? = nil) {
    self.code = code
    self.sentence = sentence
    self.hint = hint
  }

  /// From an error of the system: "WHAT: No such file or directory."
  init(_ code: ExitCode, _ what: String, _ errno: Errno, hint: String? = nil) {
    if errno == .notConnected && code == .noSuchThing {
      // Whether it is there nobody knows.
      self.init(.timedOut, "\(what): the daemon of its share was killed.", hint: "Mount the share again.")
      return
    }
    let isPermission = errno == .access || errno == .notPermitted
    let dead = "The daemon of its share was killed: mount that again, or take it away with `sharefs umount`."
    self.init(
      isPermission && code != .mountFailed ? .permission : code, "\(what): \(errno).",
      hint: hint ?? (errno == .notConnected ? dead : nil))
  }

  static func usage(_ sentence: String, _ verb: Verb? = nil) -> Failure {
    Failure(.usage, sentence, hint: "See `sharefs \(verb.map { "\($0.rawValue) " } ?? "")--help`.")
  }

  /// Writes it to the standard error output.
  func tell() {
    Output.complain("sharefs: \(sentence)\n" + (hint.map { "  \($0)\n" } ?? ""))
  }
}

/// Runs a system call whose error becomes a `Failure` of the given kind.
func explain<Result: ~Copyable>(
  _ code: ExitCode, _ what: @autoclosure () -> String, hint: String? = nil, _ body: () throws(Errno) -> Result
) throws(Failure) -> Result {
  do throws(Errno) { return try body() } catch { throw Failure(code, what(), error, hint: hint) }
}
