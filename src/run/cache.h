/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache of slices: what took long to read is stored in the user's cache directory, and read from there the next
 * time. A file has the slices of all pieces of one trace, made with the same options. doc/slices.md describes it.
 *
 *     c = cache_new(&place, paths, model, since_ns);
 *     if (!cache_find(c, cells, without_spans))
 *             cache_begin(c, cells, without_spans);
 *     ... of each piece, on any thread: cache_load(c, i, ...), else read it and cache_store(c, ...) ...
 *     cache_finish(c);
 *     cache_free(c);
 *
 * A file belongs to one state of the trace: the key has the path, inode, size and times of each of its files. A trace
 * that is still written, or that changes while it is read, is not stored. A file is written under another name, synced
 * and renamed. What is found is checked; a piece that is damaged is read from the trace. Errors are never fatal:
 * cache_message() says what happened.
 */
#ifndef BLK_RUN_CACHE_H
#define BLK_RUN_CACHE_H

#include "state/slice/slice.h"

#include <glib.h>

struct cache_place {
	char *dir;		/* owned; NULL: no cache */
	uint64_t most;		/* bytes of all files in it; the oldest are removed first */
	int64_t after_ns;	/* what is read faster than that is not stored */
};

/* XDG_CACHE_HOME/blktop; g_free(). */
char *cache_default_dir(void);
/* Makes the directory if it is missing. False, *error: it cannot be used. */
bool cache_make_dir(const char *dir, GError **error);

struct cache;
/*
 * `model`: a text with all that the slices depend on besides the trace and the program. since_ns: CLOCK_REALTIME before
 * the first file of the trace was read. NULL: nothing is stored or found, as there is no directory; or as files were
 * written shortly before since_ns. Borrows `place`.
 */
struct cache *cache_new(const struct cache_place *place, const char *const *paths, const char *model, int64_t since_ns);
void cache_free(struct cache *c);	/* removes what is not finished; NULL is fine */

/* Is there a file of a run with these options (slice_read_cells(), slice_without_spans())? */
bool cache_find(struct cache *c, uint32_t cells, bool without_spans);
/* The number of its pieces, and the instants between them: fills ret[0 .. n - 2], if it is not NULL. */
size_t cache_pieces(const struct cache *c, int64_t *ret);
uint64_t cache_bytes(const struct cache *c);	/* of all its pieces */
/* The i-th piece. NULL: it is damaged, and must be read. Any thread. */
struct slice *cache_load(struct cache *c, size_t i, int64_t step_ns, uint32_t cells, bool without_spans);

/* Begins to write a file, instead of one that was not found. */
void cache_begin(struct cache *c, uint32_t cells, bool without_spans);
/* Stores the slice of [from, to), which was read; the slice does not change. Any thread, pieces in any order. Does
 * nothing if no file is being written. */
void cache_store(struct cache *c, struct slice *s, int64_t from, int64_t to);
/* All pieces were loaded or stored. */
void cache_finish(struct cache *c);

/* What happened so far, for the log file (g_free); NULL: nothing. */
char *cache_message(struct cache *c);

#endif
