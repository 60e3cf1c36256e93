/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link: one attachment to one relay session, on its own thread. It lives until the session ends or the connection
 * breaks; then the supervisor (source_live.h) makes another one. This header is the supervisor's view; attach.h
 * describes what the thread does.
 */
#ifndef BLK_LIVE_VIEWER_LINK_H
#define BLK_LIVE_VIEWER_LINK_H

#include "live/viewer/viewer.h"

struct link;

enum link_end {
	LINK_RUNS,
	LINK_SESSION_ENDED,	/* the session was destroyed; all its data was received */
	LINK_LOST,		/* the connection broke */
	LINK_TAKEN,		/* another viewer is attached */
	LINK_BROKEN,		/* the relay refused, or sent data that cannot be read */
	LINK_N_ENDS,
};

/* What links share with their owner, the live source; borrowed by the links. */
struct link_owner {
	GMutex lock;
	GCond arrived;		/* data or an end: wakes the thread that waits for records */
	GCond changed;		/* an end or a stop: wakes the supervisors */
	const struct blk_subscription *rows;
	size_t n_rows;
	int timeout_ms;		/* of a request to the relay */
	int64_t newest;		/* ns: newest event or beacon received; INT64_MIN: none */
	/* sums over all links, ended ones included: */
	uint64_t refused_packets, refused_bytes;	/* announced, then not delivered by the relay */
	unsigned ended_early, ends_unknown;		/* as in struct missing, of ended links */
};

/* What kind of link it is. */
struct link_ops {
	/* The link's thread function. It returns when the link ends or was asked to stop, after its last data was
	 * handed over. *why (g_free(), may stay NULL) becomes the link's. */
	enum link_end (*run)(struct link *f, char **why);
	void (*free)(struct link *f);	/* frees the memory; the thread has ended */
};

struct link {
	const struct link_ops *ops;	/* borrowed */
	struct link_owner *owner;
	const struct live_url *url;	/* of the relay; borrowed */
	struct viewer_session session;
	int wake_fd;			/* an eventfd, readable once the link is asked to stop */
	int broken_fd;			/* the broken connection, while the relay may believe that it is open
					 * (net_leave()); -1: none. Owned by the thread; after its end by the
					 * supervisor */
	gint stop;			/* atomic: enum link_end to end with; 0: not asked to stop */
	gint bytes_at;			/* atomic: monotonic, s: when bytes were last received */
	GThread *thread;

	/* under the lock */
	unsigned streams;		/* data streams that have not ended */
	enum link_end end;
	char *why;			/* reason of the end; may be NULL */
	int64_t progress_at;		/* monotonic, us: about when data was last received or waited for room */
	int64_t answered_at;		/* monotonic, us: the relay has answered all requests up to then */
	bool advanced;			/* a packet was handed on */
	unsigned given_up;		/* streams for which the relay has only errors, or withholds packets */
	bool withheld;			/* the relay withheld packets that an earlier connection had announced */
	unsigned ended_early;		/* streams that ended while the session goes on */
	unsigned ends_unknown;		/* as in struct missing */
	bool attached;
	/* the same, once it has ended */
	bool all_ended;			/* the relay reported the end of each stream */
	bool not_stopped;		/* the last packets show that tracing was not stopped first */
	bool has_outstanding;		/* announced packets were not received */

	/* the supervisor's */
	int64_t started;		/* monotonic, us */
	int64_t missing_since;		/* monotonic, us: the session is not in the relay's list; 0: it is */
};

/* For attach_new(): sets the fields, and starts the thread. `ops`, `owner` and `url` are borrowed. */
void link_init(struct link *f, const struct link_ops *ops, struct link_owner *owner,
	       const struct live_url *url, const struct viewer_session *session);
void link_start(struct link *f, const char *name);
bool link_stopped(struct link *f);	/* was asked to stop. Any thread */
void link_set_attached(struct link *f);	/* the link's thread, lock not held */

/* Asks the link to stop and to end with `as`. Lock held. */
void link_stop(struct link *f, enum link_end as);
/* After link_stop() or an end, lock not held. False: the thread did not end in time and still uses the link. */
bool link_join(struct link *f, int timeout_ms);
void link_free(struct link *f);		/* after link_join() */

/* How long the other links wait for this one, us: two live timers and a second. Less for a link without
 * streams, as the relay announces a first one within a timer. */
int64_t link_patience(const struct link *f);
int64_t link_timer_patience(uint32_t timer_us);	/* us: two timers and a second */

#endif
