/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For --log-level debug: how reading goes on, a line in the journal (log.h) each time its phase,
 * reader or connection changes, and each second that it is asked. Main thread only.
 */
#ifndef BLK_APP_DEBUG_LOG_H
#define BLK_APP_DEBUG_LOG_H

#include "app/input.h"
#include "run/job.h"

void debug_reading(struct job *job, struct input *in, const struct timeline *tl);

#endif
