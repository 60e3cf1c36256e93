/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a live session keeps on disk (live/spool/spool.h), as a trace in pieces that grows: what
 * is known of it is as of the last renew(). One thread's.
 */
#ifndef BLK_RUN_KEPT_H
#define BLK_RUN_KEPT_H

#include "run/pieces.h"

struct spool;

/* Takes a reference of the spool; the rows are borrowed. */
struct pieces pieces_kept(struct spool *s, const struct blk_subscription *rows, size_t n_rows);

#endif
