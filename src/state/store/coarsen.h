/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several seconds as one, when there is no room for them: sums and histograms are added,
 * maxima stay, of the slowest calls as many are kept as a second keeps. What is lost is
 * when in it something happened.
 */
#ifndef BLK_STATE_STORE_COARSEN_H
#define BLK_STATE_STORE_COARSEN_H

#include "state/store/second.h"

/* Of seconds in order of time, n > 0: a new one with one reference, which says that it is
 * folded to `fold_ns`. */
struct second *second_coarsen(struct second *const *seconds, size_t n, int64_t fold_ns);

/*
 * Folds old ones of a timeline's seconds until so many bytes are free: to 10 s, and these
 * to a minute, so that of what is held about half are seconds, and of the rest about half
 * 10 s. The newest `keep` stay. Returns by how much less is held: less than asked for
 * when only dropping helps. *folded_until grows to the end of the newest folded one.
 */
size_t seconds_fold(GPtrArray *seconds, size_t keep, size_t excess, int64_t *folded_until);

#endif
