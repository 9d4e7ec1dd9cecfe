import Contracts
import Posix
import Testing

@testable import Pipeline

/// The picture index by itself.
@Suite struct IndexTests {
  private func file(_ inode: UInt64, birth: Int64 = 1) -> FileID {
    FileID(volume: 0, inode: inode, birth: FileTime(nanoseconds: birth))
  }

  private let stamp = ContentStamp(size: 1, modified: FileTime(nanoseconds: 1), changed: FileTime(nanoseconds: 1))

  /// A table of a million has at most 2^21 rooms, of a key and an entry each.
  @Test func aMillionEntriesStayBelowAHundredMegabytes() {
    let room = MemoryLayout<UInt64>.stride + MemoryLayout<ThumbnailIndex.Entry>.stride
    #expect(room * (1 << 21) + (1 << 21) / 8 < 100_000_000)
  }

  @Test func aRecycledInodeDoesNotShowTheOldPicture() throws {
    let index = ThumbnailIndex(store: ThumbnailStore(folder: FileName("/nowhere"), box: .standard))
    let old = Document(file: file(7, birth: 1), path: path("a.mp4"))
    let new = Document(file: file(7, birth: 2), path: path("b.mp4"))
    #expect(index.note(.settled(old, stamp), isTemporary: false))
    #expect(index.note(.settled(new, stamp), isTemporary: false))
    // The writer comes to the old one only now.
    index.applied(old.file)
    #expect(index.picture(volume: 0, inode: 7) == .making(previous: nil))
    index.applied(new.file)
    #expect(index.picture(volume: 0, inode: 7) == .unknown)
  }

  @Test func everyNotedChangeMustBeApplied() throws {
    let index = ThumbnailIndex(store: ThumbnailStore(folder: FileName("/nowhere"), box: .standard))
    let document = Document(file: file(7), path: path("a.mp4"))
    for _ in 0..<3 { #expect(index.note(.settled(document, stamp), isTemporary: false)) }
    // Known already: being asked for changes nothing.
    #expect(!index.note(.seen(document, stamp), isTemporary: false))
    for _ in 0..<2 { index.applied(document.file) }
    #expect(index.picture(volume: 0, inode: 7) == .making(previous: nil))
    #expect(!index.note(.removed(document, .regular, wasLast: true), isTemporary: false))
    #expect(index.picture(volume: 0, inode: 7) == .unknown)
    index.applied(document.file)
    #expect(index.count == 0)
  }
}
