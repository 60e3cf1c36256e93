/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of jobs. Signals are blocked in them, as the main thread handles these. */
#ifndef BLK_RUN_WORKER_H
#define BLK_RUN_WORKER_H

#include <glib.h>

GThread *worker_new(const char *name, GThreadFunc run, void *data);

/* Lowers the priority of the calling thread. */
void worker_background(void);

#endif
