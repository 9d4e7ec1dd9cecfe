/// Compression as RFC 1951 has it, in as far as filtered rows of a small picture gain by it: runs of one byte, and the codes of
/// Huffman.
enum Deflate {
  /// Literals, then runs by their length from 3 to 258.
  private static let tokens = 256 + 259
  /// Tokens that share a table; as many as one can be fitted to, and few enough to follow a picture from its top to its bottom.
  private static let most = 1 << 15
  private static let endOfBlock = 256

  /// By a run's length its symbol and the bits behind it.
  private static let runs = (0...258).map { run($0) }

  private static func run(_ length: Int) -> (symbol: Int, extra: UInt32, bits: UInt32) {
    if length < 11 { return (254 + max(3, length), 0, 0) }
    if length == 258 { return (285, 0, 0) }
    // Four symbols for each number of extra bits.
    let rest = length - 3
    let bits = rest.bitWidth - rest.leadingZeroBitCount - 3
    return (257 + 4 * bits + rest >> bits, UInt32(rest & (1 << bits - 1)), UInt32(bits))
  }

  static func compress(_ bytes: [UInt8], into out: inout [UInt8]) {
    var writer = BitWriter()
    var tokens = [UInt16](repeating: 0, count: most)
    var place = 0
    while place < bytes.count {
      var counts = [UInt32](repeating: 0, count: Self.tokens)
      let (count, next) = read(bytes, from: place, &tokens, &counts)
      place = next
      write(tokens[..<count], counts, isLast: place == bytes.count, &writer, into: &out)
    }
    writer.end(&out)
  }

  /// - Returns: how many tokens there are now, and where they end in the bytes.
  private static func read(
    _ bytes: [UInt8], from start: Int, _ tokens: inout [UInt16], _ counts: inout [UInt32]
  ) -> (count: Int, next: Int) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe tokens.withUnsafeMutableBufferPointer { tokens in
        unsafe counts.withUnsafeMutableBufferPointer { counts in
          var (count, place) = (0, start)
          while count < most, place < bytes.count {
            let byte = unsafe bytes[place]
            var token = Int(byte)
            var length = 1
            if unsafe place > 0 && bytes[place - 1] == byte {
              let most = min(258, bytes.count - place)
              while unsafe length < most && bytes[place + length] == byte { length += 1 }
              if length < 3 { length = 1 } else { token = 256 + length }
            }
            unsafe tokens[count] = UInt16(truncatingIfNeeded: token)
            unsafe counts[token] += 1
            count += 1
            place += length
          }
          return (count, place)
        }
      }
    }
  }

  /// One block with tables of its own.
  private static func write(
    _ tokens: ArraySlice<UInt16>, _ counts: [UInt32], isLast: Bool, _ writer: inout BitWriter, into out: inout [UInt8]
  ) {
    var symbols = [UInt32](repeating: 0, count: 286)
    symbols.replaceSubrange(..<256, with: counts[..<256])
    symbols[endOfBlock] = 1
    for length in 3...258 { symbols[runs[length].symbol] += counts[256 + length] }
    let code = HuffmanCode(counts: symbols, longest: 15)
    // The last length is that of the only distance there is, 1.
    let lengths = code.lengths + [1]
    var used = [UInt32](repeating: 0, count: 19)
    for length in lengths { used[Int(length)] += 1 }
    let header = HuffmanCode(counts: used, longest: 7)
    // RFC 1951, 3.2.7: 286 symbols, 1 distance, all 19 lengths of the code that the lengths are written in.
    writer.put(isLast ? 1 : 0, 1, &out)
    writer.put(2, 2, &out)
    writer.put(286 - 257, 5, &out)
    writer.put(0, 5, &out)
    writer.put(19 - 4, 4, &out)
    for length in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
      writer.put(UInt32(header.lengths[length]), 3, &out)
    }
    for length in lengths { writer.put(header.codes[Int(length)], UInt32(header.lengths[Int(length)]), &out) }
    // What each token is written as: its bits, and above them how many they are, 21 at most.
    let words: [UInt32] = (0..<Self.tokens).map { token in
      if token < 256 { return code.codes[token] | UInt32(code.lengths[token]) << 24 }
      let (symbol, extra, bits) = runs[token - 256]
      let length = UInt32(code.lengths[symbol])
      // Behind the extra bits the distance, which is one bit of 0.
      return code.codes[symbol] | extra << length | (length + bits + 1) << 24
    }
    writer.put(tokens, words, &out)
    writer.put(code.codes[endOfBlock], UInt32(code.lengths[endOfBlock]), &out)
  }
}

