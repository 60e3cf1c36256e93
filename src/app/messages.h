/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages on stderr, and the log file of --log. Texts may contain parts of a trace: control characters are escaped
 * here. Main thread only.
 */
#ifndef BLK_APP_MESSAGES_H
#define BLK_APP_MESSAGES_H

#include <glib.h>
#include <stdbool.h>

/* Levels of the log file; each includes those before it. The words of --log-level, in order. */
enum log_level {
	LOG_LEVEL_ERROR,	/* what was printed to stderr */
	LOG_LEVEL_NOTE,		/* also what is read, and messages of the screen */
	LOG_LEVEL_DEBUG,	/* also each key, and the progress of reading every second */
};

/* Opens the log file. path must be new, empty, a log file of blktop's, or a terminal, and not a link. NULL: the file
 * that BLKTOP_DEBUG names, at level debug, or no log file. level -1: note. */
bool log_open(const char *path, int level, GError **error);
bool log_is_debug(void);	/* is log_debug() written? To skip expensive preparations */
void log_close(void);

/* Prints the error likewise. Returns EXIT_FAILED. */
int log_failure(const GError *error);
/* To stderr as "blktop: ...", and to the log file. */
void log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* To the log file only. */
void log_write(enum log_level level, const char *format, ...) G_GNUC_PRINTF(2, 3);
#define log_note(...) log_write(LOG_LEVEL_NOTE, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
