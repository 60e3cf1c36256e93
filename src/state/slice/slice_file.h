/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices as files (.blkslice): everything a slice knows, so that several processes or machines can make slices, and
 * any can merge them. doc/slices.md describes the format.
 *
 * A file has sections, each with a checksum. It is read with pread(2), one section at a time, and never mapped: a file
 * that shrinks is an error. Files are untrusted: lengths, ids and order are checked before use, and what is damaged is
 * refused with a reason. Any thread, one at a time for each slice.
 */
#ifndef BLK_STATE_SLICE_SLICE_FILE_H
#define BLK_STATE_SLICE_SLICE_FILE_H

#include "base/watch.h"
#include "state/slice/slice.h"

#define SLICE_FILE_VERSION 20

/* A directory that was read: its records of [from, to) (ns) are in the slice. */
struct slice_source { char *name; int64_t from, to; };

/* Which part of a trace a slice has, and from which directories. All zero: nothing. */
struct slice_piece {
	int64_t from, to;	/* ns: it has all records of [from, to); INT64_MIN: from the trace's beginning on;
				 * INT64_MAX: to its end */
	GPtrArray *sources;	/* struct slice_source *, owned; NULL: none. Those of a machine are in order of time */
};
void slice_piece_add(struct slice_piece *p, const char *name, int64_t from, int64_t to);	/* adds a source */
void slice_piece_clear(struct slice_piece *p);

/* Is the path a file that begins like a slice file? */
bool slice_file_is(const char *path);

/* Call it where single events are needed, which slice files do not have. False: the path is a slice file; *error says
 * where its events are. */
bool slice_file_has_events(const char *path, GError **error);

/* Writes a slice that does not start at the trace's beginning and is not live to an open file. The slice does not
 * change. *ret_size: number of bytes. False: *error, or errno alone if write(2) failed. */
bool slice_file_write(struct slice *s, const struct slice_piece *piece, int fd, uint64_t *ret_size, GError **error);
/* Reads a slice from an open file. ret_piece (or NULL): the caller clears it. NULL: *error says what is wrong with the
 * file. */
struct slice *slice_file_read(int fd, struct slice_piece *ret_piece, GError **error);

/*
 * Reads and checks a file. SLICE_SUMMARY: only what has to be known before it is merged: all of code_summary() and
 * code_hosts(). SLICE_PACKED: to be merged and written: what is only copied stays in the file until then (pack.h).
 * Arguments as slice_file_read(); the message of an error names the path.
 */
enum slice_part { SLICE_SUMMARY, SLICE_PACKED, SLICE_ALL };
struct slice *slice_file_open(const char *path, enum slice_part what, struct slice_piece *ret_piece, GError **error);

/* Reads only the summaries of slice files that can be merged. Returns which part of which trace they have together
 * (*ret_piece: the caller clears it), and their first and last event (ns; first > last: there is none). Errors as
 * slice_file_merge(). */
bool slice_file_summary(const char *const *paths, struct slice_piece *ret_piece, int64_t *ret_first, int64_t *ret_last,
			GError **error);

/* Reads slice files in any order, and merges them (slice_merge.c). They fit together if they are of neighbouring times,
 * or of different machines and of the same time. Arguments and errors as slice_file_read(). `watch` (or NULL) gets the
 * progress. */
struct slice *slice_file_merge(const char *const *paths, struct slice_piece *ret_piece, const struct watch *watch,
			       GError **error);
/* The same for a slice that is only written to a file again: its packs stay in the files, which must not change until
 * slice_free(). */
struct slice *slice_file_merge_packed(const char *const *paths, struct slice_piece *ret_piece,
				      const struct watch *watch, GError **error);
/* The same, and folds and thins the result (slice_history.h). The files may be of history already. */
struct slice *slice_file_merge_history(const char *const *paths, struct slice_piece *ret_piece,
				       const struct watch *watch, GError **error);

/* Is it a slice file of history? Then *ret_step is its step (ns). */
bool slice_file_is_history(const char *path, int64_t *ret_step);

#endif
