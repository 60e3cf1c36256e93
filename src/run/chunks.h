/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the packets of slice files: a slice file names the directories that it was made from, and these may have been
 * moved. A directory is looked for by its name in others, which the user names.
 */
#ifndef BLK_RUN_CHUNKS_H
#define BLK_RUN_CHUNKS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct chunks_range { int64_t from, to; };	/* ns; INT64_MIN, INT64_MAX: no bound */

/* What the slice files are of: *ret_piece, all records of which they have; *ret_first, *ret_last: first and last event,
 * ns. False: *error. */
bool chunks_bounds(const char *const *slices, struct chunks_range *ret_piece, int64_t *ret_first, int64_t *ret_last,
		   GError **error);

/* The directories of the slice files that are in `dirs`, or are one of these, as new strings with a NULL at the end.
 * NULL and *error, with their names: some that have packets of the range are not there. */
GPtrArray *chunks_find(const char *const *slices, const char *const *dirs, const struct chunks_range *range,
		       GError **error);

#endif
