/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which session of a relay daemon is meant: the one named, the only one, or the one
 * the user picks.
 */
#ifndef BLK_RELAY_H
#define BLK_RELAY_H

#include "options.h"

/* Fills *ret (live_url_clear() it) with target and session. EXIT_FINE, or the
 * program's exit code after the message was printed. may_pick: there is a terminal to
 * show a list on; *ret_left is set when the user left it without a choice. */
int relay_choose(const struct options *o, bool may_pick, struct live_url *ret, bool *ret_left);

int relay_list_sessions(const struct options *o);	/* --list-sessions: the exit code */

#endif
