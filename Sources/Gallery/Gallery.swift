import Catalog
public import Contracts
public import Posix

/// Makes the pages that stand in `.thumbs`, from what the catalog knows.
public final class Gallery: Pages {
  private let catalog: FileName
  private let share: FileName
  private let reporter: any Reporter

  /// - Parameters:
  ///   - catalog: the folder of the share's catalog.
  ///   - share: how the share is called.
  public init(catalog: FileName, share: FileName, reporter: any Reporter) {
    self.catalog = catalog
    self.share = share
    self.reporter = reporter
  }

  public func page(of folder: PageFolder) -> [UInt8] {
    do throws(CatalogError) {
      // Opened for each page: a reader kept open would keep the catalog's log from being cut.
      let reader = try CatalogReader(folder: catalog)
      return try Page.make(folder, of: share) { item throws(CatalogError) in try reader?.asset(of: item.file) }
    } catch {
      reporter.report(.warning, "The page of \(folder.path) tells no durations and reasons. \(error)")
      return Page.make(folder, of: share) { _ in nil }
    }
  }
}
