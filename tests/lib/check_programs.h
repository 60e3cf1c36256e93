/* SPDX-License-Identifier: GPL-2.0-only */
/* Every event of a trace directory: the compiled decoders against the plain walker. */
#ifndef BLK_TEST_CHECK_PROGRAMS_H
#define BLK_TEST_CHECK_PROGRAMS_H

#include "lib/check_events.h"

/* Prints the first differences, and "native refuses: REASON". Needs no babeltrace2. */
void check_programs(const char *dir, struct check_counts *ret);

#endif
