/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live traces: lists the sessions of an lttng-relayd, and reads them while they are recorded. Calls may block their
 * thread, for at most `timeout_ms` if they take one. None prints. Errors: BLK_TRACE_ERROR_CONNECT and _SESSION.
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
	char *target;		/* host name of the traced machine, or NULL */
	char *session;		/* session name, or NULL */
	int family;		/* AF_UNSPEC, AF_INET (net4), AF_INET6 (net6) */
};
bool live_url_parse(const char *text, struct live_url *ret, GError **error);
char *live_url_format(const struct live_url *url);	/* net://HOST:PORT[/host/T/S] */
void live_url_clear(struct live_url *url);

/* One LTTng session. With kernel and user-space domains it is two relay sessions of the same name. */
struct live_session {
	char *target, *name;
	uint32_t timer_us;
	unsigned streams, viewers;	/* sums over its relay sessions */
	unsigned ids;			/* number of its relay sessions */
};
/* Connects and returns struct live_session *, sorted by target and name; free with g_ptr_array_unref(). */
GPtrArray *live_list_sessions(const struct live_url *url, int timeout_ms, GError **error);

/* Lists the sessions each second, on its own thread. */
struct live_lister;
struct live_lister *live_lister_new(const struct live_url *url, int timeout_ms);
int live_lister_fd(const struct live_lister *l);	/* readable when an answer is available */
/* The newest answer, once: the list; or NULL and *error; or NULL without error: no new answer. */
GPtrArray *live_lister_take(struct live_lister *l, GError **error);
void live_lister_free(struct live_lister *l);		/* does not block; NULL is fine */

/*
 * A live source of one or more sessions, merged by time. Each url has target and session. The source attaches to
 * every relay session of these names, also to ones that appear later (live/viewer/attach.h).
 *
 * live_open() returns at once: another thread connects. If the first attachment fails (no relay, no such session,
 * another viewer), source_next() returns the error, unless `wait` is set. If the relay becomes unreachable later,
 * the source reports it through live_get_status() and reconnects with growing pauses. It ends (SOURCE_END) when
 * all sessions were destroyed. source_next() blocks for at most about 50 ms.
 *
 * A trace that cannot be read (bad or missing metadata, no matching packet) is left out, and source_warning()
 * names it and the reason. If nothing at all can be read, for some seconds or to the end, source_next() fails.
 */
struct spool;
struct handover;
struct live_options {
	int timeout_ms;			/* of each request to the relay */
	bool from_beginning;		/* read all that the relay has; else from its newest packets on */
	bool wait;			/* wait for a relay or session that does not exist (yet, or
					 * any more) */
	struct spool *spool;		/* NULL: none. Received packets are also stored there. The source takes a
					 * reference; nothing else may push to it */
	const struct handover *kernel;	/* also the kernel of this machine, by its own ring buffer
					 * (live/tracefs/handover.h); borrowed. NULL: not */
	int64_t state_every_us;		/* its state dump is made again so often; 0: only at the beginning */
	int stream;			/* instead of urls and .kernel: a descriptor of a stream
					 * (live/spool/stream_format.h), borrowed; 0: none */
	size_t queue;			/* maximum bytes of packets that wait to be decoded; 0: 64 MiB */
	int64_t late_ns;		/* how long the merge waits for a stream that lags;
					 * < 0: two live timers and a second */
};
struct source *live_open(const struct live_url *urls, size_t n_urls,
			 const struct live_options *options,
			 const struct blk_subscription *rows, size_t n_rows, GError **error);

#define LIVE_QUIET_NS INT64_C(3000000000)
struct live_status {
	bool connected;			/* to all requested sessions */
	int64_t since_ns;		/* wall clock: when .connected got its value */
	char message[256];		/* why it is not connected, or what it waits for; else "" */
	int64_t lag_ns;			/* wall clock minus newest event or beacon; < 0: unknown */
	unsigned attached;		/* number of relay sessions */
	uint64_t late;			/* records that arrived too late and were moved to the present */
	unsigned stalled;		/* streams that lag and that the merge no longer waits for */
	char stalled_name[128];		/* the stream that lags most, safe to print; else "" */
	int64_t stalled_ns;			/* newest instant of that stream; INT64_MIN: unknown */
	struct missing missing;
	int64_t quiet_ns;		/* time of the newest event, once beacons of all streams are LIVE_QUIET_NS
					 * later: nothing happens, or tracing is stopped (the protocol does
					 * not distinguish these). INT64_MIN: events arrive, or unknown */
};
/* Any thread. */
void live_get_status(struct source *s, struct live_status *ret);

#endif
