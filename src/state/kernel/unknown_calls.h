/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that are not known: the initial call of a thread, which the left neighbour
 * may tell, and what follows a loss. Time in them is charged to parts of its own and
 * moved where it belongs once the call's end, or the left, tells. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_UNKNOWN_CALLS_H
#define BLK_STATE_KERNEL_UNKNOWN_CALLS_H

#include "state/slice/slice_state.h"

/* What time in a call that is not known turns out to be. It is kept in two pairs of
 * parts: of the initial call, and of what follows a loss. */
struct verdict {
	bool lost;		/* the pair that follows a loss */
	unsigned run_part;	/* of time on the CPU in it */
	uint8_t cause, part;	/* of time blocked in it */
	const struct call *call;/* WAIT_FD: whose descriptor; may be NULL */
};

extern const struct verdict was_user;	/* in no call */
extern const struct verdict was_lost;	/* never to be known */
extern const struct verdict is_lost;	/* the initial call: one that follows a loss */

/* Nothing older can come that tells of the thread's initial call. */
static inline bool is_final(const struct slice *s, const struct thread *t)
{
	return s->from_start && t->tid != -1;
}

/* What a thread that blocks in the call waits for. */
static inline void call_cause(const struct call *c, uint8_t *cause, uint8_t *part)
{
	const struct call_info *info = info_of_call(c);
	bool by_file = info->by_fd && c->fd >= 0;
	*cause = by_file ? WAIT_FD : WAIT_PART;
	*part = info->by_fd || !info->cause ? PART_OTHER : info->cause;
}


void verdict_of_call(const struct call *c, struct verdict *v);
/* It ended with this exit, and its entry will never be known. */
void verdict_of_exit(const struct rec *exit, struct verdict *v);

/* Moves what was charged to t (under id and its aliases) where it belongs. */
void resolve(struct slice *s, struct thread *t, const struct verdict *v);

/* The call ended: the initial one, one after a loss, whichever t is in (or none).
 * `by`: the record that ended it; NULL for a loss. */
void soft_ends(struct slice *s, struct thread *t, enum soft_end how,
	       const struct rec *by);
void lost_ends(struct slice *s, struct thread *t, enum soft_end how,
	       const struct rec *by);
void unknown_ends(struct slice *s, struct thread *t, enum soft_end how,
		  const struct rec *by);

/* What a trace without switches, or without system calls, does not tell of a time that is
 * charged to parts. It still sums to the same. */
void parts_are_unknown(const struct slice *s, int64_t part[PART_N]);
/* The same of a wait's part. */
enum part part_is_unknown(const struct slice *s, enum part part);

#endif
