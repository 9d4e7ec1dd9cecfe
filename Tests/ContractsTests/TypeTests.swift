import Contracts
import Posix
import Testing

/// Types, what they conform to, and how they are asked for.
@Suite struct TypeTests {
  private func type(_ ending: String) throws -> MediaType { try #require(MediaTypes.byExtension(ending)) }

  private func matches(_ word: String, _ type: MediaType?) throws -> Bool {
    var selector = TypeSelector()
    let isKnown = selector.add(word)
    try #require(isKnown)
    return selector.matches(type)
  }

  @Test(arguments: [
    ("video", "mov", true), ("image", "mov", false), ("public.movie", "mkv", true), ("public.movie", "mp3", false),
    ("public.audio", "flac", true), ("public.audiovisual-content", "mp3", true), ("public.image", "cr2", true),
    ("public.camera-raw-image", "cr2", true), ("public.data", "rar", true), ("public.item", "mp4", true),
    ("com.adobe.pdf", "pdf", true), ("COM.Adobe.PDF", "pdf", true), ("public.text", "srt", true),
    ("org.openxmlformats.openxml", "docx", true), ("org.openxmlformats.*", "xlsx", true),
    ("org.openxmlformats.*", "odt", false), ("video/*", "webm", true), ("video/*", "png", false),
    ("image/jpeg", "jpg", true), ("*.mov", "mov", true), ("*.mov", "mp4", false), ("*", "zip", true),
    ("public.mpeg-4", "m4v", true), ("public.archive", "zip", true), ("*-word*", "docx", false),
  ])
  func aWordSelects(word: String, ending: String, isIt: Bool) throws {
    if word == "*-word*" {
      var selector = TypeSelector()
      let isKnown = selector.add(word)
      #expect(!isKnown)
      return
    }
    #expect(try matches(word, try type(ending)) == isIt)
  }

  @Test func whatNobodyKnowsIsDataAndNothingElse() throws {
    #expect(try matches("public.data", nil))
    #expect(try !matches("public.movie", nil) && !matches("document", nil))
    let odd = MediaType(kind: .video, identifier: "com.example.odd", mime: "video/x-odd")
    #expect(try matches("public.movie", odd) && matches("com.example.odd", odd) && matches("video/*", odd))
    #expect(TypeSelector().matches(nil))
    var selector = TypeSelector()
    for word in ["film", "", "*.nothing", "mp4"] {
      let isKnown = selector.add(word)
      #expect(!isKnown, "\(word)")
    }
    #expect(selector.isEmpty)
  }

  @Test func everyListedTypeIsData() {
    for (type, endings) in MediaTypes.listed {
      #expect(TypeTree.conforms(type, to: "public.data"), "\(type.identifier)")
      #expect(TypeTree.conforms(type, to: TypeTree.root(of: type.kind)), "\(type.identifier)")
      #expect(!endings.isEmpty)
    }
  }
}
