/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a view that has rows for each step, of a recorded trace and with steps below a second, which exceeds --memory:
 * steps are printed as they close, and dropped. Rows are in order within a piece, and pieces in order of time. The
 * trace is read twice: first with steps of a second, for the range, for names, and to see whether all fits. If only
 * the range fits, its steps are retained and the others dropped. Where the range fits, this prints nothing.
 */
#ifndef BLK_CMD_BATCH_STEPS_H
#define BLK_CMD_BATCH_STEPS_H

#include "cli/options.h"

#include "export/export.h"

struct batch_steps {
	const struct options *o;
	const struct view *view;	/* with the columns to print */
	struct timeline *tl;
	struct timeline *survey;	/* the trace in seconds; NULL: all steps are retained */
	bool in_pieces;			/* rows are; else the steps of the range are retained */
	int64_t from_ns, to_ns;		/* what is printed; equal: the range was not looked for, or has no events */
	int64_t printed_to;		/* end of the last piece */
	int64_t first_ns, end_ns;	/* of the steps printed so far; first_ns INT64_MAX: none */
	struct completeness completeness;	/* of the steps printed so far */
	struct rows_pieces pieces;
	int broken;			/* errno after a failed write; nothing more is printed then */
};

/* Chooses whether rows are printed in pieces, and sets purpose->takes_seconds then. The purpose has what else
 * reading_start() needs. May read the trace once. Returns the exit status. */
int batch_steps_choose(struct batch_steps *steps, const struct options *o, struct reading_purpose *purpose);
/* After reading_start(): pieces are printed from now on, if they shall be. */
void batch_steps_begin(struct batch_steps *steps, const struct view *view, struct timeline *tl);
/* Was a part printed? Then batch_steps_finish() must print the rest. */
bool batch_steps_is_begun(const struct batch_steps *steps);
void batch_steps_finish(struct batch_steps *steps);
void batch_steps_clear(struct batch_steps *steps);

#endif
