import Contracts
import Glibc
import Pipeline
import Posix

/// `sharefs thumbnail`: the picture of a file that need not stand in a share, for thumbnailers of the desktop and for scripts.
enum ThumbnailCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let box: Box
    if let size = try arguments.number("size", in: 16...Int64(Frame.largestEdge)) {
      box = Box(width: Int(size), height: Int(size))
    } else {
      box = .standard
    }
    let path = try local(arguments.operands[0])
    let output = try local(arguments.operands[1])
    for one in [path, output] { try MountTable.now().share(around: Paths.absolute(one))?.mustNotBeSilent() }
    let file = try explain(.noSuchThing, "\(path)") { () throws(Errno) in
      try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
    }
    let status = try explain(.noSuchThing, "\(path)") { () throws(Errno) in try file.status() }
    guard status.kind == .regular else { throw Failure(.noSuchThing, "\(path) is no regular file.") }
    let worker = try Daemonize.worker()
    let result: Examination.Result
    do throws(PipelineError) {
      result = try Examination.run(worker: worker, document: file.raw, name: path.lastComponent, box: box)
    } catch {
      throw Failure(.notWhole, "\(path) has no thumbnail. \(error.what)")
    }
    guard let picture = result.picture else {
      if result.outcome.verdict == .ready {
        throw Failure(.notWhole, "\(path) has no thumbnail: it is no video, photo or audio.")
      }
      let reason = result.outcome.reason.isEmpty ? "" : " \(escaped(Array(result.outcome.reason.utf8)))"
      throw Failure(.notWhole, "\(path) has no thumbnail: it is \(result.outcome.verdict).\(reason)")
    }
    try explain(.usage, "\(output) cannot be written") { () throws(Errno) in
      try Files.replace(output, with: picture, mode: 0o644)
    }
    return .done
  }

  /// A path, or the path of a `file:` URL.
  private static func local(_ word: FileName) throws(Failure) -> FileName {
    guard word.hasPrefix("file://") else { return word }
    let rest = Array(word.bytes.dropFirst(7))
    // A host may stand before the path; only this one is meant.
    let start = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    let host = String(decoding: rest[..<start], as: UTF8.self)
    guard host.isEmpty || host == "localhost", let path = AssetURL.decodedBytes(Array(rest[start...])), !path.isEmpty
    else { throw .usage("\"\(word)\" is no URL of a file of this machine.", .thumbnail) }
    return FileName(path)
  }
}
