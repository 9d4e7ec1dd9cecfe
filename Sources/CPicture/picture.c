#include "CPicture.h"

#include <stdlib.h>
#include <string.h>

#include "deflate.h"

static uint32_t crc(const uint8_t *bytes, size_t length) {
  // Four bits at a time: a table of 16 numbers, and no state to be made first.
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t sum = 0xffffffff;
  for (size_t place = 0; place < length; place++) {
    sum = table[(sum ^ bytes[place]) & 15] ^ sum >> 4;
    sum = table[(sum ^ bytes[place] >> 4) & 15] ^ sum >> 4;
  }
  return ~sum;
}

static void write_number(uint8_t *bytes, uint32_t number) {
  for (int place = 0; place < 4; place++) bytes[place] = (uint8_t)(number >> (24 - 8 * place));
}

/// A chunk's length and name; its content follows.
static bool open_chunk(struct sink *sink, const char *name) {
  if (!sink_reserve(sink, 8)) return false;
  memcpy(sink->bytes + sink->length + 4, name, 4);
  sink->length += 8;
  return true;
}

/// - start: where it was opened.
static bool close_chunk(struct sink *sink, size_t start) {
  if (!sink_reserve(sink, 4)) return false;
  size_t length = sink->length - start - 8;
  if (length > INT32_MAX) return false;
  write_number(sink->bytes + start, (uint32_t)length);
  write_number(sink->bytes + sink->length, crc(sink->bytes + start + 4, length + 4));
  sink->length += 4;
  return true;
}

static bool add(struct sink *sink, const void *bytes, size_t length) {
  if (!sink_reserve(sink, length)) return false;
  memcpy(sink->bytes + sink->length, bytes, length);
  sink->length += length;
  return true;
}

/// Every row as its differences from the pixel to the left: of all fixed filters the one that suits photographs best.
static uint8_t *filtered(const uint8_t *rgb, size_t row, size_t height) {
  uint8_t *all = malloc((row + 1) * height), *to = all;
  if (!all) return NULL;
  for (size_t each = 0; each < height; each++, rgb += row) {
    *to++ = 1;
    memcpy(to, rgb, 3);
    for (size_t place = 3; place < row; place++) to[place] = (uint8_t)(rgb[place] - rgb[place - 3]);
    to += row;
  }
  return all;
}

size_t cpicture_png(const uint8_t *rgb, uint32_t width, uint32_t height, uint8_t **out) {
  static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  if (width == 0 || height == 0 || width > 1 << 16 || height > 1 << 16) return 0;
  size_t row = (size_t)width * 3, start = 0;
  uint8_t header[13] = {[8] = 8, [9] = 2};
  write_number(header, width);
  write_number(header + 4, height);
  struct sink sink = {0};
  uint8_t *rows = filtered(rgb, row, height);
  bool is_done = rows && add(&sink, signature, sizeof signature);
  start = sink.length;
  is_done = is_done && open_chunk(&sink, "IHDR") && add(&sink, header, sizeof header) && close_chunk(&sink, start);
  start = sink.length;
  is_done = is_done && open_chunk(&sink, "IDAT") && deflate_quickly(&sink, rows, (row + 1) * height) && close_chunk(&sink, start);
  start = sink.length;
  is_done = is_done && open_chunk(&sink, "IEND") && close_chunk(&sink, start);
  free(rows);
  if (!is_done) {
    free(sink.bytes);
    return 0;
  }
  *out = sink.bytes;
  return sink.length;
}
