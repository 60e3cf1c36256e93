/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time range that the user looks at, and the range that was decoded for it: passed between the screen and the
 * thread that reads the trace. Instants are ns since the epoch.
 */
#ifndef BLK_BASE_VIEW_RANGE_H
#define BLK_BASE_VIEW_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a longer range only the end is decoded again. */
#define VIEW_RANGE_LONGEST_NS INT64_C(30000000000)

struct view_range {
	int64_t from_ns, to_ns;		/* from_ns INT64_MIN (TIME_UNKNOWN): the end of the trace */
	int64_t step_ns;		/* length of a "second" in the result; 0: a real second */
	bool again;			/* the timeline cannot answer: the step is finer than its seconds, or they were
					 * dropped, folded or evicted */
};

struct decoded_range {
	int64_t from_ns, to_ns, step_ns;
	bool exact;			/* decoded from the beginning of the trace: provisional is only what cannot be
					 * known. Else decoding began shortly before from_ns */
};

#endif
