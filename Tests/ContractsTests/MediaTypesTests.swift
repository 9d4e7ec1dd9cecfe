import Contracts
import Posix
import Testing

@Suite struct MediaTypesTests {
  @Test(arguments: [
    ("clip.mp4", MediaKind.video, "public.mpeg-4", "video/mp4"),
    ("CLIP.MOV", .video, "com.apple.quicktime-movie", "video/quicktime"),
    ("a.b.mkv", .video, "org.matroska.mkv", "video/x-matroska"),
    ("photo.JPEG", .image, "public.jpeg", "image/jpeg"), ("anim.gif", .image, "com.compuserve.gif", "image/gif"),
    ("song.flac", .audio, "org.xiph.flac", "audio/flac"), ("paper.pdf", .document, "com.adobe.pdf", "application/pdf"),
    (
      "talk.pptx", .document, "org.openxmlformats.presentationml.presentation",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    ), ("README", .document, "public.data", "application/octet-stream"),
    (".mp4", .document, "public.data", "application/octet-stream"),
    ("odd.", .document, "public.data", "application/octet-stream"),
  ])
  func aNameClaimsItsType(name: String, kind: MediaKind, identifier: String, mime: String) {
    #expect(MediaTypes.byName(FileName(name)) == MediaType(kind: kind, identifier: identifier, mime: mime))
  }

  @Test func namesThatAreNoTextHaveATypeToo() {
    #expect(MediaTypes.byName(FileName([0xff, 0xfe] + Array(".mp4".utf8))).kind == .video)
    #expect(MediaTypes.byName(FileName(Array("a.".utf8) + [0xff, 0xfe])) == MediaTypes.unknown)
  }
}
