/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans from a text of JSON, by way of a file, as a timeline. */
#ifndef TESTS_LIB_IMPORTING_H
#define TESTS_LIB_IMPORTING_H

#include "export/import.h"
#include "state/store/timeline.h"

/* A new file of that text: its path (g_free; the caller unlinks it). */
char *write_temporary(const char *text, size_t len);

/* All of it, with the clocks that align_install() moved, in pieces of so many bytes,
 * within so much memory (0: as import_open() and
 * timeline_new() have it). NULL and *error: as they refuse it; *warning (g_free) is what was left out. */
struct timeline *import_pieces(const char *text, size_t len, size_t piece_bytes, size_t budget,
			       char **warning, GError **error);
struct timeline *import_bytes(const char *text, size_t len, char **warning, GError **error);

#endif
