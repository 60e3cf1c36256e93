/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds chunks that earlier runs left in the spool directory (spool.h). */
#ifndef BLK_LIVE_SPOOL_SPOOL_OLD_H
#define BLK_LIVE_SPOOL_SPOOL_OLD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SPOOL_LOCK ".blktop-spool"	/* file that a running process holds a lock on; directories
					 * without this file are not spools */
#define SPOOL_DIGITS 8			/* of the number that names a chunk */

struct spool_chunk {
	char *path;
	uint64_t bytes;
	gint64 ended_us;		/* monotonic: when the next one began; 0: of an earlier run */
};
void spool_chunk_free(void *chunk);

/* Appends the chunks of runs that have ended (struct spool_chunk *, oldest first); returns their bytes. Cuts off
 * packets that killed runs wrote incompletely. */
uint64_t spool_old_find(const char *dir, GQueue *ret);

/* After the deletion of a chunk: deletes the run's directory if no chunk is left. */
void spool_old_forget_run(const char *chunk_path);

#endif
