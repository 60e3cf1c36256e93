/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The set of stale seconds of a trace that grows: those to decode again, because events arrived too late for them
 * (source_take_late()). These are the seconds in which the events happened, those to which they were moved, and all
 * between, which missed them. A second is due when it is closed and no more late events arrive for it. The caller
 * locks. now_us: monotonic.
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
/* Removes and returns the oldest range of adjacent seconds that are due; false: none. hurry: do not wait for more. */
bool stale_take(struct stale *s, int64_t closed_to, bool hurry, int64_t now_us, struct decoded_range *ret);

#endif
