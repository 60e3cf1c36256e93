/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A window of a trace, decoded out of turn into a timeline of its own, in seconds of
 * any length. Exact: from the trace's begin on, so all that came before is known, and
 * the window's rows are those of a run over the whole trace with that step (but for what
 * happens long after: that a span ends, a name). Else from a
 * moment before the window, so that it is known who runs: names and calls that were
 * pending may be missing.
 */
#ifndef BLK_RUN_WINDOW_H
#define BLK_RUN_WINDOW_H

#include "base/look.h"
#include "run/pieces.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"

/* Behind exact windows some more is read, for how spans end; behind others a quarter of a second. */
#define WINDOW_BEHIND_NS INT64_C(3000000000)

struct window_reader {
	const struct pieces *pieces;
	bool (*in_vain)(void *data);	/* asked now and then: need not go on? */
	void *data;
	size_t most;			/* bytes of what spans are made of; 0: no bound */
	const int *stop;		/* as in source_stop_by(); NULL: only in_vain says so */
};

/* from_ns and to_ns are multiples of step_ns. NULL: it was in vain, or (*ret_too_much) more
 * than the reader's bound. The timeline has no seconds where the trace has no event before the
 * window's end. */
struct timeline *window_read(const struct window_reader *r, const struct look_window *w,
			     bool *ret_too_much);

/* The same, read from there on (INT64_MIN: the trace's begin), as it was published; ret_too_much may be
 * NULL. */
struct publication *window_read_from(const struct window_reader *r, const struct look_window *w,
				     int64_t begin, bool *ret_too_much);

#endif
