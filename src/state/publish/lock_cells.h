/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts waits for locks (kernel/locks.h), when it is known whether they were for one. */
#ifndef BLK_STATE_PUBLISH_LOCK_CELLS_H
#define BLK_STATE_PUBLISH_LOCK_CELLS_H

#include "state/names/names.h"

struct lock_counter;
struct lock_counter *lock_counter_new(void);
void lock_counter_free(struct lock_counter *c);
/*
 * Adds the waits that are decided to their seconds. Those for futexes are added in order of their ends, up to the first
 * that is not decided, since a holder counts from the release before. One for a file's lock is decided when its call
 * ends, or its second is dropped. The slice begins the trace. final: all are decided. The result does not depend on how
 * often it is called.
 */
void lock_counter_add(struct lock_counter *c, struct slice *s, const struct names *n, bool final);

#endif
