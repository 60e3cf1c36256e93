/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live source, inside: who does what.
 *
 *     keeper (a thread)   one for each session asked for: lists the relay's sessions,
 *                         makes and ends feeds
 *     feed (a thread)     one attachment                          feed.h
 *
 * and either, natively,
 *
 *     attach              a feed: packets pushed to a native_feed  attach.h
 *     intake              in source_next(): takes its records
 *
 * or with babeltrace2
 *
 *     feed_bt2            a feed: records in blocks               feed_bt2.h
 *       gate (a thread)   between its graph and the relay         gate.h
 *     merger              in source_next(): blocks to batches, by time
 *
 * All meet under owner.lock.
 */
#ifndef BLK_LIVE_SOURCE_LIVE_H
#define BLK_LIVE_SOURCE_LIVE_H

#include "live/attach.h"
#include "live/feed_bt2.h"

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
	GPtrArray *held_of;		/* struct feed_bt2 *: whose */
	GPtrArray *losses;		/* struct blk_loss * of the batch */
	GHashTable *classes;		/* blk_class_key() -> class index + 1 */
	GArray *gaps;			/* struct live_gap */
	GPtrArray *retired;		/* struct feed *: ended and merged, but their layouts may
					 * be in use */
	struct bt2_clocks *clocks;
	int64_t last;			/* of records delivered */
	uint64_t late;
};

struct keeper {
	struct live *live;
	struct live_url url;
	char *name;			/* "session 'S' of host 'T' on relay R", to be shown */
	GThread *thread;
	int wake_fd;
	struct viewer *viewer;		/* NULL: not connected; the thread's own */

	/* under the lock */
	bool looked;			/* the list came once */
	bool seen;			/* a feed was attached once */
	bool reachable;			/* the relay answered last time */
	unsigned failures;		/* in a row */
	unsigned broken;		/* feeds in a row that broke soon */
	int64_t retry_at;		/* monotonic, us: no new feed before */
	int64_t empty_since;		/* the relay answers, but has no such session */
	bool over;			/* the last feed ended with its session */
	bool ended;			/* no feed will come any more */
	GArray *done;			/* uint64_t: relay sessions that are over */
	GArray *first;			/* uint64_t: sessions that were there at the first look */
	GHashTable *pasts;		/* uint64_t id -> struct attach_past */
	GArray *left;			/* int: connections of lost feeds, which hold our places */
	char *trouble;			/* what is wrong; NULL: nothing */
};

/* What keepers make, and who takes what comes of it: one of two. */
struct live_way {
	void (*init)(struct live *l);
	/* Lock held. */
	struct feed *(*attach)(struct live *l, struct keeper *k, const struct viewer_session *s);
	/* As source_next(), and may wait as long. */
	enum source_status (*next)(struct live *l, struct blk_batch *ret, GError **error);
	bool (*take_late)(struct live *l, struct source_late *ret);	/* as source_take_late() */
	/* All feeds have ended, and lock held: has all been taken? */
	bool (*idle)(const struct live *l);
	/* Any thread, lock held: what it adds to the status. */
	void (*tell)(struct live *l, struct live_status *ret);
	/* Any thread: there is news for who waits in next(). */
	void (*wake)(struct live *l);
	/* A feed has ended and was reaped, lock held: true when it may be freed. */
	bool (*let_go)(struct live *l, struct feed *f);
	void (*clear)(struct live *l);
};

struct live {
	struct source source;		/* first */
	const struct live_way *way;
	struct live_options options;
	struct feed_owner owner;
	struct keeper *keepers;
	size_t n_keepers;
	gint cancelled;

	/* under the lock */
	GPtrArray *feeds;		/* struct feed * that run, or are not merged yet */
	struct live_status status;	/* lag and late are computed */
	bool stop;
	bool ended;			/* no feed will come any more */
	GError *fatal;			/* why it can't go on */
	int64_t event_ns, passed_ns;	/* delivered: newest event; before this all. INT64_MIN */

	struct attach_sink sink;	/* one of these two is in use */
	struct merger merger;
};

extern const struct live_way merger_way, intake_way;
#define LIVE_NEXT_US 50000		/* next() waits no longer */

void keeper_init(struct keeper *k, struct live *l, const struct live_url *url);
void keeper_clear(struct keeper *k);
/* Brings l->status up to date. Lock held. */
void keeper_tell(struct live *l);
void keeper_start(struct keeper *k);
/* Ends feeds and threads of all keepers; false when some would not end in time. */
bool keepers_stop(struct live *l);
/* The past of that relay session; the keeper's. Lock held. */
struct attach_past *keeper_past(struct keeper *k, uint64_t session);
/* Is the session to be had from its beginning on? (What is in its past is not had
 * twice.) Lock held. */
bool keeper_wants_all(const struct keeper *k, uint64_t session);

#endif
