#pragma once
#include <stdint.h>
#include <stddef.h>

/// Makes a PNG of 8-bit RGB rows that follow each other without gaps.
/// Returns its length in bytes and its bytes in `out`, for the caller to free(3); 0 when memory ran out or the size is none.
size_t cpicture_png(const uint8_t *rgb, uint32_t width, uint32_t height, uint8_t **out);
