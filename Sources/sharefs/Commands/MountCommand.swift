import Glibc
import Posix

/// `sharefs mount`: the side that the user sees, and the daemon's first steps.
enum MountCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let options = try MountOptions(arguments.values("options"), sloppy: arguments.has("sloppy"))
    if let number = arguments.value("ready-fd") {
      guard number.text == "\(Daemonize.readyNumber)" else {
        throw .usage("\"--ready-fd\" is for sharefs itself.", .mount)
      }
      return serve(arguments, options, ReadyPipe(Daemonize.readyNumber), isDaemon: true)
    }
    let table = try MountTable.now()
    var operands: [FileName] = []
    for operand in arguments.operands {
      do throws(Failure) { operands.append(try Paths.real(operand, table: table)) } catch {
        throw error.code == .usage ? error : Failure(.mountFailed, error.sentence, hint: error.hint)
      }
    }
    if options.isRemount { return try Remount.run(operands.last ?? operands[0], options, arguments.values("options")) }
    var resolved = Arguments(.mount, options: arguments.options, operands: operands)
    if let state = arguments.value("state") {
      resolved = Arguments(
        .mount,
        options: arguments.options.filter { $0.name != "state" } + [
          .init(name: "state", value: try Paths.absolute(state))
        ],
        operands: operands)
    }
    if arguments.has("fake") {
      try Preflight(source: operands[0], mountpoint: operands.last ?? operands[0], options: options).clear()
      return .done
    }
    if arguments.has("foreground") { return serve(resolved, options, ReadyPipe(nil), isDaemon: false) }
    try Daemonize.start(spelled(resolved))
    return .done
  }

  /// The daemon's command line; `ps` shows it.
  private static func spelled(_ arguments: Arguments) -> [FileName] {
    var words = [FileName("sharefs"), FileName("mount"), FileName("--ready-fd=\(Daemonize.readyNumber)")]
    for option in arguments.options where ["options", "state", "verbose"].contains(option.name) {
      words.append(
        FileName(Array("--\(option.name)".utf8) + (option.value.map { Array("=".utf8) + Array($0.bytes) } ?? [])))
    }
    // Passed over by the one who asked for it: the daemon must not find them unknown again.
    if arguments.has("sloppy") { words.append(FileName("--sloppy")) }
    return words + [FileName("--")] + arguments.operands
  }

  private static func serve(
    _ arguments: Arguments, _ options: MountOptions, _ ready: consuming ReadyPipe, isDaemon: Bool
  ) -> ExitCode {
    let plan: MountPlan
    do throws(Failure) {
      plan = try self.plan(arguments, options, isDaemon: isDaemon)
      try RunningShare.announce(plan)
    } catch {
      ready.fail(error)
      return error.code
    }
    defer { RunningShare.withdraw(plan) }
    return runShare(plan, ready: ready)
  }

  private static func plan(_ arguments: Arguments, _ options: MountOptions, isDaemon: Bool) throws(Failure) -> MountPlan
  {
    let source = arguments.operands[0]
    let mountpoint = arguments.operands.last ?? source
    let worker = try Daemonize.worker()
    try Preflight(source: source, mountpoint: mountpoint, options: options).clear()
    let state = arguments.value("state")
    let folders = try StateFolders.own()
    try Preflight.checkState(
      state.map { [$0] } ?? [folders.data, folders.cache, folders.runtime], source: source, mountpoint: mountpoint)
    let folder = try explain(.mountFailed, "The folder \(source) cannot be opened") { () throws(Errno) in
      SharedDescriptor(try Descriptor.open(source, O_PATH | O_DIRECTORY))
    }
    let location = try ShareLocation.claim(folder: folder.raw, path: source, folders: folders, state: state)
    let verbose = arguments.has("verbose")
    let log = try explain(.mountFailed, "The log \(location.log) cannot be written") { () throws(Errno) in
      isDaemon ? try Log(.file(location.log), verbose: verbose) : try Log.foreground(verbose: verbose)
    }
    return MountPlan(
      source: source, sourceFolder: folder, mountpoint: mountpoint, options: options, location: location,
      worker: worker,
      log: log)
  }
}
