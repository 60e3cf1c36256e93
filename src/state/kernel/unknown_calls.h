/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unresolved calls: a thread's initial call, which the left neighbour may know, and the one after a loss. Their time is
 * charged to parts of its own (PART_UNRESOLVED_*, PART_LOST_*), and moved to the right parts when the call is known: at
 * its end, or when slices are merged.
 */
#ifndef BLK_STATE_KERNEL_UNKNOWN_CALLS_H
#define BLK_STATE_KERNEL_UNKNOWN_CALLS_H

#include "state/slice/slice_state.h"

/* What the time in an unresolved call turned out to be. */
struct verdict {
	bool lost;		/* PART_LOST_*, else PART_UNRESOLVED_* */
	unsigned run_part;	/* part for its time on the CPU */
	uint8_t cause, part;	/* enum wait_cause and part for its blocked time */
	const struct call *call;/* WAIT_FD: the call with the descriptor; may be NULL */
};

extern const struct verdict was_user;	/* it was in no call */
extern const struct verdict was_lost;	/* it stays unknown */
extern const struct verdict is_lost;	/* the initial call was one after a loss */

/* Is the thread's initial state final? No older slice will be merged that knows it. */
static inline bool is_final(const struct slice *s, const struct thread *t)
{
	return s->from_start && t->tid != -1;
}

/* What a thread that blocks in the call waits for: enum wait_cause, and the part. */
static inline void call_cause(const struct call *c, uint8_t *cause, uint8_t *part)
{
	const struct call_info *info = info_of_call(c);
	bool by_file = info->by_fd && c->fd >= 0;
	*cause = by_file ? WAIT_FD : WAIT_PART;
	*part = info->by_fd || !info->cause ? PART_OTHER : info->cause;
}


void verdict_of_call(const struct call *c, struct verdict *v);
/* The call that ended with this exit, if its entry stays missing. */
void verdict_of_exit(const struct rec *exit, struct verdict *v);

/* Moves the unresolved time of t, in all bins and under its aliases, to the parts of v. */
void resolve(struct slice *s, struct thread *t, const struct verdict *v);

/* The unresolved call ended: the initial one; the one after a loss; whichever of them t is in (if any). by: the record
 * that ended it; NULL for a loss. */
void soft_ends(struct slice *s, struct thread *t, enum soft_end how,
	       const struct rec *by);
void lost_ends(struct slice *s, struct thread *t, enum soft_end how,
	       const struct rec *by);
void unknown_ends(struct slice *s, struct thread *t, enum soft_end how,
		  const struct rec *by);

/* Moves time to PART_UNKNOWN or PART_OTHER that a trace without switches or without system calls cannot know. The sum
 * stays the same. */
void parts_are_unknown(const struct slice *s, int64_t part[PART_N]);
/* The same for the part of a wait. */
enum part part_is_unknown(const struct slice *s, enum part part);

#endif
