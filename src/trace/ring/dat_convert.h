/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a CTF trace of a file of trace-cmd (trace_dat.h): a directory that all readers open.
 *
 * What such a file does not say stays unknown: the processes of threads that began before, open files, interrupts and
 * disks. Times are those of its clock, from 1970 on, unless the file has an offset (trace-cmd record --date).
 */
#ifndef BLK_TRACE_RING_DAT_CONVERT_H
#define BLK_TRACE_RING_DAT_CONVERT_H

#include <glib.h>
#include <stdbool.h>

/* Is it such a file? False also if it cannot be opened. */
bool dat_is_file(const char *path);

/* Makes the files of the trace in `dir`, which exists and is empty. *ret_warning (g_free): NULL, or what is special
 * about the file, as a sentence without a full stop. False: *error; some files may have been made. */
bool dat_convert(const char *path, const char *dir, char **ret_warning, GError **error);

#endif
