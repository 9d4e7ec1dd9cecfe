import CLibAV
import Contracts

/// A picture that is put together of tiles of one size, as telephones store theirs (`grid`, ISO/IEC 23008-12, 6.6.2.3).
struct TiledPicture {
  let rows: Int
  let columns: Int
  let width: Int
  let height: Int

  /// - Parameter bytes: the item's own.
  init?(_ bytes: Bytes) {
    let size = (bytes[1] ?? 0) & 1 == 1 ? 4 : 2
    guard bytes[0] == 0, let rows = bytes[2], let columns = bytes[3], let width = bytes.big(4, size),
      let height = bytes.big(4 + size, size), (1...65536).contains(width), (1...65536).contains(height)
    else { return nil }
    (self.rows, self.columns) = (Int(rows) + 1, Int(columns) + 1)
    (self.width, self.height) = (Int(width), Int(height))
  }

  /// - Parameter tile: decodes one, in rows; nil when it cannot be.
  /// - Returns: nil when a tile is missing, or unlike the others.
  func joined(_ tile: (Int) throws(MediaError) -> DecodedFrame?) throws(MediaError) -> DecodedFrame? {
    if Int64(width) * Int64(height) > Decoder.mostPixels { throw .tooManyPixels }
    let whole = try DecodedFrame()
    for number in 0..<rows * columns {
      guard let part = try tile(number) else { return nil }
      if number == 0 {
        guard try prepare(whole, like: part) else { return nil }
      }
      guard copy(part, into: whole, row: number / columns, column: number % columns) else { return nil }
    }
    // The last tiles reach over the edges.
    unsafe whole.pointer.pointee.width = CInt(width)
    unsafe whole.pointer.pointee.height = CInt(height)
    return whole
  }

  private func prepare(_ whole: borrowing DecodedFrame, like tile: borrowing DecodedFrame) throws(MediaError) -> Bool {
    let picture = unsafe tile.pointer.pointee
    let (tileWidth, tileHeight) = unsafe (Int(picture.width), Int(picture.height))
    guard tileWidth > 0, tileHeight > 0, tileWidth * columns >= width, tileHeight * rows >= height,
      Int64(tileWidth * columns) * Int64(tileHeight * rows) <= Decoder.mostPixels
    else { return false }
    unsafe whole.pointer.pointee.format = picture.format
    unsafe whole.pointer.pointee.width = CInt(tileWidth * columns)
    unsafe whole.pointer.pointee.height = CInt(tileHeight * rows)
    guard unsafe av_frame_get_buffer(whole.pointer, 0) >= 0,
      unsafe av_frame_copy_props(whole.pointer, tile.pointer) >= 0
    else { throw .noMemory }
    return true
  }

  private func copy(
    _ tile: borrowing DecodedFrame, into whole: borrowing DecodedFrame, row: Int, column: Int
  ) -> Bool {
    let (from, to) = unsafe (tile.pointer.pointee, whole.pointer.pointee)
    guard unsafe from.format == to.format, unsafe Int(from.width) * columns == Int(to.width),
      unsafe Int(from.height) * rows == Int(to.height),
      let description = unsafe av_pix_fmt_desc_get(AVPixelFormat(rawValue: from.format))
    else { return false }
    let format = unsafe AVPixelFormat(rawValue: from.format)
    let shift = unsafe CInt(description.pointee.log2_chroma_h)
    let sources = unsafe [from.data.0, from.data.1, from.data.2]
    let targets = unsafe [to.data.0, to.data.1, to.data.2]
    let (sourceLines, targetLines) = unsafe (
      [from.linesize.0, from.linesize.1, from.linesize.2], [to.linesize.0, to.linesize.1, to.linesize.2]
    )
    for plane in 0..<3 {
      guard let source = unsafe sources[plane], let target = unsafe targets[plane] else { break }
      let height = unsafe plane == 0 ? from.height : (from.height + (1 << shift) - 1) >> shift
      let width = unsafe av_image_get_linesize(format, from.width, CInt(plane))
      guard width > 0 else { return false }
      let place = Int(height) * row * Int(targetLines[plane]) + Int(width) * column
      unsafe av_image_copy_plane(target + place, targetLines[plane], source, sourceLines[plane], width, height)
    }
    return true
  }
}
