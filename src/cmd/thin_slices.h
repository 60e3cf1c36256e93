/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map --watch --thin: folds the old slices of a directory to history (state/slice/slice_history.h), in files of
 * its folder "history". A file has the name of its first chunk, and grows as long as slices follow each other without
 * a gap.
 */
#ifndef BLK_CMD_THIN_SLICES_H
#define BLK_CMD_THIN_SLICES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct thinner;
/* Of the directory `slices` (borrowed), for slices of this age. */
struct thinner *thinner_new(const char *slices, int64_t after_ns);
void thinner_free(struct thinner *t);		/* NULL is fine */

/* Is the chunk of that name in history, so that its slice was deleted? */
bool thinner_has(const struct thinner *t, const char *chunk);

/* Folds the slices that end that long or longer before the newest one begins. They are deleted when the history
 * was written, synced and read back. What fails is printed, once for each slice. */
void thinner_run(struct thinner *t);
bool thinner_failed(const struct thinner *t);

#endif
