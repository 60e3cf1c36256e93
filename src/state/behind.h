/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The noisy neighbours of a span: who ran on the CPU while its thread waited there for it.
 * Only for src/state/.
 */
#ifndef BLK_STATE_BEHIND_H
#define BLK_STATE_BEHIND_H

#include "state/spans.h"

struct behind;
struct behind *behind_new(struct slice *s);
/* The part of the thread's wait that lies in [begin, end) and in which it could have run. Returns
 * who ran longest meanwhile; ID_NONE: nobody, or the CPU was idle for longer. */
uint32_t behind_wait(struct behind *b, uint32_t thread, const struct wait *w, int64_t begin, int64_t end);
void behind_free(struct behind *b);
/* The sum, and frees b. runnable: how long it waited for a CPU in all: what no wait tells is
 * unknown. NULL: it never waited. */
struct span_behind *behind_end(struct behind *b, struct spans *sp, int64_t runnable);

#endif
