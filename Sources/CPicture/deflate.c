#include "deflate.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum {
  most_tokens = 1 << 14,
  hash_bits = 13,
  farthest = 32768,
  longest = 258,
  shortest = 4,
  literals = 286,
  distances = 30,
  longest_code = 15,
};

bool sink_reserve(struct sink *sink, size_t more) {
  if (more <= sink->room - sink->length) return true;
  size_t room = sink->room * 2 > sink->length + more ? sink->room * 2 : sink->length + more;
  uint8_t *bytes = realloc(sink->bytes, room);
  if (!bytes) return false;
  sink->bytes = bytes;
  sink->room = room;
  return true;
}

/// Bits go out lowest first.
struct bits {
  uint64_t held;
  unsigned count;
  uint8_t *out;
};

/// At most 48 at once; the caller has reserved the room.
static inline void put(struct bits *bits, uint64_t value, unsigned count) {
  bits->held |= value << bits->count;
  bits->count += count;
  // Eight bytes are written and as many kept as are full; the rest is written over.
  uint64_t little = htole64(bits->held);
  memcpy(bits->out, &little, sizeof little);
  bits->out += bits->count >> 3;
  bits->held >>= bits->count & ~7u;
  bits->count &= 7;
}

struct code {
  uint16_t bits[literals];
  uint8_t length[literals];
};

struct symbol {
  uint32_t count;
  uint16_t which;
};

static int by_count(const void *a, const void *b) {
  const struct symbol *left = a, *right = b;
  if (left->count != right->count) return left->count < right->count ? -1 : 1;
  return left->which < right->which ? -1 : 1;
}

/// Huffman's lengths, none longer than `limit`.
static void measure(const uint32_t *counts, int symbols, int limit, uint8_t *lengths) {
  struct symbol sorted[literals];
  int used = 0;
  memset(lengths, 0, (size_t)symbols);
  for (int each = 0; each < symbols; each++)
    if (counts[each]) sorted[used++] = (struct symbol){counts[each], (uint16_t)each};
  // A code of one word has one bit all the same.
  if (used < 2) {
    lengths[used ? sorted[0].which : 0] = 1;
    return;
  }
  qsort(sorted, (size_t)used, sizeof *sorted, by_count);

  // Leaves first, then what joins two of the lightest; both come in order of weight.
  uint64_t weight[2 * literals];
  uint16_t parent[2 * literals];
  uint8_t depth[2 * literals];
  for (int each = 0; each < used; each++) weight[each] = sorted[each].count;
  int leaf = 0, joint = used;
  for (int next = used; next < 2 * used - 1; next++) {
    weight[next] = 0;
    for (int child = 0; child < 2; child++) {
      int lightest = leaf < used && (joint >= next || weight[leaf] <= weight[joint]) ? leaf++ : joint++;
      weight[next] += weight[lightest];
      parent[lightest] = (uint16_t)next;
    }
  }
  int have[32] = {0};
  depth[2 * used - 2] = 0;
  for (int each = 2 * used - 3; each >= 0; each--) {
    // No deeper than 31 with fewer than 2^32 words; what is too long is put right below.
    depth[each] = (uint8_t)(depth[parent[each]] + 1);
    if (each < used) have[depth[each] < limit ? depth[each] : limit]++;
  }
  // Kraft: too many long words are paid for by making a shorter one longer.
  uint64_t sum = 0;
  for (int length = 1; length <= limit; length++) sum += (uint64_t)have[length] << (limit - length);
  for (; sum > (uint64_t)1 << limit; sum--) {
    have[limit]--;
    for (int length = limit - 1; length > 0; length--)
      if (have[length]) {
        have[length]--;
        have[length + 1] += 2;
        break;
      }
  }
  int each = 0;
  for (int length = limit; length > 0; length--)
    for (int left = have[length]; left > 0; left--) lengths[sorted[each++].which] = (uint8_t)length;
}

