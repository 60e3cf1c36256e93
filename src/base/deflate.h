/* SPDX-License-Identifier: GPL-2.0-only */
/* Compression (raw deflate, RFC 1951) of whole pieces of memory. Any thread. */
#ifndef BLK_BASE_DEFLATE_H
#define BLK_BASE_DEFLATE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFLATE_RATIO 1032u		/* no byte becomes more than this many */

/* Appends the compressed bytes to `out`. */
void deflate_append(GByteArray *out, const uint8_t *bytes, size_t n);
/* Restores exactly `size` bytes to `to`; false: `bytes` are something else. */
bool deflate_restore(const uint8_t *bytes, size_t n, uint8_t *to, size_t size);

#endif
