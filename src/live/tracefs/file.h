/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of tracefs, relative to a directory's descriptor. Any thread. */
#ifndef BLK_LIVE_TRACEFS_FILE_H
#define BLK_LIVE_TRACEFS_FILE_H

#include <glib.h>
#include <stdbool.h>

#define TRACEFS_ERROR tracefs_error_quark()
GQuark tracefs_error_quark(void);

/* The whole text; g_free. NULL: errno. */
char *tracefs_file_read(int dir, const char *path);
/* Writes the text with one write(2). False: errno. */
bool tracefs_file_write(int dir, const char *path, const char *text);
/* Names in the directory dir/path; g_ptr_array_unref. Empty: it cannot be read. */
GPtrArray *tracefs_file_list(int dir, const char *path);

#endif
