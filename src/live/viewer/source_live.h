/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live source, inside: who does what.
 *
 *     keeper (a thread)   one for each session asked for: lists the relay's sessions,
 *                         makes and ends feeds
 *     feed (a thread)     one attachment: packets pushed to a native_feed, which all
 *                         feeds share                             feed.h, attach.h
 *     intake              in source_next(): takes its records
 *
 * All meet under owner.lock.
 */
#ifndef BLK_LIVE_VIEWER_SOURCE_LIVE_H
#define BLK_LIVE_VIEWER_SOURCE_LIVE_H

#include "live/viewer/attach.h"

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
	unsigned broken;		/* feeds in a row that broke soon, and handed no packet on */
	unsigned stuck;			/* feeds in a row that were lost before an announced packet had come,
					 * and handed none on */
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

struct live {
	struct source source;		/* first */
	struct live_options options;
	struct feed_owner owner;
	struct keeper *keepers;
	size_t n_keepers;
	gint cancelled;

	/* under the lock */
	GPtrArray *feeds;		/* struct feed *: those that were not reaped */
	struct live_status status;	/* lag, late, and most of what is missing are computed */
	bool stop;
	bool ended;			/* no feed will come any more */
	GError *fatal;			/* why it can't go on */
	int64_t event_ns, passed_ns;	/* delivered: newest event; before this all. INT64_MIN */

	int64_t unread_since;		/* monotonic, us: nothing of what comes can be read; 0. The reading
					 * thread's */

	struct attach_sink sink;
};

/* intake.c: the native_feed that all feeds push to, as part of the live source. */
void intake_init(struct live *l);
void intake_clear(struct live *l);
/* As source_next(), and waits no longer than about 50 ms. */
enum source_status intake_next(struct live *l, struct blk_batch *ret, GError **error);
/* A feed for that session of the relay, which runs. Lock held. */
struct feed *intake_attach(struct live *l, struct keeper *k, const struct viewer_session *s);
/* Why nothing of what came can be read (g_free); NULL: something can, or nothing came. The
 * reading thread's. */
char *intake_unread(struct live *l);
/* What it adds to the status. Any thread, lock held. */
void intake_tell(struct live *l, struct live_status *ret);
/* There is news for the thread that waits in intake_next(). Any thread. */
void intake_wake(struct live *l);

void keeper_init(struct keeper *k, struct live *l, const struct live_url *url);
void keeper_clear(struct keeper *k);
/* Brings l->status up to date. Lock held. */
void keeper_tell(struct live *l);
void keeper_start(struct keeper *k);
/* Ends feeds and threads of all keepers; false when some would not end in time. */
bool keepers_stop(struct live *l);
/* The past of that relay session; the keeper's. Lock held. */
struct attach_past *keeper_past(struct keeper *k, uint64_t session);
/* Adds what keepers and feeds know to be missing. Lock held. */
void keeper_tell_missing(const struct live *l, struct missing *ret);
/* Is the session to be had from its beginning on? (What is in its past is not had
 * twice.) Lock held. */
bool keeper_wants_all(const struct keeper *k, uint64_t session);

#endif
