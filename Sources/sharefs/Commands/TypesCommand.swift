import Contracts
import Control
import Posix

/// `sharefs types`: what `--type` takes.
enum TypesCommand {
  static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
    let selector = try TypeSelector(words: arguments.operands, .types)
    let listed = MediaTypes.listed.filter { selector.matches($0.type) }
    if arguments.has("json") {
      for (type, endings) in listed { try Output.json(Line(type, endings)) }
      return .done
    }
    var table = Table([.left, .left, .left, .left], shrinking: 3)
    for (type, endings) in listed {
      table.row([type.kind.word, type.identifier, type.mime, endings.joined(separator: " ")])
    }
    try Output.write(table.text(columns: System.columns(1)))
    return .done
  }

  private struct Line: Encodable {
    let kind: String
    let type: String
    let mime: String
    let extensions: [String]
    let conformsTo: [String]

    private enum CodingKeys: String, CodingKey {
      case kind, type, mime, extensions
      case conformsTo = "conforms_to"
    }

    init(_ type: MediaType, _ endings: [String]) {
      kind = type.kind.word
      self.type = type.identifier
      mime = type.mime
      extensions = endings
      conformsTo = Array(TypeTree.ancestors(of: type.identifier, kind: type.kind).dropFirst())
    }
  }
}
