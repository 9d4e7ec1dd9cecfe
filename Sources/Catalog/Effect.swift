public import Posix

/// What a change meant for the catalog: to be acted on and announced after the transaction was committed.
public enum Effect: Sendable {
  /// A new content version, pending; the asset may be a new one.
  case version(Asset, at: SharePath)
  /// The asset is what it was, its names aside.
  case same(Asset)
  /// The asset got another file: the document was replaced by a rename over it, or restored.
  case refiled(Asset, from: FileID)
  /// One asset's name changed.
  case moved(Asset, from: SharePath, to: SharePath)
  /// A document that is not catalogued yet changed its name, or went.
  case strangerMoved(from: SharePath, to: SharePath)
  case strangerRemoved(SharePath)
  /// A removed asset is back.
  case restored(Asset, at: SharePath)
  /// A folder's name changed and with it those of all below.
  case folderMoved(from: SharePath, to: SharePath)
  /// A name went or came, the asset stays.
  case unplaced(Asset, SharePath)
  case placed(Asset, SharePath)
  /// The asset went, and with it these names.
  case removed(Asset, [SharePath])
  /// An asset whose names are no longer, or from now on, all temporary.
  case hidden(Asset, Bool)
  /// What stands at this path must be looked at: it may have become a document, by a rename over the file `replaced`.
  case look(SharePath, replaced: FileID? = nil)
  /// All below this folder must be looked at.
  case scan(SharePath)
  /// An asset that no name leads to, whose file may be anywhere: only a scan can tell.
  case doubtful(Asset)
}
