/* SPDX-License-Identifier: GPL-2.0-only */
/* Which session of each relay daemon is read: the named one, the only one, or the one that the user picks. */
#ifndef BLK_APP_RELAY_H
#define BLK_APP_RELAY_H

#include "cli/options.h"

/* An array of struct live_url with target and session, one for each -r (g_array_unref() it). NULL: *ret_code is the
 * exit status after a printed error, or EXIT_FINE if the user cancelled. may_pick: a list may be shown on the
 * terminal. */
GArray *relay_choose(const struct options *o, bool may_pick, int *ret_code);

int relay_list_sessions(const struct options *o);	/* --list-sessions: the exit code */

#endif
