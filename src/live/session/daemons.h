/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Daemons of LTTng that nobody started yet: a relay daemon on private ports of 127.0.0.1, a
 * session daemon. They are children of who calls, and end with it unless they are to stay.
 * Called by the steward alone.
 */
#ifndef BLK_LIVE_SESSION_DAEMONS_H
#define BLK_LIVE_SESSION_DAEMONS_H

#include "live/session/control.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relay_place {
	uint16_t control, data, live;	/* ports of 127.0.0.1 */
	pid_t pid;			/* of ours; 0: it was there */
	char *dir;			/* ours writes there; NULL */
};

/* The one on the usual ports of this machine; false: none answers there. */
bool daemons_find_relay(struct relay_place *ret);
/* Starts one that writes to a new directory `name` of `state`. Returns when it listens; gives it
 * up after a minute. The watch is told each second that it is waited for. */
bool daemons_start_relay(struct relay_place *ret, const char *state, const char *name, bool stays,
			 const struct control_watch *watch, GError **error);
/* Starts a session daemon; returns when it answers: on a slow machine it loads the kernel's
 * modules for a minute. Given up after five. */
pid_t daemons_start_session(bool stays, const struct control_watch *watch, GError **error);

/* SIGTERM, and SIGKILL `patience_ms` later; a pid of 0 is fine. */
void daemons_end(pid_t pid, int patience_ms);
void daemons_remove(const char *dir);	/* with all below it; links are not followed */
/* A directory of ours, 0700: `name` below `state`, else below the one for temporary files. */
char *daemons_make_dir(const char *state, const char *name, GError **error);

#endif
