import CLinux
import Contracts
import Glibc
import Posix

/// A document's bytes, read at a place and never by a shared position. The descriptor stays its owner's.
final class Source {
  /// Bytes, when the job began.
  let size: Int64
  /// After it nothing is read any more, so that no file holds a worker until it is killed.
  let deadline: Clock.Instant
  /// The place of the next sequential read; libav's.
  var position: Int64 = 0
  /// Set when the disk did not give what it has.
  private(set) var failure: Errno?

  private let raw: CInt

  init(_ raw: CInt, deadline: Clock.Instant) throws(MediaError) {
    self.raw = raw
    self.deadline = deadline
    let facts: (kind: FileKind?, size: Int64)
    do throws(Errno) { facts = try FileStatus.kindAndSize(of: raw) } catch {
      throw .damaged("The file cannot be examined: \(error).")
    }
    guard facts.kind == .regular else { throw .unsupported("It is not a regular file.") }
    size = facts.size
  }

  var isLate: Bool { Clock.now() > deadline }

  /// Reads up to `buffer.count` bytes; fewer only at the end.
  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    guard offset >= 0 else { return 0 }
    let raw = raw
    var done = 0
    while done < buffer.count {
      let got: Int
      do throws(Errno) {
        got = try check {
          unsafe pread(raw, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
        }
      } catch {
        failure = error
        throw error
      }
      if got == 0 { break }
      done += got
    }
    return done
  }

  /// The bytes from `offset` on, fewer than `count` at the end of the file or where it cannot be read (see `failure`).
  func bytes(at offset: Int64, _ count: Int) -> Bytes {
    let most = Int(clamping: min(Int64(count), size - offset))
    guard offset >= 0, most > 0 else { return Bytes([]) }
    return Bytes(
      unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, filled in
        do throws(Errno) {
          filled = try unsafe read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
        } catch { filled = 0 }
      })
  }

  /// The last bytes, at most `count`.
  func tail(_ count: Int) -> Bytes { bytes(at: max(0, size - Int64(count)), count) }
}

/// Bytes of a file with numbers in them; what lies beyond the end is nil.
struct Bytes {
  let all: [UInt8]
  init(_ all: [UInt8]) { self.all = all }

  var count: Int { all.count }

  subscript(_ place: Int) -> UInt8? { place >= 0 && place < all.count ? all[place] : nil }

  func big(_ place: Int, _ length: Int) -> UInt64? {
    guard place >= 0, length <= 8, place <= all.count - length else { return nil }
    return all[place..<place + length].reduce(0) { $0 << 8 | UInt64($1) }
  }

  func little(_ place: Int, _ length: Int) -> UInt64? {
    guard place >= 0, length <= 8, place <= all.count - length else { return nil }
    return all[place..<place + length].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  func has(_ text: StaticString, at place: Int = 0) -> Bool {
    let length = text.utf8CodeUnitCount
    guard place >= 0, place <= all.count - length else { return false }
    return unsafe all[place..<place + length].elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: length))
  }

  func has(_ bytes: [UInt8], at place: Int = 0) -> Bool {
    place >= 0 && place <= all.count - bytes.count && all[place..<place + bytes.count].elementsEqual(bytes)
  }

  /// The last place at which `text` stands.
  func last(_ text: StaticString) -> Int? {
    var place = all.count - text.utf8CodeUnitCount
    while place >= 0 {
      if has(text, at: place) { return place }
      place -= 1
    }
    return nil
  }

  func first(_ text: StaticString) -> Int? {
    unsafe all.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      let place = unsafe memmem(start, bytes.count, text.utf8Start, text.utf8CodeUnitCount)
      return unsafe place.map { unsafe UnsafeRawPointer($0) - start }
    }
  }

  var isZeros: Bool { !all.isEmpty && all.allSatisfy { $0 == 0 } }
}
