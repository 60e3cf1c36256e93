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
 */
#ifndef BLK_EXPORT_IMPORT_H
#define BLK_EXPORT_IMPORT_H

#include "base/watch.h"
#include "state/publish.h"

/* Is it a file to import, rather than a directory to read a trace from? */
bool import_is_file(const char *path);

/* Reads all of them; *ret_warning: NULL, or one line on what is left out, as in struct
 * job_trace (g_free). `watch` (or NULL) is told some ten times a second; where it stops the
 * reading, what was read until then is all there is. Spans are by the end of their traces, each
 * trace in one run. NULL and *error where a file can't be read, or holds no span at all. Any
 * thread. */
struct publication *import_files(const char *const *paths, const struct watch *watch,
				 char **ret_warning, GError **error);

#endif
