/* SPDX-License-Identifier: GPL-2.0-only */
/* A callback for long work: reports its progress and asks whether to continue. */
#ifndef BLK_BASE_WATCH_H
#define BLK_BASE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
	/* Returns false to stop. progress: 0..1; n: things done so far. Called on the thread that works. */
	bool (*go_on)(void *data, double progress, uint64_t n);
	void *data;
};

static inline bool watch_go_on(const struct watch *w, double progress, uint64_t n)
{
	return !w || w->go_on(w->data, progress, n);
}

#endif
