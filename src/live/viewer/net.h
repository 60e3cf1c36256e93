/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TCP with time limits. Every call returns by its deadline, or at once when wake_fd (an eventfd, or -1) becomes
 * readable, even if the peer is silent, and also if it never stops sending: both are checked before each transfer of
 * bytes. A deadline that has passed already is an error. Sockets are non-blocking.
 * Deadlines are g_get_monotonic_time(), us; NET_FOREVER: none. Errors: BLK_TRACE_ERROR_CONNECT, with the reason only
 * ("no answer within 2 s"); callers add the peer.
 */
#ifndef BLK_LIVE_VIEWER_NET_H
#define BLK_LIVE_VIEWER_NET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NET_FOREVER INT64_MAX

struct net {
	int fd;
	int wake_fd;
	gint *bytes_at;		/* set to the second (monotonic clock) in which bytes came; atomic; or NULL */
};

int64_t net_deadline(int timeout_ms);
/* How long to wait, us, after `failures` earlier failures: half a second, one, two ... eight; up to a quarter
 * more or less at random, so that viewers do not reconnect all at the same instant. */
int64_t net_backoff(unsigned failures);

/* Resolves the name and connects; family as in struct live_url. */
bool net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd,
		 int64_t deadline, GError **error);
/* Exactly len bytes. The end of the connection is an error. */
bool net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error);
/* Reads what was received, at least one and at most `max` bytes; 0: *error. */
size_t net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error);
bool net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error);
/* Writes what there is room for now: the number of bytes, maybe 0; < 0: *error. */
ssize_t net_write_some(struct net *n, const void *buf, size_t len, GError **error);
bool net_wait_readable(struct net *n, int64_t deadline, GError **error);
bool net_wait_writable(struct net *n, int64_t deadline, GError **error);
/* What the peer's TCP has not acknowledged; also of a connection that the peer ended. If bytes wait although none are
 * in flight, the peer's buffer is full: its program does not read. False: unknown. */
struct net_unacked {
	size_t bytes;			/* with one more after shutdown() for writing, until that is acknowledged */
	bool in_flight;			/* some were sent */
};
bool net_unacked(const struct net *n, struct net_unacked *ret);
/* Has the peer closed the idle connection, or sent bytes without a request? */
bool net_is_stale(const struct net *n);
void net_close(struct net *n);
/* For a broken connection that the peer may believe to be open: takes ownership of the descriptor. The kernel
 * retains the connection for a day, so that net_abort() can reset it later. A close might never reach the peer
 * while no packet gets through. */
int net_leave(struct net *n);
void net_abort(int fd);

/* A listening socket on 127.0.0.1; its port. */
int net_listen_local(uint16_t *ret_port, GError **error);

int net_wake_new(void);
void net_wake(int wake_fd);
/* Sleeps until the deadline; true when woken before. */
bool net_sleep(int wake_fd, int64_t deadline);

#endif
