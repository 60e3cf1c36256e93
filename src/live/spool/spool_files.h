/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a spool (spool.h): writes chunks, and deletes the oldest to stay below the limit. One thread. When a
 * function fails, *error has the reason and the files stay readable.
 */
#ifndef BLK_LIVE_SPOOL_SPOOL_FILES_H
#define BLK_LIVE_SPOOL_SPOOL_FILES_H

#include "trace/ctf/ctf_index.h"

struct spool_files;

/* `dir` must exist: spool_make_dir(). */
struct spool_files *spool_files_new(const char *dir, uint64_t limit, const char *label,
				    GError **error);
/* Without limit, in `dir` itself, which has nothing in it. last_us: 0: one trace without chunks; else chunks, of which
 * those are deleted that ended longer ago, except the first: it has the state dump. */
struct spool_files *spool_files_new_whole(const char *dir, gint64 last_us);
/* Any thread. While it is held, no chunk is deleted for its age. */
void spool_files_hold(struct spool_files *f, bool held);
void spool_files_free(struct spool_files *f);
const char *spool_files_path(const struct spool_files *f);
uint64_t spool_files_bytes(const struct spool_files *f);	/* of this run */

/* Traces and streams are numbered from 0 in the order of these calls. */
void spool_files_add_trace(struct spool_files *f, const char *name);
void spool_files_add_stream(struct spool_files *f, unsigned trace, const char *name);
/* Sets all of a trace's metadata so far, and writes it to the current chunk if that has packets of the trace. */
bool spool_files_metadata(struct spool_files *f, unsigned trace, const void *all, size_t n, GError **error);
/* The trace has ended: frees it and its streams. Does nothing for an unknown trace. */
void spool_files_end_trace(struct spool_files *f, unsigned trace);
bool spool_files_find_stream(const struct spool_files *f, unsigned stream, unsigned *ret_trace); /* false: unknown */
/* Writes a packet of a known stream, also before there is metadata. p: its header, or NULL if that cannot be read. */
bool spool_files_packet(struct spool_files *f, unsigned stream, const void *bytes, size_t n,
			const struct ctf_packet *p, GError **error);
/* Number of the first of this run's chunks without a gap behind it, from 1. */
unsigned spool_files_oldest(const struct spool_files *f);
unsigned spool_files_chunk(const struct spool_files *f);	/* number of the newest, from 1 */

#endif
