/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A feed that is a babeltrace2 graph behind a gate: messages become blocks of records,
 * which merger.c brings into one order. Blocks and horizon are under the lock of the
 * live source; records of a feed never go back in time.
 */
#ifndef BLK_LIVE_FEED_BT2_H
#define BLK_LIVE_FEED_BT2_H

#include "live/feed.h"
#include "trace/bt2_convert.h"

struct feed_block {
	struct bt2_out out;
	size_t at;			/* records taken so far */
	int64_t arrived;		/* monotonic, us */
	/* entries of the feed's tables that this block is the first to need, borrowed */
	GPtrArray *streams, *hosts, *classes;
};

struct feed_bt2 {
	struct feed feed;		/* first; .queued: records in blocks */

	/* under the lock */
	GQueue blocks, spare;		/* struct feed_block * */
	int64_t horizon;		/* nothing older will come; INT64_MIN */

	/* the merger's */
	GArray *stream_map, *class_map, *host_map;	/* its index -> the source's */
	GArray *open;			/* uint16_t: streams that have not ended */

	struct feed_thread *own;	/* the thread's */
};

struct feed *feed_bt2_new(struct feed_owner *owner, const struct live_url *url,
			  const struct viewer_session *session, enum viewer_seek seek,
			  struct bt2_clocks *clocks);
/* Lock held: the block is used up and may be filled again. */
void feed_recycle(struct feed_bt2 *f, struct feed_block *b);

#endif
