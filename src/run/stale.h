/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which seconds of a trace that grows are to be read again, since events came too late for them
 * (source_take_late()): those in which the events were, those in which they were told instead, and those
 * between, which lacked them. A second is due when it is closed and nothing more comes for it. Whoever has it
 * locks it; instants of noting are of a monotonic clock.
 */
#ifndef BLK_RUN_STALE_H
#define BLK_RUN_STALE_H

#include "base/view_range.h"
#include "trace/reader.h"

struct stale;
struct stale *stale_new(int64_t step_ns);
void stale_free(struct stale *s);		/* NULL is fine */
void stale_note(struct stale *s, const struct source_late *late, int64_t now_us);
bool stale_is_empty(const struct stale *s);
/* Takes the oldest that are due, one after another: noted no more. hurry: nothing more will come. */
bool stale_take(struct stale *s, int64_t closed_to, bool hurry, int64_t now_us, struct decoded_range *ret);

#endif
