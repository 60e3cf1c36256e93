/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the program says besides its output: messages on stderr, and a journal in the
 * file of --log. Texts may hold what came from a trace: control characters are
 * escaped here.
 */
#ifndef BLK_LOG_H
#define BLK_LOG_H

#include <glib.h>
#include <stdbool.h>

bool log_open(const char *path, GError **error);	/* appends; NULL: no journal */
void log_close(void);

/* To stderr as "blktop: ...", and to the journal. */
void log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* To the journal only. */
void log_note(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
