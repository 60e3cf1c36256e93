/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live: sessions of an lttng-relayd. All calls block their thread, at most for
 * `timeout_ms` where they take one; none prints. Errors: BLK_TRACE_ERROR_CONNECT
 * and _SESSION with what failed, on what, why.
 */
#ifndef BLK_LIVE_LIVE_H
#define BLK_LIVE_LIVE_H

#include "trace/reader.h"

#include "base/limits.h"

#define LIVE_DEFAULT_PORT 5344
#define LIVE_DEFAULT_TIMEOUT_MS (LIMIT_RELAY_TIMEOUT_SECONDS * 1000)

/* "HOST", "HOST:PORT", "[v6]:PORT", "net://HOST[:PORT][/host/NAME/SESSION]",
 * also net4:// and net6:// (tcp family). */
struct live_url {
	char *host;		/* the relay */
	uint16_t port;
	char *target;		/* traced machine's host name, or NULL */
	char *session;		/* session name, or NULL */
	int family;		/* AF_UNSPEC, AF_INET (net4), AF_INET6 (net6) */
};
bool live_url_parse(const char *text, struct live_url *ret, GError **error);
char *live_url_format(const struct live_url *url);	/* net://HOST:PORT[/host/T/S] */
void live_url_clear(struct live_url *url);

/* One session as a person sees it: a kernel+UST session is one row, though the
 * relay has two ids of that name. */
struct live_session {
	char *target, *name;
	uint32_t timer_us;
	unsigned streams, viewers;	/* summed over its ids */
	unsigned ids;			/* how many relay sessions of this name */
};
/* Sorted by target and name; free with g_ptr_array_unref. Our own connection,
 * speaking the viewer protocol (CONNECT, LIST_SESSIONS), with a time limit. */
GPtrArray *live_list_sessions(const struct live_url *url, int timeout_ms, GError **error);

/* The same again and again, each second, on a thread of its own. */
struct live_lister;
struct live_lister *live_lister_new(const struct live_url *url, int timeout_ms);
int live_lister_fd(const struct live_lister *l);	/* readable: there is an answer to take */
/* The newest answer, once: the list; NULL and *error; or NULL alone: nothing new. */
GPtrArray *live_lister_take(struct live_lister *l, GError **error);
void live_lister_free(struct live_lister *l);		/* never waits. NULL is fine */

/*
 * A live source of one or more sessions (target and session set in each url), merged
 * by time: attaches to every relay session of each name, also to ones that appear
 * later (live/viewer/attach.h).
 *
 * Returns at once: the relay is connected to on another thread. What keeps it from
 * attaching the first time (no relay, no such session, somebody else has it) is an
 * error of source_next(), unless `wait`. When a relay goes away later the source stays,
 * reports it through live_get_status(), and connects again with back-off. Ends
 * (SOURCE_END) when all sessions were destroyed. source_next() never blocks longer than
 * about 50 ms.
 *
 * A trace that can't be read (its metadata is wrong or does not come, no packet fits it) is left
 * out: source_warning() says which, and why. Where nothing at all can be read, for some seconds or
 * to the end, that is an error of source_next().
 */
struct spool;
struct live_options {
	int timeout_ms;			/* of each question to the relay */
	bool from_beginning;		/* of what the relay has; else from its newest packets on */
	bool wait;			/* for a relay and a session that are not there (yet, or
					 * any more) */
	struct spool *spool;		/* what comes goes there, too; or NULL. The source
					 * takes a reference. Its numbers are given by this source */
	size_t queue;			/* bytes of packets that may wait to be decoded; 0: 64 MiB */
	int64_t late_ns;		/* how long a stream that lags behind is waited for;
					 * < 0: two live timers and a second */
};
struct source *live_open(const struct live_url *urls, size_t n_urls,
			 const struct live_options *options,
			 const struct blk_subscription *rows, size_t n_rows, GError **error);

#define LIVE_QUIET_NS INT64_C(3000000000)
struct live_status {
	bool connected;			/* to all that were asked for */
	int64_t since_ns;		/* wall clock: connected or gone since */
	char message[256];		/* why not connected, or who is waited for; "" */
	int64_t lag_ns;			/* wall clock less newest event or beacon; < 0 unknown */
	unsigned attached;		/* relay sessions */
	uint64_t late;			/* records that came too late and were moved to the present */
	unsigned stalled;		/* streams that lag behind, and the others go on without */
	char stalled_name[128];		/* the one that is behind most, fit to be shown; "" */
	int64_t stalled_ns;			/* the newest instant known of it; INT64_MIN */
	struct missing missing;
	int64_t quiet_ns;		/* the newest event's, where all streams have passed LIVE_QUIET_NS
					 * more since (inactivity beacons): nothing happens, or tracing is
					 * stopped, which the protocol does not tell. INT64_MIN: events come,
					 * or nothing is known */
};
/* Any thread. */
void live_get_status(struct source *s, struct live_status *ret);

#endif
