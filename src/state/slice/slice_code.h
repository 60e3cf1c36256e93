/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sections of a slice file (slice_file.h): each function writes or reads one, and checks what it reads. Sections
 * are read in the order of this header, since later ones refer to ids of earlier ones. doc/slices.md has the format.
 */
#ifndef BLK_STATE_SLICE_SLICE_CODE_H
#define BLK_STATE_SLICE_SLICE_CODE_H

#include "base/coder.h"
#include "state/kernel/slice_state.h"

struct slice_piece;
struct pack;

/* How many of each the slice has, so that ids can be checked when they are read. */
struct slice_counts {
	uint32_t strings, texts, hosts, channels, cpus, threads, annots;
	struct slice_piece *piece;
	/* Writing: */
	struct coder_ids *used_strings;		/* those that were used so far */
	struct pack *last;			/* of pack_of(), and what is pending in it: see packs_code(); or NULL */
	const GArray *pending;
};
void count_ids(const struct slice *s, struct slice_counts *n);		/* writing: sets all but the pointers */

static inline void code_string(struct coder *c, uint32_t *id, const struct slice_counts *n)
{
	code_used_id(c, id, n->strings, n->used_strings);
}

/* Reading: instants are within the coverage (.first, .last), or little outside: a loss may begin before a slice. */
#define CODE_OUTSIDE_NS (60 * INT64_C(1000000000))
static inline void code_bounds(struct coder *c)
{
	bool any = c->first <= c->last;		/* else there is no event, so there is no instant */

	c->from = any ? MAX(c->first, INT64_MIN + CODE_OUTSIDE_NS) - CODE_OUTSIDE_NS : INT64_MAX;
	c->to = any ? MIN(c->last, INT64_MAX - CODE_OUTSIDE_NS) + CODE_OUTSIDE_NS : INT64_MIN;
}

/* All elements of an array, of which each has at least `least` bytes, as rows of the set; 0: in no row. Reading: the
 * array is empty or NULL before, and has zeros where code() sets nothing. */
typedef void (*code_element)(struct coder *c, void *element, const struct slice_counts *n);
void code_vec(struct coder *c, struct vec *v, size_t size, unsigned row, unsigned least, code_element code,
	      const struct slice_counts *n);
void code_array(struct coder *c, GArray **a, size_t size, unsigned row, unsigned least, code_element code,
		const struct slice_counts *n);

void code_summary(struct coder *c, struct slice *s, struct slice_counts *n);
/* Hosts, channels, losses, voids, names of event classes. */
void code_hosts(struct coder *c, struct slice *s, struct slice_counts *n);
/* Writing: those strings that were used, so it comes after the others. */
void code_strings(struct coder *c, struct slice *s, struct slice_counts *n);
void code_threads(struct coder *c, struct slice *s, struct slice_counts *n);
void code_cpus(struct coder *c, struct slice *s, struct slice_counts *n);
/* Waits for locks: of a thread, of the slice (kernel/locks.h). */
void code_past(struct coder *c, struct thread *t, const struct slice_counts *n);
void code_locks(struct coder *c, struct slice *s, const struct slice_counts *n);
struct wait_call;
void code_wait_call(struct coder *c, struct wait_call *w, const struct slice_counts *n);
void code_part(struct coder *c, uint8_t cause, uint8_t *part);	/* it has no meaning for causes but WAIT_PART */
/* Annotations, binaries, wakeups. */
void code_logs(struct coder *c, struct slice *s, struct slice_counts *n);
/* What a pack has (pack.h): facts, block events, seconds. Its strings: as code_strings(). */
void code_pack(struct coder *c, struct slice *s, const struct slice_counts *n);
void code_pack_strings(struct coder *c, struct slice *s, uint32_t n, const struct coder_ids *used);

/* Of a slice that was read: does its coverage follow from its seconds, of which it has n? */
bool code_coverage_fits(const struct slice *s, uint64_t n);

#endif