/// The words that belong to the lengths, in the order in which they go out.
static void name(struct code *code, int symbols) {
  uint16_t next[longest_code + 2] = {0};
  for (int each = 0; each < symbols; each++) next[code->length[each] + 1]++;
  next[1] = 0;
  for (int length = 1; length <= longest_code; length++) next[length + 1] = (uint16_t)((next[length + 1] + next[length]) << 1);
  for (int each = 0; each < symbols; each++) {
    uint16_t word = next[code->length[each]]++, turned = 0;
    for (int bit = 0; bit < code->length[each]; bit++) turned |= (uint16_t)((word >> bit & 1) << (code->length[each] - 1 - bit));
    code->bits[each] = turned;
  }
}

struct part {
  uint16_t symbol;
  uint8_t extra;
  uint16_t rest;
};

/// RFC 1951, 3.2.5.
static inline struct part of_length(unsigned length) {
  unsigned value = length - 3;
  if (length == longest) return (struct part){285, 0, 0};
  if (value < 8) return (struct part){(uint16_t)(257 + value), 0, 0};
  unsigned extra = 29 - (unsigned)__builtin_clz(value);
  return (struct part){(uint16_t)(257 + (extra << 2) + (value >> extra)), (uint8_t)extra, (uint16_t)(value & ((1u << extra) - 1))};
}

static inline struct part of_distance(unsigned distance) {
  unsigned value = distance - 1;
  if (value < 4) return (struct part){(uint16_t)value, 0, 0};
  unsigned extra = 30 - (unsigned)__builtin_clz(value);
  return (struct part){(uint16_t)((extra << 1) + (value >> extra)), (uint8_t)extra, (uint16_t)(value & ((1u << extra) - 1))};
}

/// A literal is its byte; a match has the top bit, its length, and its distance less one.
static const uint32_t match_mark = 1u << 31;

struct block {
  uint32_t tokens[most_tokens];
  size_t count;
  uint32_t literal[literals], distance[distances];
};

/// RFC 1951, 3.2.7: the lengths of both codes, themselves in a code.
static void put_codes(struct bits *bits, const struct code *literal, const struct code *distance) {
  static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t all[literals + distances];
  memcpy(all, literal->length, literals);
  memcpy(all + literals, distance->length, distances);
  uint8_t symbols[literals + distances], extras[literals + distances];
  uint32_t counts[19] = {0};
  int used = 0;
  for (int place = 0; place < literals + distances;) {
    int run = 1;
    while (place + run < literals + distances && all[place + run] == all[place] && run < 138) run++;
    if (all[place] == 0 && run >= 3) {
      symbols[used] = run < 11 ? 17 : 18;
      extras[used++] = (uint8_t)(run - (run < 11 ? 3 : 11));
      place += run;
    } else {
      symbols[used] = all[place++];
      extras[used++] = 0;
      // The same length up to six times more.
      while (--run >= 3) {
        int more = run < 6 ? run : 6;
        symbols[used] = 16;
        extras[used++] = (uint8_t)(more - 3);
        place += more;
        run -= more - 1;
      }
    }
  }
  for (int each = 0; each < used; each++) counts[symbols[each]]++;
  struct code code;
  measure(counts, 19, 7, code.length);
  name(&code, 19);
  put(bits, literals - 257, 5);
  put(bits, distances - 1, 5);
  put(bits, 19 - 4, 4);
  for (int each = 0; each < 19; each++) put(bits, code.length[order[each]], 3);
  for (int each = 0; each < used; each++) {
    put(bits, code.bits[symbols[each]], code.length[symbols[each]]);
    if (symbols[each] >= 16) put(bits, extras[each], symbols[each] == 16 ? 2 : symbols[each] == 17 ? 3 : 7);
  }
}

