/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the live source (live.h): its supervisors, and the intake that delivers records.
 *
 *     supervisor (a thread)   one for each session asked for: lists the relay's sessions, makes and ends links
 *     feed (a thread)     one attachment: pushes packets to a native_feed that all links share (link.h)
 *     intake              called by source_next(): delivers the native_feed's records
 *
 * What several threads use is under owner.lock.
 */
#ifndef BLK_LIVE_VIEWER_SOURCE_LIVE_H
#define BLK_LIVE_VIEWER_SOURCE_LIVE_H

#include "live/viewer/attach.h"

struct supervisor {
	struct live *live;
	struct live_url url;
	char *name;			/* "session 'S' of host 'T' on relay R", safe to print */
	GThread *thread;
	int wake_fd;			/* an eventfd: readable once the thread must end */
	struct viewer *viewer;		/* the thread's own; NULL: not connected */

	/* under the lock */
	bool was_listed;		/* the list of sessions was received once */
	bool was_attached;		/* a link was attached once */
	bool reachable;			/* the last request for the list was answered */
	unsigned failures;		/* connections that failed, in a row */
	unsigned broken;		/* links in a row that broke soon and handed no packet on */
	unsigned stuck;			/* links in a row that were lost before an announced packet was received,
					 * and handed no packet on */
	int64_t retry_at;		/* monotonic, us: no new link before */
	int64_t empty_since;		/* monotonic, us: the relay answers, but does not list this session; 0: it
					 * lists it */
	bool session_ended;		/* the last link ended with its session */
	bool ended;			/* no more links will be made */
	GHashTable *ended_sessions;	/* uint64_t *, a set: ids of ended sessions that may still be listed */
	unsigned left_out;		/* wanted sessions of the last list above LIMIT_ATTACHED_SESSIONS */
	GHashTable *postponed;		/* uint64_t *, a set: ids of wanted sessions of the last list without a link */
	bool full;			/* a session was not attached, as too much waits */
	GHashTable *initial_sessions;	/* uint64_t *, a set: ids that the first list had */
	GHashTable *histories;		/* uint64_t id -> struct attach_history */
	GArray *broken_fds;		/* int: broken connections that the relay may count as viewers */
	char *trouble;			/* why it is not connected, for the user; NULL: no trouble */
};

struct live {
	struct source source;		/* first member: a source is cast to it */
	struct live_options options;
	struct link_owner owner;
	struct supervisor *supervisors;
	size_t n_supervisors;
	gint cancelled;			/* atomic */

	struct link *direct;		/* without a relay (kernel_link.h, stream_link.h); NULL: none, or it was
					 * freed */

	/* under the lock */
	GPtrArray *links;		/* struct link *: those that no supervisor has freed */
	struct live_status status;	/* lag, late and most of .missing are computed on request */
	bool stop;
	bool ended;			/* no more links will be made */
	GError *fatal;			/* why reading cannot continue; NULL: it can */
	int64_t event_ns;		/* newest event delivered; INT64_MIN: none */
	int64_t passed_ns;		/* all before it was delivered; INT64_MIN: unknown */

	int64_t unreadable_since;	/* monotonic, us: nothing received can be read; 0: something can. Owned by
					 * the reading thread */

	struct attach_sink sink;
};

/* intake.c: the native_feed that all links push to, as part of the live source. */
void intake_init(struct live *l);
void intake_clear(struct live *l);
/* As source_next(); returns within about 50 ms. */
enum source_status intake_next(struct live *l, struct blk_batch *ret, GError **error);
/* Makes and starts a link for this session. Lock held. */
struct link *intake_attach(struct live *l, struct supervisor *k, const struct viewer_session *s);
/* Why nothing that was received can be read (g_free); NULL: something can, or nothing was received. Only for the
 * reading thread. */
char *intake_why_unreadable(struct live *l);
/* Fills in the native_feed's part of the status. Any thread, lock held. */
void intake_get_status(struct live *l, struct live_status *ret);
/* Wakes the thread that waits in intake_next(). Any thread. */
void intake_wake(struct live *l);

/* supervisor.c */
void supervisor_init(struct supervisor *k, struct live *l, const struct live_url *url);
void supervisor_clear(struct supervisor *k);
/* Updates l->status from all supervisors. Lock held. */
void supervisor_update_status(struct live *l);
void supervisor_start(struct supervisor *k);
/* Stops links and threads of all supervisors; false when some thread did not end in time. */
bool supervisors_stop(struct live *l);
/* The history of that relay session, made on first use; the supervisor's. Lock held. */
struct attach_history *supervisor_history(struct supervisor *k, uint64_t session);
/* Adds the missing data that supervisors and links know of. Lock held. */
void supervisor_get_missing(const struct live *l, struct missing *ret);
/* Is the session to be read from its beginning? Packets in its history are skipped in any case. Lock held. */
bool supervisor_reads_all(const struct supervisor *k, uint64_t session);

#endif
