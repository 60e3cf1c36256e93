/* SPDX-License-Identifier: GPL-2.0-only */
/* Noisy neighbours of a span: the threads that ran on the CPU while the span's thread was runnable. */
#ifndef BLK_STATE_SPANS_CPU_NEIGHBOURS_H
#define BLK_STATE_SPANS_CPU_NEIGHBOURS_H

#include "state/kernel/thread_logs.h"
#include "state/spans/spans_state.h"

static inline void neighbours_reset(struct neighbour_list *b)
{
	b->all.len = 0;
	b->idle = 0;
}

/* Adds the threads that ran while the thread was runnable, in the part of the wait in [begin, end). Returns the
 * thread that ran longest; ID_NONE: none ran, or the CPU was idle for longer. */
uint32_t neighbours_of_wait(struct neighbour_list *b, uint32_t thread, const struct wait *w, int64_t begin,
			    int64_t end);
/* Sets the span's neighbours from sp->parts.neighbour_list. Its parts hold the whole time in which it was runnable;
 * time that no log explains is unknown. */
void neighbours_sum(struct spans *sp, struct span *span);

#endif