static bool put_block(struct sink *sink, struct bits *bits, struct block *block, bool is_last) {
  // A match takes 48 bits at most, the codes less than 500 bytes.
  if (!sink_reserve(sink, block->count * 6 + 1024)) return false;
  bits->out = sink->bytes + sink->length;
  struct code literal, distance;
  block->literal[256] = 1;
  measure(block->literal, literals, longest_code, literal.length);
  measure(block->distance, distances, longest_code, distance.length);
  name(&literal, literals);
  name(&distance, distances);
  put(bits, is_last ? 1 : 0, 1);
  put(bits, 2, 2);
  put_codes(bits, &literal, &distance);
  for (size_t each = 0; each < block->count; each++) {
    uint32_t token = block->tokens[each];
    if (!(token & match_mark)) {
      put(bits, literal.bits[token], literal.length[token]);
      continue;
    }
    struct part length = of_length(token >> 16 & 0x1ff), far = of_distance((token & 0xffff) + 1);
    put(bits, literal.bits[length.symbol] | (uint64_t)length.rest << literal.length[length.symbol],
        literal.length[length.symbol] + length.extra);
    put(bits, distance.bits[far.symbol] | (uint64_t)far.rest << distance.length[far.symbol],
        distance.length[far.symbol] + far.extra);
  }
  put(bits, literal.bits[256], literal.length[256]);
  sink->length = (size_t)(bits->out - sink->bytes);
  block->count = 0;
  memset(block->literal, 0, sizeof block->literal);
  memset(block->distance, 0, sizeof block->distance);
  return true;
}

static uint32_t adler(const uint8_t *bytes, size_t length) {
  uint32_t a = 1, b = 0;
  while (length > 0) {
    // As many as cannot overflow.
    size_t some = length < 5552 ? length : 5552;
    length -= some;
    while (some-- > 0) b += a += *bytes++;
    a %= 65521;
    b %= 65521;
  }
  return b << 16 | a;
}

static inline uint32_t four(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static unsigned alike(const uint8_t *left, const uint8_t *right, size_t most) {
  unsigned count = 0;
  while (count + 4 <= most && four(left + count) == four(right + count)) count += 4;
  while (count < most && left[count] == right[count]) count++;
  return count;
}

bool deflate_quickly(struct sink *sink, const uint8_t *bytes, size_t length) {
  struct block *block = calloc(1, sizeof *block);
  // The place after the last one with that hash; 0 is none.
  uint32_t *seen = calloc((size_t)1 << hash_bits, sizeof *seen);
  struct bits bits = {0};
  bool is_done = false;
  if (!block || !seen || length >= UINT32_MAX || !sink_reserve(sink, 2)) goto done;
  sink->bytes[sink->length++] = 0x78;
  sink->bytes[sink->length++] = 0x01;
  for (size_t place = 0; place < length;) {
    unsigned count = 0, far = 0;
    if (length - place >= shortest) {
      uint32_t now = four(bytes + place);
      uint32_t *before = &seen[now * 2654435761u >> (32 - hash_bits)];
      size_t candidate = *before;
      *before = (uint32_t)place + 1;
      if (candidate && place + 1 - candidate <= farthest && four(bytes + candidate - 1) == now) {
        far = (unsigned)(place + 1 - candidate);
        size_t most = length - place < longest ? length - place : longest;
        count = shortest + alike(bytes + place + shortest, bytes + candidate - 1 + shortest, most - shortest);
        // Four bytes from afar cost more than four literals.
        if (count < 6 && far > 4096) count = 0;
      }
    }
    if (count) {
      block->tokens[block->count++] = match_mark | count << 16 | (far - 1);
      block->literal[of_length(count).symbol]++;
      block->distance[of_distance(far).symbol]++;
      place += count;
    } else {
      block->tokens[block->count++] = bytes[place];
      block->literal[bytes[place++]]++;
    }
    if (block->count == most_tokens && place < length && !put_block(sink, &bits, block, false)) goto done;
  }
  if (!put_block(sink, &bits, block, true) || !sink_reserve(sink, 16)) goto done;
  bits.out = sink->bytes + sink->length;
  if (bits.count) put(&bits, 0, 8 - bits.count);
  uint32_t sum = adler(bytes, length);
  for (int shift = 24; shift >= 0; shift -= 8) *bits.out++ = (uint8_t)(sum >> shift);
  sink->length = (size_t)(bits.out - sink->bytes);
  is_done = true;
done:
  free(seen);
  free(block);
  return is_done;
}
