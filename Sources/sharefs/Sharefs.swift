import Posix

@main struct Sharefs {
  // One call and no closure: what stands here is main-actor code, and dies on any other thread.
  static func main() { runCommand() }
}

/// Reads the arguments, runs the verb, tells what failed.
func runCommand() -> Never {
  do throws(Failure) {
    System.exit(try run(Invocation(System.arguments())).rawValue)
  } catch {
    error.tell()
    System.exit(error.code.rawValue)
  }
}

private func run(_ invocation: Invocation) throws(Failure) -> ExitCode {
  switch invocation {
  case .help(let verb):
    try Output.write(verb.map { Help.of($0) } ?? Help.all)
    return .done
  case .version:
    try Output.write("sharefs \(version)\n")
    return .done
  case .printed(let page):
    try Output.write(page.text)
    return .done
  case .verb(let arguments):
    switch arguments.verb {
    case .mount: return try MountCommand.run(arguments)
    case .umount: return try UmountCommand.run(arguments)
    case .status: return try StatusCommand.run(arguments)
    case .list: return try ListCommand.run(arguments)
    case .info: return try InfoCommand.run(arguments)
    case .watch: return try WatchCommand.run(arguments)
    case .wait: return try WaitCommand.run(arguments)
    case .thumbnail: return try ThumbnailCommand.run(arguments)
    case .rescan: return try RescanCommand.run(arguments)
    case .check: return try CheckCommand.run(arguments)
    case .import: return try ImportCommand.run(arguments)
    case .bookmark: return try BookmarkCommand.run(arguments)
    case .cat: return try CatCommand.run(arguments)
    case .types: return try TypesCommand.run(arguments)
    }
  }
}
