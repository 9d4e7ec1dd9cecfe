import Contracts
import Posix

/// Documents that are being written for the first time: the catalog does not know them yet, and they may be renamed, or stand in a folder
/// that is. Whoever waits for one follows it by the events of that.
struct Strangers {
  struct Move: Hashable {
    let from: SharePath
    let to: SharePath
  }

  private var paths: [FileID: SharePath] = [:]

  mutating func enter(_ file: FileID, at path: SharePath) {
    if TemporaryNames.contains(path) { paths[file] = nil } else { paths[file] = path }
  }

  mutating func leave(_ file: FileID) { paths[file] = nil }

  /// Folders got other names, at one time.
  /// - Returns: what that means for each document in them.
  mutating func move(_ folders: [Move]) -> [Move] {
    var moves: [Move] = []
    for (file, path) in paths {
      for folder in folders {
        guard path != folder.from, let now = path.moved(from: folder.from, to: folder.to) else { continue }
        moves.append(Move(from: path, to: now))
        enter(file, at: now)
        break
      }
    }
    return moves.sorted { $0.from.bytes.lexicographicallyPrecedes($1.from.bytes) }
  }
}
