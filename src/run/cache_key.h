/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of the cache (cache.h) belongs to. The name says which trace, by its path, and which options; the digest
 * also says which state of the trace, and which program.
 */
#ifndef BLK_RUN_CACHE_KEY_H
#define BLK_RUN_CACHE_KEY_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES 32		/* of a SHA-256 */
#define CACHE_MS_BYTES 4096	/* bytes that are read in a millisecond, even on a slow machine */

struct cache_key {
	char name[2 * KEY_BYTES + 1];
	uint8_t digest[KEY_BYTES];
	uint64_t bytes;			/* of all files of the trace */
};

/* The key of the trace below the paths. `model`: text with the options. False: there are no files, or one of them was
 * written less than some seconds before since_ns, or later. */
bool cache_key_of(struct cache_key *ret, const char *const *paths, const char *model, int64_t since_ns);
/* What was read of the trace: kinds of cells, and no spans (slice_read_cells(), slice_without_spans()); with this
 * memory for the model (bytes), on which the result depends if it is short. 0: it does not. */
struct cache_variant { uint32_t cells; bool without_spans; size_t memory; };
/* The key of this trace, read like that. */
struct cache_key cache_key_variant(const struct cache_key *key, const struct cache_variant *v);

#endif
