/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Progress of reading for --log-level debug: a line in the log file (app/messages.h) when phase, reader or connection
 * change, and once a second. Main thread only.
 */
#ifndef BLK_APP_DEBUG_LOG_H
#define BLK_APP_DEBUG_LOG_H

#include "app/input.h"
#include "app/messages.h"
#include "run/job.h"

void debug_write(struct job *job, struct input *in, const struct timeline *tl);

/* Call it often; it limits itself. */
static inline void debug_reading(struct job *job, struct input *in, const struct timeline *tl)
{
	if (log_is_debug())
		debug_write(job, in, tl);
}

#endif
