/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The noisy neighbours of a span: who ran on the CPU while its thread waited there for it.
 * Only for src/state/.
 */
#ifndef BLK_STATE_SPANS_CPU_NEIGHBOURS_H
#define BLK_STATE_SPANS_CPU_NEIGHBOURS_H

#include "state/kernel/thread_logs.h"
#include "state/spans/spans_state.h"

static inline void behind_reset(struct behind *b)
{
	b->all.len = 0;
	b->idle = 0;
}

/* The part of the thread's wait that lies in [begin, end) and in which it could have run. Returns
 * who ran longest meanwhile; ID_NONE: nobody, or the CPU was idle for longer. */
uint32_t behind_wait(struct behind *b, uint32_t thread, const struct wait *w, int64_t begin, int64_t end);
/* The sum of sp->parts.behind in the span, whose parts tell how long it waited for a CPU in all:
 * what no wait tells is unknown. */
void behind_sum(struct spans *sp, struct span *span);

#endif
