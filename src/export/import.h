/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Imports spans from files instead of a trace. Files are Zipkin v2 JSON, as written by the Zipkin API and by
 * --format zipkin: a list of spans, a list of such lists, or several of these in sequence.
 *
 * Files that blktop wrote are read back completely: nanoseconds, states, threads, parts, and after --with-kernel
 * waits and system calls. In other files parts are unknown and times are microseconds. Several reports of one span are
 * merged. A span without id or time, or with invalid data, is left out, counted as lost and reported. A file in another
 * format (json_formats.h) is refused as a whole. Files are untrusted: depth, sizes, numbers and types are checked, and
 * memory is bounded by what a file really contains.
 *
 * Files may be larger than memory. The first pass finds the spans of each trace (import_survey.h); the second reads
 * trace by trace, a few MiB at a time.
 *
 *     struct import *im = import_open(paths, 0, watch, &error);
 *     while (im && (pub = import_next(im, &error)))
 *             ... timeline_apply(tl, pub) ...
 *     char *warning = import_warning(im);
 *     import_free(im);
 */
#ifndef BLK_EXPORT_IMPORT_H
#define BLK_EXPORT_IMPORT_H

#include "base/watch.h"
#include "state/store/publication.h"

struct import;

/* Is the path a file to import, and not the directory of a trace? */
bool import_is_file(const char *path);

/* Makes the first pass over all files. piece_bytes: bytes of files for one publication (more if one trace is larger);
 * 0: a few MiB. `watch` (or NULL) gets the progress about ten times a second, here and in import_next(), and must
 * outlive both. If it stops the import, the spans read so far are the result. Returns NULL and sets *error if a file
 * cannot be read. Any thread, one at a time. */
struct import *import_open(const char *const *paths, size_t piece_bytes, const struct watch *watch,
			   GError **error);
void import_free(struct import *im);		/* NULL is fine */

/* Adds offset(clock) ns to the times of each span. `clock` is that of its host, else of its endpoint (span.h). Call
 * it before import_next(). */
void import_align(struct import *im, int64_t (*offset)(const char *clock));

/* The next spans, ordered by the end of their traces; all spans of a trace are in one publication. The last publication
 * has the seconds, the exact coverage and the losses; earlier ones have an approximate coverage. NULL: no more spans;
 * NULL with *error: the files have no span at all. */
struct publication *import_next(struct import *im, GError **error);

/* After the last publication: one line about what was left out, or NULL. Free with g_free(). */
char *import_warning(const struct import *im);

#endif
