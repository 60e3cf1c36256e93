/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast path of the most frequent events: the same steps as their handlers, without a struct rec. It is used only
 * if the event's layout and its thread's state are the usual ones.
 */
#ifndef BLK_STATE_KERNEL_FAST_PATH_H
#define BLK_STATE_KERNEL_FAST_PATH_H

#include "state/kernel/event_class.h"

#include <stddef.h>

/* Handles events from the front until one cannot take the fast path. Returns how many it handled. */
size_t feed_fast(struct slice *s, const struct blk_event *ev, size_t n);
/* False: the layout is unusual, so its events go to the handlers. */
bool plan_learn(struct fast_plan *p, const struct strtab *strings, const struct blk_layout *l,
		enum event_kind kind);

#endif
