/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop record: records this machine into a directory, as a CTF trace, without showing anything. */
#ifndef BLK_CMD_RECORD_H
#define BLK_CMD_RECORD_H

#include "cli/command.h"

/* Makes the directory `to`, or checks that it is empty; as the user who runs blktop. False after a printed error. */
bool record_prepare(const char *to);
/* Records the session `read->running` until its program ends, the time or the rule of the options is reached, or a
 * signal comes. Returns the exit status. */
int record_run(const struct read_options *read, const struct shown_options *shown, const struct record_options *o);

#endif
