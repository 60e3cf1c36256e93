/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spool of a live session (live/spool/spool.h) as a trace in pieces that grows: its content is that of the last
 * renew(). One thread.
 */
#ifndef BLK_RUN_PIECES_SPOOL_H
#define BLK_RUN_PIECES_SPOOL_H

#include "run/pieces.h"

struct spool;

/* Takes a reference of the spool; the rows are borrowed. */
struct pieces pieces_spool(struct spool *s, const struct blk_subscription *rows, size_t n_rows);

#endif
