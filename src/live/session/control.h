/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session daemon of this machine, through liblttng-ctl. Every call blocks; the library
 * keeps to no time limit and prints on stderr: only the steward (helper.h), a process of its
 * own, calls these. Errors: BLK_TRACE_ERROR_SESSION, with the command that mends it where
 * there is one.
 */
#ifndef BLK_LIVE_SESSION_CONTROL_H
#define BLK_LIVE_SESSION_CONTROL_H

#include "live/session/plan.h"

bool control_alive(void);		/* a session daemon answers, and we may use it */

/* Names of the kernel's tracepoints (a set), freed with it; NULL: it can't be traced, and
 * *error says why and what would mend it. */
GHashTable *control_kernel(GError **error);
/* Running programs that have tracepoints whose names begin so; of this daemon. */
unsigned control_programs(const char *prefix);

struct control_session {
	char *name, *path;
	bool snapshot;
};
GPtrArray *control_sessions(void);	/* of struct control_session *, freed with it */

/* Is told of each step before it is taken: there are hundreds, and each may take its time. */
struct control_watch {
	void (*doing)(void *data, const char *what);	/* "enabling the event 'sched_switch'" */
	void *data;
};

/* Makes the session; what could not be made whole is destroyed again. ctrl and data: where
 * its relay daemon listens (a live plan), else NULL and output: the directory of snapshots. */
bool control_make(const struct plan *p, const char *ctrl, const char *data, const char *output,
		  const struct control_watch *watch, GError **error);
bool control_start(const char *session, GError **error);
bool control_destroy(const char *session, GError **error);
/* From now on only these processes: to be called with the first one before the start. */
bool control_track(const struct plan *p, bool kernel_too, int pid, GError **error);

/* Takes one of a snapshot session. *ret_dir: the new directory on this machine, or NULL where
 * it went elsewhere; freed by the caller. `fallback`: where to, if the session has no output. */
bool control_snapshot(const char *session, const char *fallback, char **ret_dir, GError **error);

#endif
