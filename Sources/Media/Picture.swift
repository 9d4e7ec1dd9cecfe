import Contracts
import Glibc
import Posix

/// PNG files, one behind the other, in the memory file that came with a job.
struct PictureWriter {
  private let raw: CInt
  private var offset = 0

  init(_ raw: CInt) { self.raw = raw }

  mutating func write(_ raster: Raster) throws(MediaError) -> Outcome.Drawn {
    let bytes = PNGFile.encode(raster)
    let length = bytes.count
    var done = 0
    let (raw, offset) = (raw, offset)
    while done < length {
      do throws(Errno) {
        done += try unsafe bytes.withUnsafeBufferPointer { bytes throws(Errno) in
          try check { unsafe pwrite(raw, bytes.baseAddress! + done, length - done, off_t(offset + done)) }
        }
      } catch { throw .unsupported("The picture cannot be stored: \(error).") }
    }
    self.offset += length
    return Outcome.Drawn(width: raster.width, height: raster.height, offset: offset, length: length)
  }
}
