/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whoever does long work for another tells how far it is now and then, and is told whether to
 * go on.
 */
#ifndef BLK_BASE_WATCH_H
#define BLK_BASE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
	/* progress: 0..1; n: things done so far. On the thread that works. */
	bool (*go_on)(void *data, double progress, uint64_t n);
	void *data;
};

static inline bool watch_go_on(const struct watch *w, double progress, uint64_t n)
{
	return !w || w->go_on(w->data, progress, n);
}

#endif
