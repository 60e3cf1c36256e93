/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps a part of a trace to a slice, which is merged with others later. A part is a range of time, or rotation chunks.
 *
 * The streams of a rotation chunk end some milliseconds apart. So a chunk's slice ends at one instant, the beginning of
 * the next chunk's first packet, and events at the border are read from the neighbour: the chunks before and after must
 * be in the same directory. Only their packets at the border are decoded. Then slices of neighbours fit exactly.
 */
#ifndef BLK_RUN_MAP_H
#define BLK_RUN_MAP_H

#include "state/slice/slice_file.h"

struct map_plan {
	const char *const *paths;	/* NULL-terminated */
	int64_t from, to;	/* ns: a range, as in struct slice_piece; of chunks only INT64_MIN and INT64_MAX */
	int64_t step_ns;
	bool with_spans;	/* also if this part of the trace has no event that makes spans: others may have some */
	const int *stop;	/* as source_stop_by() takes it */
};

/* ret_piece: the caller clears it. *ret_warning: a line about what cannot be read; *ret_remark: native_remark() (both:
 * g_free, or NULL); ret_remark may be NULL. Returns NULL and sets *error; without an error it was stopped. */
struct slice *map_read(const struct map_plan *plan, struct slice_piece *ret_piece, char **ret_warning,
		       char **ret_remark, GError **error);

/* The range of the events (ns, half-open). */
bool map_bounds(const char *const *paths, int64_t *ret_from, int64_t *ret_to, GError **error);

/* The number of a rotation chunk in its name; -1: it is none. The path of the chunk before it, which is in the same
 * directory (g_free); NULL: there is none. */
int64_t map_chunk_number(const char *path);
char *map_chunk_before(const char *path);

/* The paths of the rotation chunks in a directory, by number (char *, owned by the array). NULL: *error. */
GPtrArray *map_chunks_of(const char *dir, GError **error);

/* The directory of which neighbours of the chunk are read (g_free); NULL: the path is not a rotation chunk's. */
char *map_chunk_parent(const char *path);

#endif
