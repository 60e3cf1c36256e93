/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of jobs: started with all signals blocked, which are the main thread's. */
#ifndef BLK_RUN_WORKER_H
#define BLK_RUN_WORKER_H

#include <glib.h>

GThread *worker_new(const char *name, GThreadFunc run, void *data);

/* The calling thread gives way to the others of the program. */
void worker_background(void);

#endif
