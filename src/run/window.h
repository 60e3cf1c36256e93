/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes a window of a trace into a timeline of its own, with seconds of any length. An exact window is read from
 * the trace's beginning. Its rows equal those of a run over the whole trace with that step, except for what follows
 * much later (the end of a span, a name). Other windows are read from a moment before, so that the running threads
 * are known; names and pending calls may be missing.
 */
#ifndef BLK_RUN_WINDOW_H
#define BLK_RUN_WINDOW_H

#include "base/view_range.h"
#include "run/pieces.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"

/* How much is read after an exact window, for the ends of spans; after others it is a quarter of a second. */
#define WINDOW_BEHIND_NS INT64_C(3000000000)

struct window_reader {
	const struct pieces *pieces;
	bool (*obsolete)(void *data);	/* called now and then; true: stop, the window is not wanted any more */
	void *data;
	size_t most;			/* most bytes of spans; 0: no bound */
	const int *stop;		/* as in source_stop_by(); or NULL */
};

/* from_ns and to_ns must be multiples of step_ns. NULL: obsolete, or (*ret_too_much) over the bound of spans. The
 * timeline has no seconds if the trace has no event before the window's end, or ends before the window. */
struct timeline *window_read(const struct window_reader *r, const struct decoded_range *w,
			     bool *ret_too_much);

/* The same, read from `begin` on (INT64_MIN: the trace's beginning), as a publication; ret_too_much may be NULL. */
struct publication *window_read_from(const struct window_reader *r, const struct decoded_range *w,
				     int64_t begin, bool *ret_too_much);

#endif
