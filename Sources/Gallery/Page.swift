import Catalog
import Contracts
import Posix

/// One page: style and script, and what stands in the folder as data between them. It asks for nothing but the files of the share.
enum Page {
  static func make<Failure: Error>(
    _ folder: PageFolder, of share: FileName, asset: (PageItem) throws(Failure) -> Asset?
  ) throws(Failure) -> [UInt8] {
    let name = escaped(folder.path.isRoot ? share.bytes : folder.path.bytes[...])
    let depth = folder.path.components.count
    // The page stands one folder deeper than the folder that it shows.
    var documents = [UInt8]((0...depth).flatMap { _ in Array("../".utf8) })
    for component in folder.path.components { documents += percent(component) + [UInt8(ascii: "/")] }

    var text = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; media-src 'self' file:; \
      style-src 'unsafe-inline'; script-src 'unsafe-inline'">
      <meta name="referrer" content="no-referrer">
      <meta name="generator" content="sharefs">
      <title>\(html(name))</title>
      <style>\(PageStyle.text)</style>
      </head>
      <body>
      <script>
      const FOLDER = {name: \(script(name)), documents: \(script(String(decoding: documents, as: UTF8.self))),
      up: \(!folder.path.isRoot), folders: [
      """
    for name in folder.folders { text += "[\(script(escaped(name.bytes))),\(script(link(name)))]," }
    text += "]};\nconst ITEMS = [\n"
    for item in folder.items { text += line(item, try item.isOpen ? asset(item) : nil) }
    text +=
      "];\n\(PageScript.text)</script>\n<noscript><p>The gallery needs JavaScript; the pictures beside this page do not.</p></noscript>\n"
    text += "</body>\n</html>\n"
    return Array(text.utf8)
  }

  /// One item as a list: name, document, picture, kind, size, modified, seconds, width, height, verdict, reason.
  private static func line(_ item: PageItem, _ asset: Asset?) -> String {
    let facts = asset?.facts
    let kind = facts?.type?.kind ?? MediaTypes.byName(item.document).kind
    let verdict =
      switch asset?.verdict {
      case .incomplete: "incomplete"
      case .invalid: "invalid"
      case .unsupported: "unsupported"
      case .ready, nil: ""
      }
    let fields = [
      script(escaped(item.document.bytes)), script(link(item.document)), script(link(item.picture)),
      script("\(kind)"), "\(item.size)", "\(item.modified.nanoseconds / 1_000_000_000)",
      facts?.duration.flatMap { $0.isFinite ? "\(($0 * 10).rounded() / 10)" : nil } ?? "0",
      "\(facts?.width ?? 0)", "\(facts?.height ?? 0)", script(verdict),
      script(verdict.isEmpty ? "" : asset?.reason ?? ""),
    ]
    return "[\(fields.joined(separator: ","))],\n"
  }

  // MARK: Escaping

  /// A name as a part of a link: bytes that are no plain letter, digit or `-._~` are escaped, so every name Linux allows can be followed.
  private static func percent(_ name: FileName) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    var link: [UInt8] = []
    for byte in name.bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        link.append(byte)
      default: link += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return link
  }

  private static func link(_ name: FileName) -> String { String(decoding: percent(name), as: UTF8.self) }

  /// A string of JavaScript, in quotes, that ends neither itself nor the script that it stands in.
  static func script(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\", "<", ">", "&", "'": quoted += hex(scalar)
      default:
        if scalar.value < 0x20 || scalar.value == 0x2028 || scalar.value == 0x2029 {
          quoted += hex(scalar)
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  static func html(_ text: String) -> String {
    text.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      default: String(character)
      }
    }.joined()
  }
}
