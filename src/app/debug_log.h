/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Progress of reading for --log-level debug: a line in the log file (app/messages.h) when phase, reader or connection
 * change, and once a second. Main thread only.
 */
#ifndef BLK_APP_DEBUG_LOG_H
#define BLK_APP_DEBUG_LOG_H

#include "app/input.h"
#include "run/job.h"

/* Call it often; it limits itself. */
void debug_reading(struct job *job, struct input *in, const struct timeline *tl);

#endif
