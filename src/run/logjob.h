/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log for the screen: a thread reads ranges of a recorded trace around the requested instants. A newer request
 * replaces the one before.
 *
 *     struct logjob *j = logjob_new(paths, by_bt2, job_fd(job));
 *     logjob_ask(j, &want);			// makes the fd readable when done
 *     struct calllog_window *w = logjob_take(j);
 */
#ifndef BLK_RUN_LOGJOB_H
#define BLK_RUN_LOGJOB_H

#include "run/logsource.h"
#include "state/calllog/calllog_window.h"

struct logjob;
/* event_fd: an eventfd that is written to when there is something to take. */
struct logjob *logjob_new(const char *const *paths, bool by_bt2, int event_fd);
void logjob_free(struct logjob *j);		/* waits for its thread; NULL is fine */

/* The directories have grown: opens them again before the next answer. */
void logjob_refresh(struct logjob *j);
void logjob_ask(struct logjob *j, const struct calllog_want *want);
/* The newest answer, once; it is the caller's. NULL: nothing new. */
struct calllog_window *logjob_take(struct logjob *j);

#endif
