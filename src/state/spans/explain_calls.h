/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls of spans. A call belongs to the innermost half that its thread worked for at that time. So the time of
 * halves is first divided into segments.
 */
#ifndef BLK_STATE_SPANS_EXPLAIN_CALLS_H
#define BLK_STATE_SPANS_EXPLAIN_CALLS_H

#include "state/spans/spans_state.h"

/* Fills sp->segments, then the runs of calls of each half (sp->calls). */
void spans_find_segments(struct spans *sp);
void spans_find_calls(struct spans *sp);
/* Calls find() for the segments [first, end) of each thread, which adds to sp->inner, and sorts that by half into *to.
 * The struct inner_range at this offset in each half becomes what it has. */
void spans_find_inner(struct spans *sp, void (*find)(struct spans *sp, guint first, guint end), struct vec *to,
		      size_t range_at);
/* Fills the span's calls and their files. */
void explain_calls(struct spans *sp, const struct half *h, struct span *span);

#endif
