public import Posix

/// The types of document that are known, by the extensions that name them. A name is only a hint: what a document is, its
/// content decides (see `TypeDetection` in Media). The daemon chooses a placeholder by name before a worker has looked.
public enum MediaTypes {
  /// What a name without a known extension says.
  public static let unknown = MediaType(
    kind: .document, identifier: "public.data", mime: "application/octet-stream")

  /// The type that a file's name claims.
  public static func byName(_ name: FileName) -> MediaType {
    claimed(byName: name) ?? unknown
  }

  /// The type that a file's name claims; nil when its extension says nothing.
  public static func claimed(byName name: FileName) -> MediaType? {
    fileExtension(of: name).flatMap { table[$0] }
  }

  /// - Parameter name: in lower case, without the dot.
  public static func byExtension(_ name: String) -> MediaType? { table[name] }

  /// In lower case, without the dot; nil when there is none, or one that no known type has.
  public static func fileExtension(of name: FileName) -> String? {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot > name.bytes.startIndex else { return nil }
    let ending = name.bytes[(dot + 1)...]
    guard (1...8).contains(ending.count), ending.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    return String(decoding: ending, as: UTF8.self).lowercased()
  }

  /// All that are known, each with the extensions that name it, in lower case.
  public static let listed: [(type: MediaType, extensions: [String])] = {
    var listed: [(MediaType, [String])] = []
    for (kind, lines) in [
      (MediaKind.video, videos), (.image, images), (.audio, audios), (.document, documents),
    ] {
      for line in lines.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        listed.append((MediaType(kind: kind, identifier: words[0], mime: words[1]), Array(words.dropFirst(2))))
      }
    }
    return listed
  }()

  public static var all: [MediaType] { listed.map(\.type) }

  private static let table: [String: MediaType] = {
    var table: [String: MediaType] = [:]
    for (type, extensions) in listed { for name in extensions { table[name] = type } }
    return table
  }()

  // Each line: uniform type identifier, MIME type, extensions. Where Apple declares no identifier for a type, the one that its
  // owner or VLC declares stands.
  private static let videos = """
    public.mpeg-4 video/mp4 mp4 mpg4 mp4v
    com.apple.m4v-video video/x-m4v m4v
    com.apple.quicktime-movie video/quicktime mov qt
    org.matroska.mkv video/x-matroska mkv mk3d
    org.webmproject.webm video/webm webm
    public.avi video/x-msvideo avi divx
    public.mpeg-2-transport-stream video/mp2t ts m2t mts m2ts trp
    public.mpeg video/mpeg mpg mpeg mpe m1v m2v
    public.mpeg-2-video video/mpeg vob mod
    com.microsoft.windows-media-wmv video/x-ms-wmv wmv
    com.microsoft.advanced-systems-format video/x-ms-asf asf
    com.adobe.flash.video video/x-flv flv
    com.adobe.flash.video video/x-f4v f4v
    org.xiph.ogg.video video/ogg ogv ogm
    public.3gpp video/3gpp 3gp 3gpp
    public.3gpp2 video/3gpp2 3g2 3gp2
    public.dv-movie video/x-dv dv dif
    org.smpte.mxf application/mxf mxf
    com.real.realmedia application/vnd.rn-realmedia rm rmvb
    com.adobe.flash.swf application/x-shockwave-flash swf
    org.webmproject.ivf video/x-ivf ivf
    public.h264 video/h264 h264 264 avc
    public.hevc video/h265 h265 265 hevc
    org.yuv4mpeg.y4m video/x-yuv4mpeg y4m
    org.ffmpeg.nut video/x-nut nut
    org.itu.h261 video/h261 h261
    org.itu.h263 video/h263 h263 263
    com.adobe.filmstrip video/x-filmstrip flm
    """

  private static let images = """
    public.jpeg image/jpeg jpg jpeg jpe jfif jls
    public.png image/png png apng
    com.compuserve.gif image/gif gif
    org.webmproject.webp image/webp webp
    public.tiff image/tiff tif tiff
    com.microsoft.bmp image/bmp bmp dib
    public.jpeg-xl image/jxl jxl
    public.avif image/avif avif
    public.heic image/heic heic heics
    public.heif image/heif heif hif
    public.jpeg-2000 image/jp2 jp2 j2k jpx
    public.svg-image image/svg+xml svg
    com.microsoft.ico image/vnd.microsoft.icon ico
    com.adobe.photoshop-image image/vnd.adobe.photoshop psd
    com.truevision.tga-image image/x-tga tga
    public.pbm image/x-portable-anymap ppm pgm pbm pnm pam pfm phm
    com.ilm.openexr-image image/x-exr exr
    org.qoiformat.qoi image/qoi qoi
    com.microsoft.dds image/vnd.ms-dds dds
    com.sgi.sgi-image image/x-sgi sgi
    gov.nasa.gsfc.fits image/fits fits fit fts
    org.smpte.dpx image/x-dpx dpx
    com.zsoft.pcx image/vnd.zbrush.pcx pcx
    com.sun.raster-image image/x-sun-raster ras sun im1 im8 im24 im32
    public.xbitmap-image image/x-xbitmap xbm
    public.xpixmap-image image/x-xpixmap xpm
    public.xwindowdump-image image/x-xwindowdump xwd
    com.canon.cr2-raw-image image/x-canon-cr2 cr2
    com.canon.cr3-raw-image image/x-canon-cr3 cr3
    com.nikon.raw-image image/x-nikon-nef nef
    com.sony.arw-raw-image image/x-sony-arw arw
    com.adobe.raw-image image/x-adobe-dng dng
    com.fuji.raw-image image/x-fuji-raf raf
    com.olympus.raw-image image/x-olympus-orf orf
    com.panasonic.rw2-raw-image image/x-panasonic-rw2 rw2
    com.pentax.raw-image image/x-pentax-pef pef
    """

  private static let audios = """
    public.mp3 audio/mpeg mp3 mp2 mpga
    public.mpeg-4-audio audio/mp4 m4a m4b m4r
    org.xiph.flac audio/flac flac
    org.xiph.ogg-audio audio/ogg ogg oga spx
    org.xiph.opus audio/ogg opus
    com.microsoft.waveform-audio audio/wav wav wave w64
    public.aiff-audio audio/aiff aiff aif aifc
    public.aac-audio audio/aac aac adts
    com.microsoft.windows-media-wma audio/x-ms-wma wma
    public.ac3-audio audio/ac3 ac3 eac3
    org.matroska.mka audio/x-matroska mka
    com.apple.coreaudio-format audio/x-caf caf
    public.au-audio audio/basic au snd
    org.3gpp.adaptive-multi-rate-audio audio/amr amr
    com.monkeysaudio.ape audio/x-ape ape
    com.wavpack.wv audio/x-wavpack wv
    com.dts.audio audio/vnd.dts dts
    public.midi-audio audio/midi mid midi
    """

  private static let documents = """
    com.adobe.pdf application/pdf pdf
    com.microsoft.word.doc application/msword doc dot
    com.microsoft.excel.xls application/vnd.ms-excel xls
    com.microsoft.powerpoint.ppt application/vnd.ms-powerpoint ppt
    org.openxmlformats.wordprocessingml.document \
    application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
    org.openxmlformats.spreadsheetml.sheet \
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
    org.openxmlformats.presentationml.presentation \
    application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
    org.oasis-open.opendocument.text application/vnd.oasis.opendocument.text odt
    org.oasis-open.opendocument.spreadsheet application/vnd.oasis.opendocument.spreadsheet ods
    org.oasis-open.opendocument.presentation application/vnd.oasis.opendocument.presentation odp
    org.idpf.epub-container application/epub+zip epub
    public.plain-text text/plain txt text log conf ini
    net.daringfireball.markdown text/markdown md markdown
    public.rtf text/rtf rtf
    public.html text/html html htm
    public.xml application/xml xml
    com.adobe.xmp application/rdf+xml xmp
    public.json application/json json
    public.comma-separated-values-text text/csv csv
    public.yaml application/yaml yaml yml
    org.videolan.srt application/x-subrip srt
    org.w3.webvtt text/vtt vtt
    public.m3u-playlist audio/x-mpegurl m3u m3u8
    public.zip-archive application/zip zip
    org.gnu.gnu-zip-archive application/gzip gz tgz
    public.tar-archive application/x-tar tar
    org.7-zip.7-zip-archive application/x-7z-compressed 7z
    com.microsoft.ole-storage application/x-ole-storage ole
    com.rarlab.rar-archive application/vnd.rar rar
    com.adobe.postscript application/postscript ps eps
    """
}
