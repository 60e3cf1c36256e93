/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in a file of the cache (cache.h): the publications of one reading of a trace, as they were posted, and the
 * newest version of each second. doc/slices.md describes the format.
 *
 * Writing: the caller appends what each call returns to the file, in the same order. Reading: everything is checked
 * when the file is opened. Then publications are read one after the other; the cells of a second are read when it is
 * looked at (struct second_reader).
 */
#ifndef BLK_RUN_CACHE_FILE_H
#define BLK_RUN_CACHE_FILE_H

#include "state/store/publication.h"

/* ---- writing; one thread ---- */

struct cache_writer;
/* at: the offset in the file of the first byte that it returns. */
struct cache_writer *cache_writer_new(uint64_t at);
void cache_writer_free(struct cache_writer *w);		/* NULL is fine */
/* Appends the publication, which does not change, to `out`. NULL: fine; else why that is not possible (static). */
const char *cache_writer_add(struct cache_writer *w, struct publication *p, GByteArray *out);
/* Appends the table: all is written. */
const char *cache_writer_end(struct cache_writer *w, GByteArray *out);

/* ---- reading; one thread, but for seconds ---- */

struct cache_reader;
/* The content is what was written from the offset `from` on, and ends at `to`. fd is duplicated. NULL: *ret_why says
 * what is wrong with it (static). */
struct cache_reader *cache_reader_open(int fd, uint64_t from, uint64_t to, const char **ret_why);
void cache_reader_free(struct cache_reader *r);		/* NULL is fine; seconds can still be read */
uint64_t cache_reader_bytes(const struct cache_reader *r);	/* of the publications, as they are stored */
/* The next publication. NULL: there are no more, or *ret_why says that it cannot be read. */
struct publication *cache_reader_next(struct cache_reader *r, const char **ret_why);

#endif
