/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the program says besides its output: messages on stderr, and a journal in the
 * file of --log. Texts may hold what came from a trace: control characters are
 * escaped here.
 */
#ifndef BLK_CLI_MESSAGES_H
#define BLK_CLI_MESSAGES_H

#include <glib.h>
#include <stdbool.h>

/* What the journal has; each level has those before it, too. --log-level's words, in order. */
enum log_level {
	LOG_LEVEL_ERROR,	/* what was said on stderr */
	LOG_LEVEL_NOTE,		/* what happened: what is read, messages of the screen */
	LOG_LEVEL_DEBUG,	/* each key, and every second how reading goes on */
};

/* Appends to `path`, which is new, empty, a log of blktop's, or a terminal, and no link; NULL: to the
 * file that BLKTOP_DEBUG names, at the level of debug; no log where there is none. level:
 * -1: note. */
bool log_open(const char *path, int level, GError **error);
bool log_is_debug(void);	/* is log_debug() written? For what is expensive to tell */
void log_close(void);

/* To stderr as "blktop: ...", and to the journal. */
void log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* To the journal only. */
void log_note(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_debug(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
