/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which session of each relay daemon is meant: the one named, the only one, or the one
 * the user picks.
 */
#ifndef BLK_APP_RELAY_H
#define BLK_APP_RELAY_H

#include "cli/options.h"

/* For each relay of the options the url with target and session, as an array of struct
 * live_url (g_array_unref() it). NULL: *ret_code is the program's exit code, after the
 * message was printed. may_pick: there is a terminal to show a list on; NULL and
 * EXIT_FINE when the user left it without a choice. */
GArray *relay_choose(const struct options *o, bool may_pick, int *ret_code);

int relay_list_sessions(const struct options *o);	/* --list-sessions: the exit code */

#endif
