/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map: makes a slice file of a part of a trace. blktop reduce: merges slice files to one. */
#ifndef BLK_CMD_MAP_H
#define BLK_CMD_MAP_H

#include "cli/options.h"
#include "state/slice/slice_file.h"

int map_write(const struct options *o);
/* --watch: maps each rotation chunk of a directory when another one follows it, until a signal comes. The slice of the
 * chunk NAME is NAME.blkslice in the directory `output`; one that is there is not made again. With --delete-mapped, a
 * chunk is deleted when its slice was read back and the next chunk is mapped, too, which needs it. SIGTERM is the usual
 * end: status 0, or EXIT_FAILED if a chunk could not be mapped. */
int map_watch(const struct options *o);
/* Maps the range of the paths (as in struct map_plan) to the file `output`. Signals are caught. Returns the status. */
int map_write_range(const struct options *o, const char *const *paths, int64_t from, int64_t to, const char *output);
int map_reduce(const struct options *o);
/* Writes the slice to the file `output`, as export_write_by() does. *ret_path: its absolute path (g_free); *ret_size:
 * bytes. False: *error. */
bool map_write_slice(struct slice *s, const struct slice_piece *piece, const char *output, bool force, char **ret_path,
		     uint64_t *ret_size, GError **error);

#endif
