/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a spool (spool.h): chunks, and what goes when there are too many. One
 * thread's. Functions that can fail leave a reason behind, and the files readable. */
#ifndef BLK_LIVE_SPOOL_SPOOL_FILES_H
#define BLK_LIVE_SPOOL_SPOOL_FILES_H

#include "trace/ctf/ctf_index.h"

struct spool_files;

/* `dir` is there: spool_make_dir(). */
struct spool_files *spool_files_new(const char *dir, uint64_t limit, const char *label,
				    GError **error);
void spool_files_free(struct spool_files *f);
const char *spool_files_path(const struct spool_files *f);
uint64_t spool_files_bytes(const struct spool_files *f);	/* of this run */

/* Numbers are the caller's, from 0 on, without gaps. */
void spool_files_add_trace(struct spool_files *f, const char *name);
void spool_files_add_stream(struct spool_files *f, unsigned trace, const char *name);
/* All of a trace's metadata so far, as it is written from now on. */
bool spool_files_metadata(struct spool_files *f, unsigned trace, const GByteArray *all, GError **error);
/* The trace has ended: forgets it and its streams. Does nothing for an unknown trace. */
void spool_files_end_trace(struct spool_files *f, unsigned trace);
bool spool_files_find_stream(const struct spool_files *f, unsigned stream, unsigned *ret_trace); /* false: unknown */
/* A packet of a known stream. p: its header, or NULL if that cannot be read. */
bool spool_files_packet(struct spool_files *f, unsigned stream, const void *bytes, size_t n,
			const struct ctf_packet *p, GError **error);
/* Begin of the oldest chunk that is still there, in the caller's count of chunks. */
unsigned spool_files_oldest(const struct spool_files *f);
unsigned spool_files_chunk(const struct spool_files *f);	/* number of the newest, from 1 */

#endif
