/// Which uniform type identifier conforms to which, as Apple declares it: a `public.mpeg-4` is a `public.movie` is `public.data`.
public enum TypeTree {
  /// All identifiers that this one conforms to, itself first, the most general last.
  /// - Parameter kind: of a type that is in no list, for what it conforms to at least.
  public static func ancestors(of identifier: String, kind: MediaKind? = nil) -> [String] {
    var found: [String] = []
    var open = [identifier.lowercased()]
    while let next = open.first {
      open.removeFirst()
      if found.contains(next) { continue }
      found.append(next)
      open += parents[next] ?? (found.count == 1 ? kind.map { [root(of: $0)] } : nil) ?? []
    }
    return found
  }

  public static func conforms(_ type: MediaType, to identifier: String) -> Bool {
    ancestors(of: type.identifier, kind: type.kind).contains(identifier.lowercased())
  }

  /// What all types of a kind conform to.
  public static func root(of kind: MediaKind) -> String {
    switch kind {
    case .video: "public.movie"
    case .image: "public.image"
    case .audio: "public.audio"
    case .document: "public.data"
    }
  }

  /// In lower case. The listed types of a kind conform to its root where nothing else stands here.
  private static let parents: [String: [String]] = {
    var parents: [String: [String]] = [:]
    for type in MediaTypes.all where type.kind != .document {
      parents[type.identifier.lowercased()] = [root(of: type.kind)]
    }
    for type in MediaTypes.all where type.kind == .document { parents[type.identifier.lowercased()] = ["public.data"] }
    for line in declared.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      parents[words[0]] = Array(words.dropFirst())
    }
    return parents
  }()

  // Each line: an identifier, then those that it conforms to.
  private static let declared = """
    public.data public.item
    public.item
    public.content
    public.audiovisual-content public.data public.content
    public.movie public.audiovisual-content
    public.video public.movie
    public.audio public.audiovisual-content
    public.image public.data public.content
    public.camera-raw-image public.image
    public.text public.data public.content
    public.archive public.data
    public.composite-content public.content
    public.plain-text public.text
    public.rtf public.text
    public.html public.text
    public.xml public.text
    public.json public.text
    public.yaml public.text
    public.delimited-values-text public.text
    public.comma-separated-values-text public.delimited-values-text
    public.m3u-playlist public.text
    net.daringfireball.markdown public.plain-text
    org.videolan.srt public.plain-text
    org.w3.webvtt public.plain-text
    com.adobe.xmp public.xml
    com.adobe.pdf public.data public.composite-content
    com.adobe.postscript public.data public.composite-content
    com.microsoft.word.doc public.data public.composite-content
    com.microsoft.excel.xls public.data public.composite-content
    com.microsoft.powerpoint.ppt public.data public.composite-content
    org.openxmlformats.openxml public.data public.composite-content
    org.openxmlformats.wordprocessingml.document org.openxmlformats.openxml
    org.openxmlformats.spreadsheetml.sheet org.openxmlformats.openxml
    org.openxmlformats.presentationml.presentation org.openxmlformats.openxml
    org.oasis-open.opendocument public.data public.composite-content
    org.oasis-open.opendocument.text org.oasis-open.opendocument
    org.oasis-open.opendocument.spreadsheet org.oasis-open.opendocument
    org.oasis-open.opendocument.presentation org.oasis-open.opendocument
    org.idpf.epub-container public.data public.composite-content
    public.zip-archive public.archive
    org.gnu.gnu-zip-archive public.archive
    public.tar-archive public.archive
    org.7-zip.7-zip-archive public.archive
    com.rarlab.rar-archive public.archive
    public.heif public.heif-standard
    public.heic public.heif-standard
    public.heif-standard public.image
    public.svg-image public.image public.xml
    public.mpeg-2-video public.movie public.mpeg
    com.apple.m4v-video public.mpeg-4
    public.3gpp2 public.3gpp
    com.canon.cr2-raw-image public.camera-raw-image
    com.canon.cr3-raw-image public.camera-raw-image
    com.nikon.raw-image public.camera-raw-image
    com.sony.arw-raw-image public.camera-raw-image
    com.adobe.raw-image public.camera-raw-image
    com.fuji.raw-image public.camera-raw-image
    com.olympus.raw-image public.camera-raw-image
    com.panasonic.rw2-raw-image public.camera-raw-image
    com.pentax.raw-image public.camera-raw-image
    """
}
