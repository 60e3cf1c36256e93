/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controls the session daemon of this machine, through liblttng-ctl. Calls block without time limit, and the library
 * prints on stderr, so only the session helper process (helper.h) calls these functions. Errors:
 * BLK_TRACE_ERROR_SESSION, with the command that fixes the problem if there is one.
 */
#ifndef BLK_LIVE_SESSION_CONTROL_H
#define BLK_LIVE_SESSION_CONTROL_H

#include "live/session/plan.h"

bool control_alive(void);		/* a session daemon answers, and this user may use it */

/* The set of names of the kernel's tracepoints, which it owns. NULL: the kernel cannot be traced; *error has the reason
 * and the remedy. */
GHashTable *control_kernel(GError **error);
/* Number of running programs, registered with this daemon, that have a tracepoint whose name begins with `prefix`. */
unsigned control_programs(const char *prefix);

struct control_session {
	char *name, *path;
	bool snapshot;
};
GPtrArray *control_sessions(void);	/* of struct control_session *, freed with it */

/* Called before each step: there are hundreds of steps, and each may take long. */
struct control_watch {
	void (*doing)(void *data, const char *what);	/* "enabling the event 'sched_switch'" */
	void *data;
};

/* Makes the session; destroys it again if a step fails. For a live plan, `ctrl` and `data` are URLs of its relay
 * daemon; for a snapshot session they are NULL, and `output` is the directory of snapshots. */
bool control_make(const struct plan *p, const char *ctrl, const char *data, const char *output,
		  const struct control_watch *watch, GError **error);
bool control_start(const char *session, GError **error);
bool control_destroy(const char *session, GError **error);
/* Tracks a process: after the first call only tracked processes are recorded. Make that call before the start. */
bool control_track(const struct plan *p, bool kernel_too, int pid, GError **error);

/* Takes a snapshot. *ret_dir: the new directory on this machine (g_free()), or NULL if it was written on another one.
 * `fallback`: the directory to use if the session has no output. */
bool control_snapshot(const char *session, const char *fallback, char **ret_dir, GError **error);

#endif
