import Catalog
import Contracts
import Posix
import Testing

/// What `list` finds, by words that few names have and by words that nearly all have.
@Suite struct SearchTests {
  private let book: Book
  private let reader: CatalogReader

  init() throws {
    let book = try Book()
    try book.act { catalog, effects throws(CatalogError) in
      for number in 0..<10_100 {
        let name = number % 1000 == 7 ? "Odd one \(number).mp4" : "Clip \(number).mp4"
        let document = Document(file: book.file(UInt64(number + 1)), path: SharePath("trip \(number % 2)/\(name)")!)
        try catalog.settle(document, book.stamp(Int64(number)), &effects)
      }
    }
    self.book = book
    reader = try #require(try CatalogReader(folder: book.folder.path))
  }

  private func index() throws {
    try book.act { catalog, _ throws(CatalogError) in try catalog.indexMarkedNames(most: 20_000) }
    #expect(book.catalog.markedNames == 0)
  }

  private func found(_ ask: (inout Search) -> Void) throws -> [String] {
    var search = Search()
    ask(&search)
    var all: [String] = []
    try reader.find(search) { one in
      all.append("\(one.path)")
      return true
    }
    return all
  }

  /// Also while the index does not know of the names yet.
  @Test(arguments: [false, true]) func wordsOfFewAndOfMany(isIndexed: Bool) throws {
    if isIndexed { try index() }
    let all = try found { _ in }
    #expect(all.count == 10_100)
    let odd = all.filter { $0.contains("Odd") }
    #expect(odd.count == 11)
    #expect(try found { $0.substring = "oDD" } == odd)
    #expect(try found { $0.prefix = "odd one" } == odd)
    #expect(try found { $0.substring = "dd" } == odd)
    // More than ten thousand have it.
    #expect(try found { $0.substring = ".mp4" } == all)
    #expect(try found { $0.prefix = "CLIP" } == all.filter { $0.contains("Clip") })
    #expect(try found { $0.prefix = "lip" } == [])
    #expect(
      try found {
        $0.substring = ".mp4"
        $0.folder = SharePath("trip 1")!
      } == all.filter { $0.hasPrefix("trip 1/") })
  }

  @Test func whatIsRenamedAndRemovedSince() throws {
    try index()
    try book.rename(8, path("trip 1/Odd one 7.mp4"), path("trip 1/Even.mp4"))
    try book.unlink(path("trip 1/Odd one 1007.mp4"), 1008)
    #expect(book.catalog.markedNames > 0)
    for _ in 0..<2 {
      #expect(try found { $0.substring = "odd" }.count == 9)
      #expect(try found { $0.substring = "even" } == ["trip 1/Even.mp4"])
      try index()
    }
  }

  @Test func sortedAndByPages() throws {
    let bySize = (0..<10_100).map { number in
      "trip \(number % 2)/\(number % 1000 == 7 ? "Odd one" : "Clip") \(number).mp4"
    }
    #expect(try found { $0.order = .size } == bySize)
    #expect(
      try found {
        $0.order = .size
        $0.isReversed = true
        $0.offset = 10
        $0.limit = 5
      } == bySize.reversed().dropFirst(10).prefix(5).map { $0 })
    #expect(try found { $0.order = .name }.first == "trip 0/Clip 0.mp4")
    #expect(try found { $0.limit = 0 } == [])
  }
}
