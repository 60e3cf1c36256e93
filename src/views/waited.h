/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Did a system call wait for work, or while working? The one place that decides it, for single calls and for sums of
 * calls. The rule, by what the call waits for (enum call_wait):
 *
 *                          in a span    outside, in a process with spans    in a process without spans
 *     nothing, a device    -            -                                   -
 *     a lock               working      working                             working
 *     an event             working      for work                            for work
 *     a queue, data        working      for work                            unknown
 *     it is not known      working      unknown                             unknown
 *
 * "In a span": a span of the thread was open when the call was entered. A span that another thread ended is open on
 * its own thread until the last annotation of that thread. Where spans of the time were evicted, what would be "for
 * work" is unknown in a process with spans. A process has spans if a thread of it ever had one.
 */
#ifndef BLK_VIEWS_WAITED_H
#define BLK_VIEWS_WAITED_H

#include "state/store/timeline.h"

/* NOT: it waited for nothing that this tells apart. */
enum waited { WAITED_NOT, WAITED_WORKING, WAITED_UNKNOWN, WAITED_FOR_WORK, WAITED_N };

/* "while working", "unknown", "for work"; WAITED_NOT: NULL. */
extern const char *const waited_word[WAITED_N];

/* For struct row.last: waits for work come last, before them those of which it is unknown. */
static inline uint8_t waited_rank(enum waited w)
{
	return w == WAITED_FOR_WORK ? 2 : w == WAITED_UNKNOWN ? 1 : 0;
}

/* The cells that waits_divide() needs, for view.reads; and spans. */
#define READS_WAITED (READS(call) | READS(wait) | READS(file) | READS_SLOW)

/* Help of the column `waited`. */
#define WAITED_HELP \
	"\"for work\": outside of every span of its thread, for an event, data or a queue; \"while working\": in a " \
	"span, or for a lock; \"unknown\": on a futex that is no lock, or for data, in a process without spans; " \
	"null: it did not wait for others"

struct waits;				/* looks calls up; of one version of the timeline */
struct waits *waits_new(const struct timeline *tl);
void waits_free(struct waits *w);	/* NULL is fine */
typedef struct waits blk_waits;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_waits, waits_free)

/* Of a call that the thread entered at begin_ns. */
enum waited waits_of_call(struct waits *w, uint32_t thread, enum call_wait wait, int64_t begin_ns);

/* A share of a call cell. */
struct waits_share {
	const struct hist *latency;	/* of the calls that ended in the second; may be empty */
	uint32_t errors;		/* returned an error; of calls that no list has, all are in one share */
	int64_t busy_ns;		/* time in the calls within the second */
	uint32_t unfinished;		/* pending at the second's end (0, 1), in the share with most of the time */
};
static inline bool waits_share_is_empty(const struct waits_share *s)
{
	return !hist_count(s->latency) && !s->errors && !s->busy_ns && !s->unfinished;
}
/* Of calls of that name that are not known one by one: inside of spans, or anywhere. */
enum waited waits_of_name(struct waits *w, uint32_t name, bool in_span);
/* Divides a call cell of the second: all shares together are the cell, and each single call that second.slow lists is
 * in the share that waits_of_call() says. Valid until the next call. */
void waits_divide(struct waits *w, const struct second *s, const struct call_cell *c,
		  struct waits_share ret[WAITED_N]);

#endif
