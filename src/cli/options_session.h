/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of sessions that are made on this machine, as given and what they mean. */
#ifndef BLK_CLI_OPTIONS_SESSION_H
#define BLK_CLI_OPTIONS_SESSION_H

#include "cli/options.h"

struct here_words {
	const char *session, *pid, *live_timer, *loglevel, *perf, *kprobe, *snapshot, *snapshot_when;
	bool yes, keep, spans_only, calls_only, functions;
	const char *const *program;
	bool has_end;			/* -n */
	enum command command;
};

/* Fills o->here; o->local and live are known. */
bool options_check_session(struct options *o, const struct here_words *w, GError **error);
void options_clear_session(struct here *h);

#endif
