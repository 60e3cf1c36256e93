/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * New versions of seconds, from another reading of the same trace. What a live session's
 * model was told too late (it moves such events to the present) stands in the wrong second;
 * the packets, read again in their own order, tell what was. Such seconds take the place of
 * the model's, whose later versions of them and of their spans count no more. The model is
 * not touched.
 */
#ifndef BLK_STATE_CORRECT_H
#define BLK_STATE_CORRECT_H

#include "state/timeline.h"

/*
 * Seconds of the window (takes it over) that begin in [from, to), and complete spans that
 * begin or end there: with other times, another account of them, or not known at all. The window's
 * ids are its own: its strings, hosts, threads, processes and files are found by what they
 * are, or added. Returns how many seconds were corrected; 0, and nothing was done, also
 * where a host is not known.
 */
unsigned timeline_correct(struct timeline *tl, struct timeline *window, int64_t from, int64_t to);

#endif
