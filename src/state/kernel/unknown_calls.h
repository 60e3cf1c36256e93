/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unresolved calls: a thread's initial call, which the left neighbour may know, and the call after a loss. Their time
 * is charged to separate parts (PART_UNRESOLVED_*, PART_LOST_*). It moves to the right parts when the call is known:
 * at its end, or when slices are merged. So is the time blocked in a restart_syscall that continues the initial call.
 */
#ifndef BLK_STATE_KERNEL_UNKNOWN_CALLS_H
#define BLK_STATE_KERNEL_UNKNOWN_CALLS_H

#include "state/kernel/slice_state.h"

/* What time in an unresolved call is resolved to. */
struct resolution {
	enum unresolved from;	/* what is resolved */
	unsigned run_part;	/* part for its time on the CPU */
	uint8_t cause, part;	/* enum wait_cause and part for its blocked time */
	const struct call *call;/* WAIT_FD: the call with the descriptor, or NULL */
};

extern const struct resolution was_user;	/* it was not in a call */
extern const struct resolution was_lost;	/* the call stays unknown */
extern const struct resolution is_lost;	/* the initial call is one after a loss */

/* Is the thread's initial state final? True if no older slice that knows it can be merged. */
static inline bool is_final(const struct slice *s, const struct thread *t)
{
	return s->from_start && t->tid != -1;
}

/* What a thread that blocks in the call waits for: enum wait_cause, and the part. */
static inline void call_cause(const struct call *c, uint8_t *cause, uint8_t *part)
{
	const struct call_info *info = info_of_call(c);
	bool by_file = info->by_fd && c->fd >= 0;
	*cause = c->restart == RESTART_UNRESOLVED ? WAIT_RESTART : by_file ? WAIT_FD : WAIT_PART;
	*part = info->by_fd || !info->cause ? PART_OTHER : info->cause;
}


/* Unresolved stays unresolved: time then moves to PART_RESTART_BLOCK. */
void resolution_of_call(const struct call *c, struct resolution *v);
/* Sets v for the call that ended with this exit, if the entry will not come. */
void resolution_of_exit(const struct rec *exit, struct resolution *v);

/* Moves t's unresolved time, in all bins and under all its aliases, to the parts of v. */
void resolve(struct slice *s, struct thread *t, const struct resolution *v);

/* Ends an unresolved call: the initial one; the one after a loss; or whichever t is in, if any. by: the record that
 * ended it; NULL: a loss. */
void initial_ends(struct slice *s, struct thread *t, enum initial_end how,
	       const struct rec *by);
void lost_ends(struct slice *s, struct thread *t, enum initial_end how,
	       const struct rec *by);
void unknown_ends(struct slice *s, struct thread *t, enum initial_end how,
		  const struct rec *by);

/* Moves time that a trace without switches or without system calls cannot know to PART_UNKNOWN or PART_OTHER. The
 * sum does not change. */
void parts_are_unknown(const struct slice *s, int64_t part[PART_N]);
/* The same for the part of one wait. */
enum part part_is_unknown(const struct slice *s, enum part part);

#endif
