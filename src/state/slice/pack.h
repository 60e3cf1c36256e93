/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packs: seconds, facts about names and block events of a slice, as compressed bytes. They are most of a slice, and
 * merging only adds to them. So when slice files are merged, packs are copied as they are, and only what is next to the
 * border is decoded:
 *
 *   ids          A pack has its own strings. Threads and events have the pack's numbers, to which a number is added;
 *                hosts and CPUs are in arrays.
 *   unresolved   For each pack it is known which threads have time in calls that began before the slice (schema.h,
 *   time         PART_UNRESOLVED_RUN). When a merge resolves it, the pack gets a note of what it is.
 *   charges      What is charged to a second of a pack goes to a new second of the slice. All are added when they are
 *                read.
 *
 * Only slices that were read by slice_file_open(SLICE_PACKED) have packs. All but merging and writing needs
 * slice_unpack() first. Only for src/state/.
 */
#ifndef BLK_STATE_SLICE_PACK_H
#define BLK_STATE_SLICE_PACK_H

#include "base/coder.h"
#include "state/kernel/slice_state.h"
#include "state/slice/slice_code.h"

struct moving;

struct pack {
	/* Where the stored bytes are: */
	GByteArray *bytes;		/* or NULL */
	GRefString *path;		/* of a file; or NULL */
	int fd;				/* else of an open file, borrowed */
	uint64_t offset;		/* in the file */

	uint64_t stored, size;		/* bytes in the file, and decoded; equal: not compressed */
	uint32_t checksum;		/* pack_checksum() of the stored bytes */
	uint32_t n_bins;		/* seconds */
	int64_t first, last;		/* ns: coverage of the slice it was made of; INT64_MAX, INT64_MIN: empty */
	uint32_t thread_add, n_threads;	/* the slice's id of its thread 0; it has threads below .n_threads */
	uint64_t seq_add, n_events;	/* likewise of events */
	GArray *hosts, *cpus;		/* uint32_t: the slice's id of each */
	GArray *notes;			/* struct resolved, in order, with the pack's numbers; .seq of a call before it
					 * wraps around */
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

void pack_free(struct pack *p);

void packs_clear(struct packs *p);

static inline struct pack *pack_at(const struct packs *p, uint32_t i)
{
	return g_ptr_array_index(p->all, i);
}

/* How many seconds the packs have, together. */
uint64_t packs_n_bins(const struct packs *p);

/* A new pack, in memory, with all that the slice has outside of packs. The slice does not change. *ret_pending: struct
 * pack_pending, .pack is not set; the caller frees it. NULL: there is nothing (no *error), or it cannot be written. */
struct pack *pack_of(struct slice *s, GArray **ret_pending, GError **error);
/* The pack's stored bytes, checked; the caller frees them. NULL: *error. */
uint8_t *pack_read(const struct pack *p, GError **error);

/* Stored bytes, also those of sections: read from a file, at a place within it; the first 4 bytes of their SHA-256;
 * appended to `out`, compressed unless that is longer; restored to `size` bytes, which consumes `stored` and can return
 * it (NULL: they are something else). */
bool pack_read_at(int fd, void *to, size_t n, uint64_t offset, GError **error);
uint32_t pack_checksum(const uint8_t *bytes, size_t n);
void pack_compress(GByteArray *out, const uint8_t *bytes, size_t n);
uint8_t *pack_restore(uint8_t *stored, size_t n, size_t size);

/* Of a slice with packs: if it has more than `bytes` (estimated) outside of packs, moves that to a new pack. So memory
 * is bounded. False: *error. */
#define PACKS_OUTSIDE_BYTES (16u << 20)
bool packs_shrink(struct slice *s, size_t bytes, GError **error);
/* Decodes what slice_unite() has to change: seconds of quiet times (voids). Errors as slice_unpack(). */
bool packs_before_unite(struct slice *a, struct slice *b, GError **error);

/* Decodes all packs. False: one cannot be read, and the slice can only be freed; *error. */
bool slice_unpack(struct slice *s, GError **error);

/* Moves b's packs to a; before a's and b's numbers of events are added. */
void packs_join(struct slice *a, struct slice *b, const struct moving *m);

/* A section (slice_code.h): what is known of all packs. Writing: n->last comes after them. Reading: the caller sets
 * where their bytes are. */
void packs_code(struct coder *c, struct slice *s, struct slice_counts *n);

#endif
