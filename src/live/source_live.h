/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live source, inside: who does what.
 *
 *     keeper (a thread)   lists the relay's sessions, makes and ends feeds
 *     feed (a thread)     one attachment: records in blocks       feed.h
 *       gate (a thread)   between its graph and the relay         gate.h
 *     merger              in source_next(): blocks to batches, by time
 *
 * All meet under owner.lock.
 */
#ifndef BLK_LIVE_SOURCE_LIVE_H
#define BLK_LIVE_SOURCE_LIVE_H

#include "live/feed.h"

/* A stream whose feed ended without ending it: until another feed's first record
 * its events are lost. */
struct live_gap {
	uint16_t stream;
	int64_t begin;
	bool lost;			/* else it only has to be ended */
};

struct merger {
	struct blk_event batch[BLK_BATCH];
	GPtrArray *held;		/* struct feed_block *: the batch points into them */
	GPtrArray *held_of;		/* struct feed *: whose */
	GPtrArray *losses;		/* struct blk_loss * of the batch */
	GHashTable *classes;		/* name -> class index + 1 */
	GArray *gaps;			/* struct live_gap */
	int64_t last;			/* of records delivered */
	uint64_t late;
};

struct keeper {
	GThread *thread;
	int wake_fd;
	bool stop, stopped;
	struct viewer *viewer;		/* NULL: not connected; the thread's own */
	bool reachable;			/* the relay answered last time */
	unsigned failures;		/* in a row */
	unsigned broken;		/* feeds in a row that broke soon */
	int64_t retry_at;		/* monotonic, us: no new feed before */
	int64_t empty_since;		/* the relay answers, but has no such session */
	bool over;			/* the last feed ended with its session */
	GArray *done;			/* uint64_t: relay sessions that are over */
	char *trouble;			/* what is wrong; NULL: nothing */
};

struct live {
	struct source source;		/* first */
	struct feed_owner owner;
	struct live_url url;
	char *name;			/* "session 'S' of host 'T' on relay R", to be shown */
	gint cancelled;

	/* under the lock */
	GPtrArray *feeds;		/* struct feed *, being merged */
	GPtrArray *retired;		/* ended and merged: their layouts may be in use */
	struct live_status status;	/* lag and late are computed */
	bool ended;			/* no feed will come any more */
	GError *fatal;			/* why it can't go on */

	struct keeper keeper;
	struct merger merger;
};

/* The next records that may be delivered; 0: none yet. Lock held, except that
 * what the last batch pointed into is given back first. */
size_t merger_next(struct live *l);
void merger_init(struct merger *m);
void merger_clear(struct merger *m);
/* Nothing is left to be delivered. Lock held. */
bool merger_idle(const struct live *l);

void keeper_init(struct keeper *k);
/* One look at the relay's sessions, given by the caller: makes feeds. Lock held. */
void keeper_apply(struct live *l, const GArray *list);
/* Brings l->status up to date. Lock held. */
void keeper_tell(struct live *l);
void keeper_start(struct live *l);
/* Ends feeds and thread; false when some would not end in time. */
bool keeper_stop(struct live *l);
void keeper_clear(struct keeper *k);

#endif
