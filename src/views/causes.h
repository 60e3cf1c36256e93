/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of a range, grouped by the cause of their slowness: those of one operation that were slow in the same
 * phase and part, because of the same process, are one row. Normal and open requests are one row each.
 */
#ifndef BLK_VIEWS_CAUSES_H
#define BLK_VIEWS_CAUSES_H

#include "views/history.h"
#include "views/view.h"

enum cause_state {
	CAUSE_SLOW,
	CAUSE_FEW,			/* too few requests of the operation to know what is usual */
	CAUSE_OPEN,
	CAUSE_NORMAL,			/* within the usual */
};

/* Of a row of view_causes. */
struct cause {
	enum cause_state state;
	uint64_t n;			/* requests */
	int64_t lost_ns;		/* how much longer than usual they took, together; -1: unknown */
	int64_t min_ns, max_ns;		/* the shortest and the longest of them */
	bool at_least;			/* one or more took longer than that: their roots are missing */
	double min_x, max_x;		/* times the usual of their operation; below 0: unknown */
	const char *operation;		/* raw bytes; NULL: of several operations */
	const char *explanation;	/* of the slowest; NULL: none */
};
struct cause cause_of(const struct row *row);

extern const struct view view_causes;		/* in the registry */

/* Since when the causes of slow requests in `causes`, rows of view_causes, have lasted: beginning of the second that
 * contains the first of such requests without a pause of more than CAUSES_PAUSE_S before the end of their range.
 * Counted are those that lost at least a tenth of the time that the worst one of the range lost. `tl` has all seconds;
 * the rows' own timeline may be a part of it. TIME_UNKNOWN: none is slow. *ret_earlier: they may have begun earlier,
 * as the timeline begins there, or LIMIT_SINCE requests were examined. */
int64_t causes_since(const struct timeline *tl, const struct rows *causes, bool *ret_earlier);
#define CAUSES_PAUSE_S 5

/* Names the cause of the trace of this root span: equal for traces that are one row. 0: it has none. */
uint64_t cause_key(struct history *h, const struct span *root);

#endif
