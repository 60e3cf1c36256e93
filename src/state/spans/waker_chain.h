/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What those did that a span's thread waited for: from the begin of a wait to the wakeup that
 * ended it the waker's own running and waiting, and where that was woken by a thread, what that
 * one did; before a thread was made, its creator: who waits for a server that starts waits for
 * that. So the critical path goes on in threads that have no span.
 *
 * Nobody is looked for behind a wait for a device or the clock, nor behind an interrupt (but one
 * that a thread raised, cpu.c) or a thread of the kernel: these are messengers. "Ran" is only what
 * a CPU's log of switches tells.
 * Only for src/state/.
 */
#ifndef BLK_STATE_SPANS_WAKER_CHAIN_H
#define BLK_STATE_SPANS_WAKER_CHAIN_H

#include "state/spans/spans_state.h"

/* The waits that may be looked behind, by half; segments are in order. Each wait belongs to the
 * innermost half on its thread. */
void chain_find(struct spans *sp);
/* What is behind those of one half, in span. */
void chain_follow(struct spans *sp, const struct half *h, struct span *span);

#endif
