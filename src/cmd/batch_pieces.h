/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints what exceeds --memory in pieces; where everything fits, this prints nothing. Rows are in order within a piece.
 *
 * - Lists of spans or traces: what is evicted is printed just before, the rest at the end. Pieces are mostly in order
 *   of time.
 * - Rows for each step, of a recorded trace and with steps below a second: steps are printed as they close, and
 *   dropped. Pieces are in order of time. The trace is read twice: first with steps of a second, for the range, for
 *   names, and to see whether all fits. If only the range fits, its steps are retained and the others dropped.
 */
#ifndef BLK_CMD_BATCH_PIECES_H
#define BLK_CMD_BATCH_PIECES_H

#include "cli/command.h"

struct batch_pieces {
	const struct read_options *read;
	const struct shown_options *shown;
	const struct view *view;	/* with the columns to print; NULL: before batch_pieces_begin() */
	struct timeline *tl;
	struct rows_pieces pieces;	/* .begun: a part was printed, so batch_pieces_finish() must print the rest */
	int broken;			/* errno after a failed write; nothing more is printed then */
	bool of_traces;			/* pieces are traces: the whole of a recorded trace, not sorted */
	/* Steps: */
	struct timeline *survey;	/* the trace in seconds; NULL: all steps are retained */
	bool of_steps;			/* pieces are steps; else, with .survey, those of the range are retained */
	int64_t from_ns, to_ns;		/* what is printed; equal: the range was not looked for, or has no events */
	int64_t printed_to;		/* end of the last piece */
	int64_t first_ns, end_ns;	/* of the steps printed so far; first_ns INT64_MAX: none */
	struct completeness completeness;	/* of the steps printed so far */
};

/* Can the view exceed memory? Else there is nothing to choose, begin or finish. */
static inline bool batch_pieces_can_be(const struct view *v)
{
	return v->lists_spans || v->has_steps;
}

/* Chooses whether rows are printed in pieces, and sets purpose->takes_seconds for those of steps. The purpose has what
 * else reading_start() needs. May read the trace once. Returns the exit status. */
int batch_pieces_choose(struct batch_pieces *p, const struct read_options *read, const struct shown_options *shown,
			const struct batch_options *o, struct reading_purpose *purpose);
/* After reading_start(): pieces are printed from now on, if they shall be. */
void batch_pieces_begin(struct batch_pieces *p, const struct view *view, struct timeline *tl);
/* Prints traces that are about to be evicted: call it from timeline_on_evicting(). */
void batch_pieces_evicting(struct batch_pieces *p, const uint64_t *trace_ids, size_t n);
/* Prints the rest of [from_ns, to_ns). */
void batch_pieces_finish(struct batch_pieces *p, int64_t from_ns, int64_t to_ns);
void batch_pieces_clear(struct batch_pieces *p);

#endif
