/* SPDX-License-Identifier: GPL-2.0-only */
/* Feeds a slice with the records of a source. */
#ifndef BLK_STATE_KERNEL_FEED_H
#define BLK_STATE_KERNEL_FEED_H

#include "trace/event.h"

#include <stddef.h>

struct slice;
struct slice_host;

/* Records in order of time; their indexes refer to `tables`. */
void slice_feed(struct slice *s, const struct blk_tables *tables,
		const struct blk_event *ev, size_t n);

/*
 * A window of lost events that is open when the slice begins, from the packet index or the left neighbour. Call it
 * before anything is fed: the slice's records have only the window's end.
 */
void slice_begin_lost(struct slice *s, const struct blk_tables *tables, unsigned stream,
		      const struct blk_loss *loss);

/* The slice is of these hosts, even if it has no record of them. */
void slice_learn_hosts(struct slice *s, const struct blk_tables *tables);

/* ---- only for src/state/ ---- */

/* Copies the kernel's release ("": unknown), and sets what follows from its version. */
void slice_host_set_release(struct slice_host *host, const char *release);
/* Adds the counts of events to their seconds: call it before bins are read. */
void slice_flush(struct slice *s);
/* The next records come from another source, which has its own tables. */
void slice_change_source(struct slice *s);
/* Drops all seconds so far. */
void slice_drop_seconds(struct slice *s);

#endif
