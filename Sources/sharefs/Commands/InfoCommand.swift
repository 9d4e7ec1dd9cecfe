/// `sharefs info`: everything that is known of a file.
enum InfoCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    throw Failure(.usage, "The parts of this program are not joined yet: it cannot read the catalog.")
  }
}
