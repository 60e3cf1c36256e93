/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that a slice wants from a source: tables of subscription rows. handlers.c and counting.c have them. */
#ifndef BLK_STATE_KERNEL_SUBSCRIPTIONS_H
#define BLK_STATE_KERNEL_SUBSCRIPTIONS_H

#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>

/* The subscription table of all handlers. Static. */
const struct blk_subscription *slice_subscriptions(size_t *ret_n);

/* The same with every other event: all events are counted by thread (COUNT_EVENT). Slower, as no event takes the fast
 * path. */
const struct blk_subscription *slice_subscriptions_counting(size_t *ret_n);
/* The same for events of user space only; those of the kernel are read as usual. */
const struct blk_subscription *slice_subscriptions_counting_user(size_t *ret_n);

/* Is the row's event, of the usual table, one of the kernel? */
bool slice_row_is_kernel(unsigned row);

bool slice_row_makes_spans(unsigned row);	/* does the row's event make spans, or annotations of them? */
/* Does an event of the usual table that makes spans pass `has`, which gets the name of its row? */
bool slice_any_makes_spans(bool (*has)(const void *data, const char *event), const void *data);

#endif
