/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal for a screen: a thread that reads pieces of a recorded trace around the
 * instants that are asked for. A newer question takes the place of the one before.
 *
 *     struct logjob *j = logjob_new(paths, by_bt2, job_fd(job));
 *     logjob_ask(j, &want);			// the fd rings
 *     struct journal_window *w = logjob_take(j);
 */
#ifndef BLK_RUN_LOGJOB_H
#define BLK_RUN_LOGJOB_H

#include "run/logsource.h"
#include "state/calllog/calllog_window.h"

struct logjob;
/* event_fd: an eventfd that is written to when there is something to take. */
struct logjob *logjob_new(const char *const *paths, bool by_bt2, int event_fd);
void logjob_free(struct logjob *j);		/* waits for its thread; NULL is fine */

/* The directories have grown: looks at them again before the next answer. */
void logjob_refresh(struct logjob *j);
void logjob_ask(struct logjob *j, const struct journal_want *want);
/* The newest answer, once: the caller's; NULL: nothing new. */
struct journal_window *logjob_take(struct logjob *j);

#endif
