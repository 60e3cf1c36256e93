/* SPDX-License-Identifier: GPL-2.0-only */
/* What earlier runs left in the directory of spools (spool.h). */
#ifndef BLK_LIVE_SPOOL_SPOOL_OLD_H
#define BLK_LIVE_SPOOL_SPOOL_OLD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SPOOL_LOCK ".blktop-spool"	/* held while a run goes on; directories without it
					 * are none of ours */
#define SPOOL_DIGITS 8			/* of a chunk's name */

struct spool_chunk { char *path; uint64_t bytes; };
void spool_chunk_free(void *chunk);

/* Appends the chunks of all runs that are over, the oldest first; returns their bytes.
 * A packet that a killed run had not finished is cut off first. */
uint64_t spool_old_find(const char *dir, GQueue *ret);

/* A chunk was deleted: so is its run when that was the last. */
void spool_old_forget_run(const char *chunk_path);

#endif