/// Bits one behind the other, the lowest first.
private struct BitWriter {
  private var bits: UInt64 = 0
  private var count: UInt32 = 0

  /// - Parameter count: 24 at most.
  mutating func put(_ value: UInt32, _ count: UInt32, _ out: inout [UInt8]) {
    bits |= UInt64(value) << UInt64(self.count)
    self.count += count
    while self.count >= 8 {
      out.append(UInt8(truncatingIfNeeded: bits))
      bits >>= 8
      self.count -= 8
    }
  }

  /// - Parameter words: what each token is written as, and from bit 24 on how many bits that is, 24 at most.
  mutating func put(_ tokens: ArraySlice<UInt16>, _ words: [UInt32], _ out: inout [UInt8]) {
    out += unsafe [UInt8](unsafeUninitializedCapacity: tokens.count * 3 + 4) { room, filled in
      unsafe words.withUnsafeBufferPointer { words in
        let room = UnsafeMutableRawBufferPointer(room)
        for token in tokens {
          let word = unsafe words[Int(token)]
          bits |= UInt64(word & 0xff_ffff) &<< UInt64(count)
          count &+= word &>> 24
          if count >= 32 {
            unsafe room.storeBytes(
              of: UInt32(truncatingIfNeeded: bits).littleEndian, toByteOffset: filled, as: UInt32.self)
            filled += 4
            bits &>>= 32
            count &-= 32
          }
        }
      }
    }
  }

  mutating func end(_ out: inout [UInt8]) {
    if count > 0 { out.append(UInt8(truncatingIfNeeded: bits)) }
    (bits, count) = (0, 0)
  }
}

/// A code in which what is frequent is short.
struct HuffmanCode {
  /// Bits of each symbol's code; 0 where it does not occur.
  let lengths: [UInt8]
  /// By symbol, the first bit lowest.
  let codes: [UInt32]

  /// - Parameters:
  ///   - counts: how often each symbol occurs; two of them at least do.
  ///   - longest: bits that a code may have.
  init(counts: [UInt32], longest: Int) {
    var counts = counts
    var lengths = Self.lengths(counts)
    // Flatter counts make a flatter tree.
    while Int(lengths.max() ?? 0) > longest {
      counts = counts.map { $0 == 0 ? 0 : $0 >> 1 | 1 }
      lengths = Self.lengths(counts)
    }
    self.lengths = lengths
    // RFC 1951, 3.2.2: codes of one length follow each other.
    var next: UInt32 = 0
    var codes = [UInt32](repeating: 0, count: counts.count)
    for length in 1...longest {
      next <<= 1
      for symbol in lengths.indices where Int(lengths[symbol]) == length {
        codes[symbol] = (0..<length).reduce(0) { $0 | (next >> UInt32($1) & 1) << UInt32(length - 1 - $1) }
        next += 1
      }
    }
    self.codes = codes
  }

  /// The two rarest become one, again and again; what was joined comes out in rising order, so two queues hold all.
  private static func lengths(_ counts: [UInt32]) -> [UInt8] {
    let symbols = counts.indices.filter { counts[$0] > 0 }.sorted { counts[$0] < counts[$1] }
    var weights = symbols.map { counts[$0] }
    var parents = [Int](repeating: 0, count: 2 * symbols.count - 1)
    var (leaf, joined) = (0, symbols.count)
    func rarest() -> Int {
      if leaf < symbols.count, joined == weights.count || weights[leaf] <= weights[joined] {
        leaf += 1
        return leaf - 1
      }
      joined += 1
      return joined - 1
    }
    while weights.count < parents.count {
      let (left, right) = (rarest(), rarest())
      parents[left] = weights.count
      parents[right] = weights.count
      weights.append(weights[left] + weights[right])
    }
    var depths = [UInt8](repeating: 0, count: parents.count)
    for node in depths.indices.dropLast().reversed() { depths[node] = depths[parents[node]] + 1 }
    var lengths = [UInt8](repeating: 0, count: counts.count)
    for (place, symbol) in symbols.enumerated() { lengths[symbol] = depths[place] }
    return lengths
  }
}
