/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is looked at, and what was decoded because of it: the two words between the
 * screen and who reads the trace. Instants are nanoseconds since the epoch.
 */
#ifndef BLK_BASE_LOOK_H
#define BLK_BASE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Of more than that only the end is decoded again. */
#define LOOK_LONGEST_NS INT64_C(30000000000)

struct look {
	int64_t from_ns, to_ns;		/* from INT64_MIN (TIME_UNKNOWN): the trace's end */
	int64_t step_ns;		/* how long its "seconds" are to be; 0: as all others */
	bool again;			/* the timeline has passed it, and can't answer: the step is
					 * finer than what it keeps, or that was dropped, folded or evicted */
};

struct look_window {
	int64_t from_ns, to_ns, step_ns;
	bool exact;			/* read from the trace's begin on: nothing is soft but what
					 * nobody knows. Else from a moment before from_ns */
};

#endif
