import CPicture
import Contracts
import Glibc
import Posix

/// PNG files, one behind the other, in the memory file that came with a job.
struct PictureWriter {
  private let raw: CInt
  private var offset = 0

  init(_ raw: CInt) { self.raw = raw }

  mutating func write(_ raster: Raster) throws(MediaError) -> Outcome.Drawn {
    var bytes: UnsafeMutablePointer<UInt8>? = nil
    let length = unsafe raster.pixels.withUnsafeBufferPointer { pixels in
      unsafe cpicture_png(pixels.baseAddress!, UInt32(raster.width), UInt32(raster.height), &bytes)
    }
    guard length > 0, let bytes = unsafe bytes else { throw .noMemory }
    defer { unsafe free(bytes) }
    var done = 0
    let (raw, offset) = (raw, offset)
    while done < length {
      do throws(Errno) {
        done += try check { unsafe pwrite(raw, bytes + done, length - done, off_t(offset + done)) }
      } catch { throw .unsupported("The picture cannot be stored: \(error).") }
    }
    self.offset += length
    return Outcome.Drawn(width: raster.width, height: raster.height, offset: offset, length: length)
  }
}
