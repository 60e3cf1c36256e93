/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map: makes a slice file of a part of a trace. blktop reduce: merges slice files to one. */
#ifndef BLK_CMD_MAP_H
#define BLK_CMD_MAP_H

#include "cli/command.h"
#include "run/map.h"
#include "state/slice/slice_file.h"

/* Each returns the exit status. */
int map_write(const struct read_options *read, const struct output_options *output, const struct map_options *o);
/* --watch: maps each rotation chunk of the directory plan.paths[0] when another one follows it, until a signal comes.
 * The slice of the chunk NAME is NAME.blkslice in the directory `to`; one that is there is not made again. With
 * --delete-mapped, a chunk is deleted when its slice was read back and the next chunk is mapped, too, which needs it.
 * SIGTERM is the usual end: status 0, or EXIT_FAILED if a chunk could not be mapped. */
int map_watch(struct map_plan plan, const char *to, const struct map_options *o);
/* Maps what the plan says. Signals are caught, and end it. */
int map_write_range(struct map_plan plan, const struct output_options *output);
int map_reduce(const struct read_options *read, const struct output_options *output, bool to_history);
/* Writes the slice, as export_write_by() does. *ret_path: its absolute path (g_free); *ret_size: bytes. False:
 * *error. */
bool map_write_slice(struct slice *s, const struct slice_piece *piece, const struct output_options *output,
		     char **ret_path, uint64_t *ret_size, GError **error);

#endif
