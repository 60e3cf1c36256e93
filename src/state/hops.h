/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What those did that a span's thread waited for: from the begin of a wait to the wakeup that
 * ended it the waker's own running and waiting, and where that was woken by a thread, what that
 * one did. So the critical path goes on in threads that have no span.
 *
 * Nobody is looked for behind a wait for a device or the clock, nor behind an interrupt or a
 * thread of the kernel: these are messengers. "Ran" is only what a CPU's log of switches tells.
 * Only for src/state/.
 */
#ifndef BLK_STATE_HOPS_H
#define BLK_STATE_HOPS_H

#include "state/spans.h"

/* Of all halves of a trace; segments are in order, see explain_calls(). Each wait belongs to the
 * innermost half on its thread. */
void hops_find(struct spans *sp, GArray *halves, const GArray *segments);

#endif
