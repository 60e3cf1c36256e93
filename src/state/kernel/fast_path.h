/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast path of the most frequent events: the same steps as their handlers, without general records. An event takes
 * it only if its layout and the state of its thread are the usual ones.
 */
#ifndef BLK_STATE_KERNEL_FAST_PATH_H
#define BLK_STATE_KERNEL_FAST_PATH_H

#include "state/kernel/event_class.h"

#include <stddef.h>

/* Handles events from the front as long as they take the fast path: returns how many. */
size_t feed_fast(struct slice *s, const struct blk_event *ev, size_t n);
/* False: the layout is unusual, its events take the way through the handlers. */
bool plan_learn(struct plan *p, const struct strtab *strings, const struct blk_layout *l,
		enum event_kind kind);

#endif
