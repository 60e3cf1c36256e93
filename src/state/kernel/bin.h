/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bin: one second under construction. Its cells are in one table for each kind (store/schema.h, built_layout()) and
 * have the slice's ids. publish/ converts a bin into a struct second.
 */
#ifndef BLK_STATE_KERNEL_BIN_H
#define BLK_STATE_KERNEL_BIN_H

#include "state/kernel/slice_state.h"

#include <string.h>

struct bin_slow {		/* one of the slowest calls */
	uint32_t thread, name, cpu;	/* .cpu: CPU number */
	int32_t fd;
	int64_t begin, duration, ret;
	uint64_t seq;		/* of the call's entry */
	uint8_t wait;		/* enum call_wait, as call_wait() tells it */
	uint8_t list;		/* enum slow_list */
};

struct bin {
	int64_t index;		/* floor(ts / step) */
	int64_t after;		/* index of the next bin: more than index + 1 before a void (coverage.h) */
	int64_t begin, end;	/* ns */
	uint32_t version;	/* times published */
	bool dirty;		/* changed since it was last published */
	bool provisional;		/* provisional: published with ids that were unresolved then */
	bool again;		/* publish again if .generation is outdated */
	uint64_t generation;	/* the publisher's generation when it was published */
	struct cell_table table[CELL_KIND_N];	/* by built_layout() */
	uint32_t epoch[CELL_KIND_N];		/* see struct cell_slot */
	GArray *slow[SLOW_LIST_N];		/* struct bin_slow: at most LIMIT_SECOND_CALLS, slowest first */
	int64_t slow_from[SLOW_LIST_N];		/* ns: shorter calls are not listed; 0: there are free entries */
	struct completeness completeness;
};

/* Loops over all calls of all lists. */
#define BIN_EACH_SLOW(b, x) \
	for (unsigned list_of_##x = 0; list_of_##x < SLOW_LIST_N; list_of_##x++) \
		for (struct bin_slow *x = (struct bin_slow *)(void *)(b)->slow[list_of_##x]->data, \
		     *end_of_##x = x + (b)->slow[list_of_##x]->len; x < end_of_##x; x++)
guint bin_n_slow(const struct bin *b);

/* The bin of the instant. It is created if it is missing, and marked dirty. An instant before slice.retained_from
 * counts as late and gets the oldest retained bin. */
struct bin *slice_bin(struct slice *s, int64_t ts);
/* Index of the key's cell in its table; a new cell is zeroed. */
uint32_t bin_cell_at(struct slice *s, struct bin *b, enum cell_kind kind, const void *key);

/* The cell of the key (a struct kind##_key). Inline, so that the sizes are compile-time constants. */
static inline void *bin_cell(struct slice *s, struct bin *b, enum cell_kind kind, const void *key, size_t key_size,
			     size_t size)
{
	struct cell_table *t = &b->table[kind];
	const uint32_t *word = key;
	uint32_t sum = 0;

	if (!slice_reads(s, kind))
		return s->unread[kind].cells;
	g_assert(key_size % sizeof *word == 0);
	for (size_t i = 0; i < key_size / sizeof *word; i++)
		sum = (sum ^ word[i]) * UINT32_C(0x9e3779b1);
	G_STATIC_ASSERT(G_N_ELEMENTS(t->recent) == 1 << (32 - 29));
	uint32_t *at = &t->recent[sum >> 29];
	if (*at >= t->n || memcmp(t->cells + *at * size, key, key_size))
		*at = bin_cell_at(s, b, kind, key);
	return t->cells + *at * size;
}
#define BIN_CELL(s, b, kind, ...) \
	((struct kind##_cell *)bin_cell(s, b, CELL_##kind, &(struct kind##_key){ __VA_ARGS__ }, \
					sizeof(struct kind##_key), sizeof(struct kind##_cell)))
/* The cell of the call's descriptor. A new cell if the descriptor may have changed since the last charge. */
struct built_file_cell *bin_file(struct slice *s, struct bin *b, const struct thread *t, const struct call *call);
void bin_event(struct slice *s, struct bin *b, uint32_t host, uint32_t name, uint64_t count);
void bin_slow(struct bin *b, const struct bin_slow *c);
/* A new, empty bin of the slice, for the steps [index, after); it must not have one of that index. */
struct bin *bin_add(struct slice *s, int64_t index, int64_t after);
void bin_free(struct bin *b);
void bin_drop_cells(struct slice *s, struct bin *b);	/* call it after the last publication */
/* Divides the time of a bin that is not in the slice among the slice's bins of the same steps, and frees it. Nothing
 * happened in it: it was of a void (coverage.h), which is none any more. */
void bin_divide(struct slice *s, struct bin *from);
/* Merging slices: bin_merge() adds `from` to `into` and frees it; bin_adopt() makes b a bin of s. maps: from ids of
 * the old slice to those of s. */
void bin_merge(struct slice *s, struct bin *into, struct bin *from, const struct cell_maps *maps);
void bin_adopt(struct slice *s, struct bin *b, const struct cell_maps *maps);

#endif
