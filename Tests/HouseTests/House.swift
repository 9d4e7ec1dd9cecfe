import Foundation

/// The project as it lies in its folder.
enum House {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Every file of the project, by its path from the root; what is built and what git keeps left out.
  static func files() throws -> [String] {
    guard let all = FileManager.default.enumerator(atPath: root.path) else { throw CocoaError(.fileReadUnknown) }
    var files: [String] = []
    for case let path as String in all {
      let name = path.split(separator: "/").last ?? ""
      if name == ".git" || name.hasPrefix(".build") {
        all.skipDescendants()
        continue
      }
      var isFolder: ObjCBool = false
      _ = unsafe FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
      if !isFolder.boolValue { files.append(path) }
    }
    return files.sorted()
  }

  static func lines(_ path: String) throws -> [String] {
    // Read as bytes: a picture among the files is not text, and nothing to stumble over.
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }
}
