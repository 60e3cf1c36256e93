/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans from files, in place of a trace: Zipkin v2 JSON, as its API and --format zipkin
 * give it (a list of spans, a list of such lists, or several after one another).
 *
 * What blktop wrote it reads back whole: nanoseconds, states, threads, parts, and with
 * --with-kernel waits and system calls. Of other files the parts are unknown, and times
 * are microseconds. Spans said several times are one; what lacks an id or a time, or
 * makes no sense, is left out, counted as lost, and told of. Files are hostile: depth,
 * sizes, numbers and types are checked, and nothing is allocated that they do not hold.
 *
 * Files may be larger than memory: they are looked through once for where the spans of each trace
 * are (import_survey.h), then read trace by trace, a few MiB at a time.
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

/* Is it a file to import, rather than a directory to read a trace from? */
bool import_is_file(const char *path);

/* Looks all of them through. piece_bytes: of files, that a publication is made of (and more where a
 * trace is larger); 0: a few MiB. `watch` (or NULL) is told some ten times a second here and in
 * import_next(), and has to outlive both; where it stops them, what was read until then is all there
 * is. NULL and *error where a file can't be read. Any thread, one at a time. */
struct import *import_open(const char *const *paths, size_t piece_bytes, const struct watch *watch,
			   GError **error);
void import_free(struct import *im);		/* NULL is fine */

/* The next spans: by the end of their traces, each trace in one run and in one publication. Seconds, the
 * exact coverage and all that was left out are in the last one; the ones before say about which
 * times all will cover. NULL: there are no more; and *error: there was no span at all. */
struct publication *import_next(struct import *im, GError **error);

/* When all is read: one line on what was left out, as in struct job_status (g_free); or NULL. */
char *import_warning(const struct import *im);

#endif
