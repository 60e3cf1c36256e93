/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A feed is one attachment to one relay session, on a thread of its own. It lives until
 * the session ends or something breaks; then the keeper makes another one. This is what
 * the keeper sees of it; what the thread does is in attach.h.
 */
#ifndef BLK_LIVE_VIEWER_FEED_H
#define BLK_LIVE_VIEWER_FEED_H

#include "live/viewer/viewer.h"

struct feed;

enum feed_end {
	FEED_RUNS,
	FEED_SESSION_OVER,	/* destroyed: all its data came */
	FEED_LOST,		/* the relay went away */
	FEED_TAKEN,		/* somebody else is attached */
	FEED_BROKEN,		/* refused, or data that can't be read */
	FEED_N_ENDS,
};

/* What feeds and the owner of the lock share; all borrowed by the feeds. */
struct feed_owner {
	GMutex lock;
	GCond arrived;		/* data, an end: for who waits for records */
	GCond changed;		/* an end, a stop: for the keepers */
	const struct blk_subscription *rows;
	size_t n_rows;
	int timeout_ms;
	int64_t newest;		/* instant of anything that came; INT64_MIN */
	/* of all feeds, also of those that have ended: */
	uint64_t refused_packets, refused_bytes;	/* announced, and then not handed out */
	unsigned ended_early, ends_unknown;		/* as in struct missing, of ended ones */
};

/* What kind of feed it is. */
struct feed_ops {
	/* The feed's thread: returns when the feed ends or was asked to stop, after its last data was handed
	 * over. *why (g_free(), may stay NULL) becomes the feed's. */
	enum feed_end (*run)(struct feed *f, char **why);
	void (*free)(struct feed *f);	/* the memory; the thread has ended */
};

struct feed {
	const struct feed_ops *ops;	/* borrowed */
	struct feed_owner *owner;
	const struct live_url *url;	/* the relay's */
	struct viewer_session session;
	int wake_fd;			/* readable once it is to stop */
	int left_fd;			/* its connection, should the relay believe that we are
					 * there (net_leave()), or -1; the thread's, later the
					 * keeper's */
	gint stop;			/* enum feed_end asked for, or 0 */
	gint came;			/* s, monotonic: when bytes came last; atomic */
	GThread *thread;

	/* under the lock */
	unsigned streams;		/* data streams seen */
	enum feed_end end;
	char *why;			/* of the end; may be NULL */
	int64_t progress_at;		/* monotonic, us: when data came last, or waited for room, about */
	int64_t answered_at;		/* monotonic, us: the relay has answered what was asked until then */
	bool advanced;			/* it has handed a packet on */
	bool whole;			/* of an ended one: the relay said of each stream that it was over */
	bool unstopped;			/* of an ended one: its last packets show that tracing was not stopped */
	bool owes;			/* of an ended one: packets were announced that did not come */
	unsigned given_up;		/* streams that the relay has only errors for, or keeps back */
	bool withheld;			/* it kept some back that an earlier connection knew of */
	unsigned early;			/* streams that are over while the session is not */
	unsigned ends_unknown;		/* streams of exited processes whose last packet the relay may have
					 * withheld (before LTTng 2.15) */
	bool attached;

	/* the keeper's */
	int64_t started, missing_since;	/* monotonic, us; 0 */
};

/* For attach_new(): fills the base and starts the thread. */
void feed_init(struct feed *f, const struct feed_ops *ops, struct feed_owner *owner,
	       const struct live_url *url, const struct viewer_session *session);
void feed_start(struct feed *f, const char *name);
bool feed_stopped(struct feed *f);	/* asked to end? Any thread */
void feed_set_attached(struct feed *f);	/* the feed's thread, lock not held */

/* Asks it to end, as a lost one (LOST) or as one whose session is over. Lock held. */
void feed_stop(struct feed *f, enum feed_end as);
/* After feed_stop() or an end, lock not held. False when the thread did not end in
 * time: it goes on, with all it uses. */
bool feed_join(struct feed *f, int timeout_ms);
void feed_free(struct feed *f);		/* joined */

/* How long others wait for this one, us: two live timers and a second; less for
 * one that has no stream yet (a first one is announced within a timer). */
int64_t feed_patience(const struct feed *f);
int64_t feed_timer_patience(uint32_t timer_us);	/* two of them and a second */

#endif
