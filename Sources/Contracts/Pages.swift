public import Posix

/// A document as its folder's page shows it.
public struct PageItem: Hashable, Sendable {
  public let document: FileName
  /// Its picture's name in the view.
  public let picture: FileName
  public let file: FileID
  /// Bytes.
  public let size: Int64
  public let modified: FileTime
  /// Whether everybody who may read the page may read the document. If not, the page tells what a listing tells, and no more.
  public let isOpen: Bool

  public init(
    document: FileName, picture: FileName, file: FileID, size: Int64, modified: FileTime, isOpen: Bool
  ) {
    self.document = document
    self.picture = picture
    self.file = file
    self.size = size
    self.modified = modified
    self.isOpen = isOpen
  }
}

/// What stands in a folder of the view, for its page.
public struct PageFolder: Hashable, Sendable {
  public let path: SharePath
  public let folders: [FileName]
  public let items: [PageItem]

  public init(path: SharePath, folders: [FileName], items: [PageItem]) {
    self.path = path
    self.folders = folders
    self.items = items
  }
}

/// Makes the pages of folders.
public protocol Pages: AnyObject, Sendable {
  /// A page, whole, in HTML. It may wait for the catalog: called from a thread that does nothing else.
  func page(of folder: PageFolder) -> [UInt8]
}
