#include "CPicture.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct sink {
  uint8_t *bytes;
  size_t length, room;
};

static void put(png_structp png, png_bytep data, size_t length) {
  struct sink *sink = png_get_io_ptr(png);
  if (length > sink->room - sink->length) {
    size_t room = sink->room * 2 > sink->length + length ? sink->room * 2 : sink->length + length + 4096;
    uint8_t *bytes = realloc(sink->bytes, room);
    if (!bytes) png_error(png, "out of memory");
    sink->bytes = bytes;
    sink->room = room;
  }
  memcpy(sink->bytes + sink->length, data, length);
  sink->length += length;
}

static void flush(png_structp png) { (void)png; }
static void quiet(png_structp png, png_const_charp text) { (void)png, (void)text; }
static void leap(png_structp png, png_const_charp text) {
  (void)text;
  png_longjmp(png, 1);
}

size_t cpicture_png(const uint8_t *rgb, uint32_t width, uint32_t height, uint8_t **out) {
  // Held in one place that longjmp leaves alone.
  struct sink *sink = calloc(1, sizeof *sink);
  if (!sink) return 0;
  size_t length = 0;
  png_infop info = NULL;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, leap, quiet);
  if (!png) goto done;
  if (setjmp(png_jmpbuf(png))) goto done;
  info = png_create_info_struct(png);
  if (!info) goto done;
  png_set_write_fn(png, sink, put, flush);
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  // One fixed filter: trying all of them costs three times as much for a few percent of size.
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
  // What the filter leaves is short runs and noise. Looking for repeats farther away, as any other strategy does, costs more
  // time and finds less than it spends on saying where.
  png_set_compression_strategy(png, Z_RLE);
  png_write_info(png, info);
  for (uint32_t row = 0; row < height; row++) png_write_row(png, rgb + (size_t)row * width * 3);
  png_write_end(png, NULL);
  length = sink->length;
done:
  png_destroy_write_struct(&png, &info);
  if (length) *out = sink->bytes;
  else free(sink->bytes);
  free(sink);
  return length;
}
