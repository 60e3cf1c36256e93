/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live: sessions of an lttng-relayd. All calls block their thread, at most for
 * `timeout_ms` where they take one; none prints. Errors: BLK_TRACE_ERROR_CONNECT
 * and _SESSION with what failed, on what, why.
 */
#ifndef BLK_LIVE_LIVE_H
#define BLK_LIVE_LIVE_H

#include "trace/reader.h"

#define LIVE_DEFAULT_PORT 5344
#define LIVE_DEFAULT_TIMEOUT_MS 10000

/* "HOST", "HOST:PORT", "[v6]:PORT", "net://HOST[:PORT][/host/NAME/SESSION]",
 * also net4:// and net6:// (tcp family). Checked by us: babeltrace2 crashes on some. */
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

/*
 * A live source of one session (url->target and ->session set): attaches to every
 * relay session of that name, also ones that appear later, each through a
 * babeltrace2 graph on a thread of its own; merges them by time, with horizons.
 * When the relay goes away the source stays, reports it through
 * live_get_status(), and connects again with back-off. Ends (SOURCE_END) when the
 * session was destroyed. source_next() never blocks longer than about 50 ms.
 */
struct source *live_open(const struct live_url *url, const struct blk_subscription *rows,
			 size_t n_rows, int timeout_ms, GError **error);

struct live_status {
	bool connected;
	int64_t since_ns;	/* wall clock: connected or gone since */
	char message[256];	/* why not connected; "" */
	int64_t lag_ns;		/* wall clock less newest event or beacon; < 0 unknown */
	unsigned attached;	/* relay sessions */
	uint64_t late;		/* records that came too late and were moved to the present */
};
/* Any thread. */
void live_get_status(struct source *s, struct live_status *ret);

#endif
