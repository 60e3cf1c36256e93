/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * History: a slice that was made smaller, for long recordings. Its seconds are folded to longer steps, and only the
 * slowest traces of each step are there, with the logs that explain them. Spans of rules and functions are not. It is
 * merged like any slice of that step.
 *
 * Sums of cells of a step are those of its seconds. A minute or more without events counts as a whole in the step where
 * it begins, if it has no whole step.
 */
#ifndef BLK_STATE_SLICE_SLICE_HISTORY_H
#define BLK_STATE_SLICE_SLICE_HISTORY_H

#include "state/slice/slice.h"

#define SLICE_HISTORY_STEP INT64_C(60000000000)

/* For a slice that was read from a file, or merged from such slices, and was not fed since. step: ns. False: nothing
 * changed, as it is not a multiple of the slice's, or an instant is too far from 1970. */
bool slice_fold(struct slice *s, int64_t step);
/* The same. Retains `most` traces of each step. has_left, has_right: another slice comes before or after; traces in
 * the first or last step, which may go on there, stay until it is merged. */
void slice_thin(struct slice *s, unsigned most, bool has_left, bool has_right);

bool slice_is_history(const struct slice *s);
uint64_t slice_n_thinned(const struct slice *s);	/* traces that were dropped */

#endif
