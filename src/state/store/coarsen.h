/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folding: merges several seconds into one when memory is short. Sums and histograms are added, maxima are retained,
 * and the slowest calls are retained up to the limit of one second. Only time resolution is lost.
 */
#ifndef BLK_STATE_STORE_COARSEN_H
#define BLK_STATE_STORE_COARSEN_H

#include "state/store/second.h"

/* Folds n > 0 seconds, in order of time, into a new one with one reference and .fold_ns = fold_ns. */
struct second *second_coarsen(struct second *const *seconds, size_t n, int64_t fold_ns);

/*
 * Folds old seconds of a timeline until `excess` bytes are free: to 10 s, and these to a minute. It aims at half of
 * the memory for unfolded seconds, and half of the rest for those of 10 s. The newest `keep` seconds stay.
 * Returns the number of bytes freed: less than `excess` when only dropping seconds helps.
 * *folded_until (ns) grows to the end of the newest folded second.
 */
size_t seconds_fold(GPtrArray *seconds, size_t keep, size_t excess, int64_t *folded_until);

#endif
