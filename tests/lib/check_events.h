/* SPDX-License-Identifier: GPL-2.0-only */
/* Every event of a trace directory, ours against babeltrace2's. */
#ifndef BLK_TEST_CHECK_EVENTS_H
#define BLK_TEST_CHECK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct check_counts {
	uint64_t events, streams;	/* compared */
	uint64_t different;		/* what did not compare equal */
	uint64_t refused;		/* streams, or whole traces, that one side refuses */
};

/*
 * Prints the first differences, and "babeltrace2 refuses: REASON" or "native refuses:
 * REASON" for what cannot be compared. babeltrace2 may abort: call it in a process
 * that may end.
 */
void check_events(const char *dir, struct check_counts *ret);

#endif
