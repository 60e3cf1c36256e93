/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slices of a directory, in order of time, as they appear. The directory has slice files, which another process
 * makes (blktop map --watch), or rotation chunks, which are mapped here when the next one is there. It is listed when
 * it is asked for a slice that it does not have, so it can be on a network file system.
 *
 * Slices must fit: each begins where the one before ends. If a later one is there, and nothing fits for some seconds,
 * the time between them is a gap: all events are lost in it. What cannot be read or does not fit is left out.
 *
 * One thread at a time. Files are never changed.
 */
#ifndef BLK_RUN_SLICE_DIR_H
#define BLK_RUN_SLICE_DIR_H

#include "state/slice/slice.h"

struct slice_dir;

/* step_ns: the slices must have it. stop: as source_stop_by() takes it, for mapping. NULL: the directory cannot be
 * read, *error. */
struct slice_dir *slice_dir_new(const char *path, int64_t step_ns, const int *stop, GError **error);
void slice_dir_free(struct slice_dir *d);		/* NULL is fine */

/* The next slice, which is the caller's; NULL: there is none now. *ret_more: false after the slice that ends at the
 * trace's end. */
struct slice *slice_dir_next(struct slice_dir *d, bool *ret_more);

/* The next line about what was left out or is missing (g_free); NULL: there is none that was not taken yet. */
char *slice_dir_message(struct slice_dir *d);

/* The paths of the directory's slice files (NULL-terminated, g_strfreev()); NULL: it has none. */
char **slice_dir_files(const char *path);

#endif
