/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of jobs. Signals are blocked in them, as the main thread handles these. */
#ifndef BLK_RUN_WORKER_H
#define BLK_RUN_WORKER_H

#include <glib.h>

GThread *worker_new(const char *name, GThreadFunc run, void *data);

/* Makes the eventfd readable. It cannot block: the counter holds up to 2^64 - 2. */
void worker_ring(int event_fd);

/* Lowers the priority of the calling thread. */
void worker_background(void);

#endif
