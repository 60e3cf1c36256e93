/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A feed is one attachment to one relay session: a gate and a babeltrace2 graph on
 * a thread of its own, which turns messages into blocks of records. It lives until
 * the session ends or something breaks; then the keeper makes another one.
 *
 * Blocks, horizon and state are under the lock of the live source; records of a
 * feed never go back in time.
 */
#ifndef BLK_LIVE_FEED_H
#define BLK_LIVE_FEED_H

#include "live/viewer.h"
#include "trace/bt2_convert.h"

enum feed_end {
	FEED_RUNS,
	FEED_SESSION_OVER,	/* destroyed: all its data came */
	FEED_LOST,		/* the relay went away */
	FEED_TAKEN,		/* somebody else is attached */
	FEED_BROKEN,		/* refused, or data that babeltrace2 cannot read */
	FEED_N_ENDS,
};

/* What feeds and the owner of the lock share; all borrowed by the feeds. */
struct feed_owner {
	GMutex lock;
	GCond arrived;		/* a block, an end: for who waits for records */
	GCond changed;		/* an end, a stop: for the keeper */
	GCond taken;		/* room in a queue: for feeds */
	const struct live_url *url;
	const struct blk_subscription *rows;
	size_t n_rows;
	int timeout_ms;
	struct bt2_clocks *clocks;
	int64_t newest;		/* of anything that came; INT64_MIN */
};

struct feed_block {
	struct bt2_out out;
	size_t at;			/* records taken so far */
	int64_t arrived;		/* monotonic, us */
	/* entries of the feed's tables that this block is the first to need, borrowed */
	GPtrArray *streams, *hosts, *classes;
};

struct feed {
	struct feed_owner *owner;
	struct viewer_session session;

	/* under the lock */
	GQueue blocks, spare;		/* struct feed_block * */
	size_t queued;			/* records in blocks */
	int64_t horizon;		/* nothing older will come; INT64_MIN */
	unsigned streams;		/* data streams seen */
	enum feed_end end;
	char *why;			/* of the end; may be NULL */
	bool attached;			/* its graph has run */

	/* the merger's */
	GArray *stream_map, *class_map, *host_map;	/* its index -> the source's */
	GArray *open;			/* uint16_t: streams that have not ended */
	bool begun;

	/* the keeper's */
	int64_t started, missing_since;	/* monotonic, us; 0 */
	bool reaped;

	struct feed_thread *thread;	/* private */
};

struct feed *feed_new(struct feed_owner *owner, const struct viewer_session *session);
/* Asks it to end, as a lost one (LOST) or as one whose session is over. Lock held. */
void feed_stop(struct feed *f, enum feed_end as);
/* After feed_stop() or an end, lock not held. False when the thread did not end in
 * time: it goes on, with all it uses. */
bool feed_join(struct feed *f, int timeout_ms);
void feed_free(struct feed *f);		/* joined */

/* Lock held: the block is used up and may be filled again. */
void feed_recycle(struct feed *f, struct feed_block *b);

/* How long others wait for this one, us: two live timers and a second; less for
 * one that has no stream yet (a first one is announced within a timer). */
int64_t feed_patience(const struct feed *f);

#endif
