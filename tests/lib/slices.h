/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices of recordings, and slices through files. */
#ifndef BLK_TESTS_SLICES_H
#define BLK_TESTS_SLICES_H

#include "lib/sources.h"
#include "state/slice/slice_file.h"

#define SLICES_STEP INT64_C(1000000000)

/* The slice of records [from, to), with the losses that are open at `from`. It knows all hosts of the recording. Its
 * seconds are SLICES_STEP long. */
struct slice *slices_of(const struct recording *r, size_t from, size_t to, bool from_start);
/* Record numbers at which an instant begins, in order: 0, n - 1 random ones, the end. */
GArray *slices_random_cuts(const struct recording *r, unsigned n);
/* The number of the first record at or after the instant. */
size_t slices_record_at(const struct recording *r, int64_t ts);

/* What slice_file_write() writes. NULL: *error. */
GByteArray *slices_bytes(struct slice *s, const struct slice_piece *piece, GError **error);
/* Reads a slice file from memory. NULL: *error. */
struct slice *slices_from_bytes(const uint8_t *bytes, size_t n, GError **error);
/* Writes the slice, frees it, reads it again; asserts that both have the same bytes. */
struct slice *slices_through_file(struct slice *s);
/* The same for a slice that may have packs (pack.h); the result has packs, which stay in the file. */
struct slice *slices_packed(struct slice *s);
/* As it is, or through a file, or with packs (pack.h) in a file, at random. Unpack it before anything but merging. */
struct slice *slices_at_random(struct slice *s);

#endif
