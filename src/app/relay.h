/* SPDX-License-Identifier: GPL-2.0-only */
/* Which session of each relay daemon is read: the named one, the only one, or the one that the user picks. */
#ifndef BLK_APP_RELAY_H
#define BLK_APP_RELAY_H

#include "app/exit_code.h"
#include "app/read_options.h"
#include "ui/ui.h"

/* An array of struct live_url with target and session, one for each -r (g_array_unref() it). NULL: *ret_code is the
 * exit status after a printed error, or EXIT_FINE if the user cancelled. pick_on: how a list is
 * shown on the terminal; NULL: none is shown. */
GArray *relay_choose(const struct read_options *o, const struct ui_options *pick_on, int *ret_code);

/* --list-sessions, as lines or as JSON: the exit status. */
int relay_list_sessions(const struct read_options *o, bool json);

#endif
