/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starts and stops LTTng daemons: a session daemon, and a relay daemon on free ports of 127.0.0.1. They are
 * children of the calling process, and end with it unless `stays` is set. Only the session helper process calls this.
 */
#ifndef BLK_LIVE_SESSION_DAEMONS_H
#define BLK_LIVE_SESSION_DAEMONS_H

#include "live/session/control.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relay_place {
	uint16_t control, data, live;	/* ports of 127.0.0.1 */
	pid_t pid;			/* the daemon that was started; 0: it ran before */
	char *dir;			/* output directory of the started daemon, else NULL */
	char *sockets;			/* those that listen on the ports, as listeners_owner() names them */
};
void relay_place_clear(struct relay_place *place);

/*
 * Finds a relay daemon of this user on the default ports of this machine. The whole trace goes to it, so the sockets
 * that listen must be this user's, whatever answers there. false: there is none; *ret_why (g_free): NULL, or why what
 * listens there is not used.
 */
bool daemons_find_relay(struct relay_place *ret, char **ret_why);
/* Do the sockets of when it was found or started still listen? If so, connections that were made meanwhile are with
 * that daemon: a socket that listens shares its port only with others of its user. */
bool daemons_check_relay(const struct relay_place *place, GError **error);
/* Starts a relay daemon that writes to a new directory `name` below `state`. Returns when it listens, or fails after
 * a minute. Calls the watch each second. */
bool daemons_start_relay(struct relay_place *ret, const char *state, const char *name, bool stays,
			 const struct control_watch *watch, GError **error);
/* Starts a session daemon; returns when it answers, or fails after five minutes. On a slow machine it loads kernel
 * modules for a minute. */
pid_t daemons_start_session(bool stays, const struct control_watch *watch, GError **error);

/*
 * Between these no other blktop of this user ends the session daemon that it started: one that is used, and has no
 * session yet. The lock is on the daemon's directory. Waits some seconds at most. -1: not locked, as there is no such
 * directory before the first daemon, or another blktop hangs.
 */
int daemons_lock(void);
void daemons_unlock(int lock);			/* -1 is fine */

/* Sends SIGTERM, and SIGKILL `patience_ms` later; waits for the end. A pid of 0 is fine. */
void daemons_end(pid_t pid, int patience_ms);
void daemons_remove(const char *dir);	/* and all below it; does not follow links; NULL is fine */
/* Makes a private directory (0700): `name` below `state`, or else below the directory for temporary files. */
char *daemons_make_dir(const char *state, const char *name, GError **error);

#endif
