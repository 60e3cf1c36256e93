/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls of spans. A call belongs to the innermost half that its thread worked for; so halves are first cut into
 * segments, in which their thread worked for them.
 */
#ifndef BLK_STATE_SPANS_EXPLAIN_CALLS_H
#define BLK_STATE_SPANS_EXPLAIN_CALLS_H

#include "state/spans/spans_state.h"

/* Fills sp->segments; then the halves' runs of calls (sp->calls). */
void spans_find_segments(struct spans *sp);
void spans_find_calls(struct spans *sp);
/* Sorts sp->inner by half into *to. spans.starts: where each half's begin; one more entry than halves. */
void spans_group(struct spans *sp, struct vec *to);
/* Fills the span's calls, with their files. */
void explain_calls(struct spans *sp, const struct half *h, struct span *span);

#endif
