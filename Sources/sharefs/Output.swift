import Control
import Posix

/// The standard output and error output, written with write(2).
enum Output {
  static func write(_ text: String) throws(Failure) { try write(Array(text.utf8)) }

  static func write(_ bytes: [UInt8]) throws(Failure) {
    try explain(.usage, "The output cannot be written") { () throws(Errno) in try System.write(1, bytes) }
  }

  /// To the standard error output. Nobody is left to be told when that fails.
  static func complain(_ text: String) { try? System.write(2, Array(text.utf8)) }

  /// One JSON object on a line of its own.
  static func json(_ value: some Encodable) throws(Failure) { try write(try line(of: value)) }

  static func line(of value: some Encodable) throws(Failure) -> [UInt8] {
    do { return try JSONLine.encode(value) } catch { throw Failure(.usage, "This cannot be said in JSON: \(error).") }
  }
}

/// Rows of text in columns, for people. On a terminal the column that may shrink gives way, from its left end, so that each row
/// stays one line; in a pipe nothing is cut.
struct Table {
  enum Side { case left, right }

  private let sides: [Side]
  private let shrinking: Int
  private var rows: [[String]] = []

  /// - Parameter shrinking: the column that gives way.
  init(_ sides: [Side], shrinking: Int) {
    self.sides = sides
    self.shrinking = shrinking
  }

  mutating func row(_ cells: [String]) { rows.append(cells) }

  /// - Parameter columns: the terminal's; nil for none.
  func text(columns: Int?) -> String {
    var widths = sides.map { _ in 0 }
    for row in rows { for (index, cell) in row.enumerated() { widths[index] = max(widths[index], width(of: cell)) } }
    if let columns {
      let others = widths.enumerated().reduce(0) { $0 + ($1.offset == shrinking ? 0 : $1.element + 2) }
      widths[shrinking] = min(widths[shrinking], max(12, columns - others))
    }
    // Bytes, not characters: there may be a hundred thousand rows.
    let blank = UInt8(ascii: " ")
    var text: [UInt8] = []
    for row in rows {
      for (index, cell) in row.enumerated() {
        let cell = index == shrinking ? cut(cell, to: widths[index]) : cell
        let space = repeatElement(blank, count: max(0, widths[index] - width(of: cell)))
        if index > 0 { text += [blank, blank] }
        if sides[index] == .right { text += space }
        text += cell.utf8
        if sides[index] == .left { text += space }
      }
      while text.last == blank { text.removeLast() }
      text.append(UInt8(ascii: "\n"))
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func cut(_ text: String, to most: Int) -> String {
    if width(of: text) <= most { return text }
    var kept: [Character] = []
    var used = 1
    for character in text.reversed() {
      used += width(of: String(character))
      if used > most { break }
      kept.append(character)
    }
    return "…" + String(kept.reversed())
  }
}

/// Columns that a terminal gives to a text.
func width(of text: String) -> Int {
  if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text.utf8.count }
  return text.unicodeScalars.reduce(0) { width, scalar in
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return width
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
      return width + 2
    default: return width + 1
    }
  }
}
