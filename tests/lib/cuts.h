/* SPDX-License-Identifier: GPL-2.0-only */
/* The laws of slices for a small script: whole, and in two and three pieces cut anywhere. */
#ifndef BLK_TESTS_CUTS_H
#define BLK_TESTS_CUTS_H

#include "state/slice/slice.h"
#include "lib/sources.h"

/* Of the recording's events [from, to), with the loss that is open there. A loss is open once
 * at most. Seconds are seconds. */
struct slice *cuts_slice(const struct recording *r, size_t from, size_t to, bool from_start);

/* The report of all of it is that of its pieces, in both orders of stitching. */
void cuts_check(const char *name, const struct recording *r);

#endif
