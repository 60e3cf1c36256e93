/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache: what took long to read is stored in the user's cache directory, and shown from there the next time. A file
 * has what was published of one trace (cache_file.h). doc/slices.md describes it.
 *
 *     c = cache_new(&place, paths, model, since_ns);
 *     if (cache_find(c, &variant)) {
 *             ... cache_next() ... all that is in it
 *     } else {
 *             cache_begin(c, &variant);
 *             ... cache_add() ... all that is published
 *             cache_finish(c, fits);
 *     }
 *     cache_free(c);
 *
 * A file belongs to one state of the trace: the key has the path, inode, size and times of each of its files. A trace
 * that is still written, or that changes while it is read, is not stored. A file is written under another name, synced
 * and renamed. What is found is checked before any of it is used. Errors in storing are never fatal: cache_message()
 * says what happened. One thread.
 */
#ifndef BLK_RUN_CACHE_H
#define BLK_RUN_CACHE_H

#include "run/cache_key.h"
#include "state/store/publication.h"

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
 * `model`: a text with all that the result depends on besides trace and program. since_ns: CLOCK_REALTIME before the
 * first file of the trace was read. NULL: nothing is stored or found, as there is no directory; or as files were
 * written shortly before since_ns. Borrows `place`.
 */
struct cache *cache_new(const struct cache_place *place, const char *const *paths, const char *model, int64_t since_ns);
void cache_free(struct cache *c);	/* removes what is not finished; NULL is fine */

/* Is there a file of a run like that, or of one with any other memory that was enough? */
bool cache_find(struct cache *c, const struct cache_variant *v);
/* The next publication of the file that was found. NULL: that was all, or *error. */
struct publication *cache_next(struct cache *c, GError **error);
uint64_t cache_bytes(const struct cache *c);	/* of the file that was found, without cells of seconds */

/* Begins to write a file, instead of one that was not found. */
void cache_begin(struct cache *c, const struct cache_variant *v);
/* Adds what is published next, which does not change. Does nothing if no file is being written. */
void cache_add(struct cache *c, struct publication *p);
/* Everything was added. fits: nothing was dropped because memory was short (model_has_forgotten()). */
void cache_finish(struct cache *c, bool fits);

/* What happened so far, for the log file (g_free); NULL: nothing. */
char *cache_message(const struct cache *c);

#endif
