/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What changes in the packs of a slice (state/slice/pack.h) while slices are merged: notes of unresolved time that
 * became known.
 */
#ifndef BLK_STATE_KERNEL_PACK_NOTES_H
#define BLK_STATE_KERNEL_PACK_NOTES_H

#include "state/kernel/slice_state.h"

/* What a thread's unresolved time is. Numbers are the pack's. */
struct pack_note {
	uint32_t thread;
	uint8_t run_part, part;		/* as in struct resolution (unknown_calls.h) */
	uint8_t from;			/* likewise: enum unresolved */
	bool by_fd;			/* blocked on the descriptor, not .part */
	int32_t fd;
	uint64_t seq;			/* of the call; of one before the pack it wraps around */
};

struct pack {
	/* Where the stored bytes are: */
	GByteArray *bytes;		/* or NULL */
	GRefString *path;		/* of a file; or NULL */
	int fd;				/* else of an open file, borrowed */
	uint64_t offset;		/* in the file */

	uint64_t stored, size;		/* bytes in the file, and decoded; equal: not compressed */
	uint32_t checksum;		/* pack_checksum() of the stored bytes */
	uint32_t n_bins;		/* seconds */
	int64_t first, last;		/* ns: coverage of the slice that had it first; INT64_MAX, INT64_MIN: empty */
	uint32_t thread_add, n_threads;	/* the slice's id of its thread 0; it has threads below .n_threads */
	uint64_t seq_add, n_events;	/* likewise of events */
	GArray *hosts, *cpus;		/* uint32_t: the slice's id of each */
	GArray *notes;			/* struct pack_note, in order */
};

/* A thread with unresolved time in a pack. */
struct pack_pending {
	uint32_t thread;		/* the slice's id */
	uint32_t pack;			/* its index */
	uint32_t next;			/* another one of the same thread; ID_NONE */
	uint8_t parts;			/* bits: 1 << enum unresolved; 0: resolved */
};

static inline uint32_t packs_n(const struct packs *p)
{
	return p->all ? p->all->len : 0;
}

/* A new pack without anything. */
struct pack *pack_new(void);
void pack_free(struct pack *p);

/* The slice owns the pack from now on. */
void packs_add(struct packs *p, struct pack *x);
/* x: .next is not set. There is a pack already. */
void packs_add_pending(struct packs *p, struct pack_pending x);
void packs_clear(struct packs *p);

static inline struct pack *pack_at(const struct packs *p, uint32_t i)
{
	return g_ptr_array_index(p->all, i);
}

static inline struct pack_pending *pending_at(const struct packs *p, uint32_t i)
{
	return &g_array_index(p->pending, struct pack_pending, i);
}

/* Time of a thread in packs is resolved. what: the note, with the slice's numbers. */
void packs_resolve(struct slice *s, const struct pack_note *what);

#endif
