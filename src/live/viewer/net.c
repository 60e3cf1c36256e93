/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP with time limits: see net.h. */
#include "live/viewer/net.h"

#include "base/fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/reader.h"

#define CONNECT BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT

int64_t net_deadline(int timeout_ms)
{
	return g_get_monotonic_time() + (int64_t)timeout_ms * 1000;
}

#define BACKOFF_US 500000
#define MAX_BACKOFF 4			/* 2^4 * 0.5 s = 8 s */

int64_t net_backoff(unsigned failures)
{
	int64_t us = (int64_t)BACKOFF_US << MIN(failures, MAX_BACKOFF);

	return us + g_random_int_range(-(int)(us / 4), (int)(us / 4));
}

static int poll_timeout(int64_t deadline)
{
	int64_t left;

	if (deadline == NET_FOREVER)
		return -1;
	left = (deadline - g_get_monotonic_time() + 999) / 1000;
	return (int)CLAMP(left, 0, INT32_MAX);
}

/* Waits for the poll events; false: *error. Called before each transfer of bytes: a peer that always has some, or
 * always takes some, outlives neither the deadline nor a stop. */
static bool wait_for(int fd, short events, int wake_fd, int64_t deadline, GError **error)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = events }, { .fd = wake_fd, .events = POLLIN },
	};
	if (poll_timeout(deadline) == 0)
		return fail(error, CONNECT, "no answer in time");
	for (;;) {
		int n = poll(p, wake_fd < 0 ? 1 : 2, poll_timeout(deadline));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(error, CONNECT, "%s", g_strerror(errno));
		if (p[1].revents)
			return fail(error, CONNECT, "stopped");
		if (p[0].revents)
			return true;
		if (poll_timeout(deadline) == 0)
			return fail(error, CONNECT, "no answer in time");
	}
}

/*
 * getaddrinfo() has no time limit, so it runs in a thread that is abandoned when it takes too long. Both threads
 * hold a reference to the shared struct.
 */
struct lookup {
	gint refs;
	char *host, port[8];
	struct addrinfo hints, *found;
	int rc, done_fd;
};

static void lookup_unref(struct lookup *l)
{
	if (!g_atomic_int_dec_and_test(&l->refs))
		return;
	if (l->found)
		freeaddrinfo(l->found);
	close(l->done_fd);
	g_free(l->host);
	g_free(l);
}

static gpointer lookup_thread(gpointer data)
{
	struct lookup *l = data;

	l->rc = getaddrinfo(l->host, l->port, &l->hints, &l->found);
	net_wake(l->done_fd);
	lookup_unref(l);
	return NULL;
}

/* The addresses of a host, to be freed with freeaddrinfo(); NULL and *error. */
static struct addrinfo *resolve(const char *host, uint16_t port, int family, int wake_fd,
				int64_t deadline, GError **error)
{
	struct lookup *l = g_new0(struct lookup, 1);
	struct addrinfo *found = NULL;
	bool came = true;

	l->refs = 1;
	l->done_fd = eventfd(0, EFD_CLOEXEC);
	l->host = g_strdup(host);
	snprintf(l->port, sizeof l->port, "%u", port);
	l->hints = (struct addrinfo){ .ai_family = family, .ai_socktype = SOCK_STREAM,
				      .ai_flags = AI_NUMERICHOST };
	l->rc = getaddrinfo(host, l->port, &l->hints, &l->found);
	if (l->rc == EAI_NONAME) {
		l->hints.ai_flags = 0;
		g_atomic_int_inc(&l->refs);
		g_thread_unref(g_thread_new("blk-resolve", lookup_thread, l));
		came = wait_for(l->done_fd, POLLIN, wake_fd, deadline, error);
	}
	if (came) {
		found = l->found;
		l->found = NULL;
		if (l->rc)
			fail(error, CONNECT, "%s", l->rc == EAI_SYSTEM ? "the name cannot be resolved"
							: gai_strerror(l->rc));
	}
	lookup_unref(l);
	return found;
}

static bool connect_one(struct net *n, const struct addrinfo *a, int64_t deadline, GError **error)
{
	int err = 0, on = 1;
	socklen_t len = sizeof err;

	n->fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
	if (n->fd < 0)
		return fail(error, CONNECT, "%s", g_strerror(errno));
	setsockopt(n->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (!connect(n->fd, a->ai_addr, a->ai_addrlen))
		return true;
	if (errno != EINPROGRESS)
		fail(error, CONNECT, "%s", g_strerror(errno));
	else if (wait_for(n->fd, POLLOUT, n->wake_fd, deadline, error) &&
		 !getsockopt(n->fd, SOL_SOCKET, SO_ERROR, &err, &len) && !err)
		return true;
	else if (err)
		fail(error, CONNECT, "%s", g_strerror(err));
	net_close(n);
	return false;
}

bool net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd,
		 int64_t deadline, GError **error)
{
	bool ok = false;
	struct addrinfo *list = resolve(host, port, family, wake_fd, deadline, error);
	int64_t left = 0;

	if (!list)
		return false;
	*n = (struct net){ .fd = -1, .wake_fd = wake_fd };
	for (struct addrinfo *a = list; a; a = a->ai_next)
		left++;
	/* each address gets an equal share of the remaining time */
	for (struct addrinfo *a = list; a && !ok; a = a->ai_next, left--) {
		int64_t now = g_get_monotonic_time();
		g_clear_error(error);
		ok = connect_one(n, a, now + MAX(deadline - now, 0) / left, error);
	}
	freeaddrinfo(list);
	return ok;
}

size_t net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error)
{
	for (;;) {
		int on = 1;
		/* relays answer in two small writes; without TCP_NODELAY each takes 40 ms */
		setsockopt(n->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
		if (!wait_for(n->fd, POLLIN, n->wake_fd, deadline, error))
			return 0;
		ssize_t got = recv(n->fd, buf, max, MSG_DONTWAIT);
		if (got > 0 && n->bytes_at)
			g_atomic_int_set(n->bytes_at, (gint)(g_get_monotonic_time() / G_USEC_PER_SEC));
		if (got > 0)
			return (size_t)got;
		if (got == 0)
			return fail(error, CONNECT, "the connection was closed");
		if (errno != EAGAIN && errno != EINTR)
			return fail(error, CONNECT, "%s", g_strerror(errno));
	}
}

bool net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error)
{
	char *p = buf;

	while (len > 0) {
		size_t got = net_read_some(n, p, len, deadline, error);
		if (!got)
			return false;
		p += got;
		len -= got;
	}
	return true;
}

ssize_t net_write_some(struct net *n, const void *buf, size_t len, GError **error)
{
	ssize_t put = send(n->fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (put >= 0)
		return put;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	fail(error, CONNECT, "%s", g_strerror(errno));
	return -1;
}

bool net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error)
{
	const char *p = buf;

	while (len > 0) {
		if (!wait_for(n->fd, POLLOUT, n->wake_fd, deadline, error))
			return false;
		ssize_t put = net_write_some(n, p, len, error);
		if (put < 0)
			return false;
		p += put;
		len -= (size_t)put;
	}
	return true;
}

bool net_wait_readable(struct net *n, int64_t deadline, GError **error)
{
	return wait_for(n->fd, POLLIN, n->wake_fd, deadline, error);
}

bool net_wait_writable(struct net *n, int64_t deadline, GError **error)
{
	return wait_for(n->fd, POLLOUT, n->wake_fd, deadline, error);
}

bool net_unacked(const struct net *n, struct net_unacked *ret)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof info;
	int all;

	if (ioctl(n->fd, SIOCOUTQ, &all) || all < 0 || getsockopt(n->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return false;
	*ret = (struct net_unacked){ .bytes = (size_t)all, .in_flight = info.tcpi_unacked };
	return true;
}

bool net_is_stale(const struct net *n)
{
	char byte;
	return recv(n->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

void net_close(struct net *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

int net_leave(struct net *n)
{
	unsigned ms = 24u * 3600 * 1000;
	int fd = n->fd;

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
	n->fd = -1;
	return fd;
}

/* Resets the connection: a close would queue behind unacknowledged requests. */
void net_abort(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(fd);
}

int net_listen_local(uint16_t *ret_port, GError **error)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 4) ||
	    getsockname(fd, (struct sockaddr *)&a, &len)) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL,
			    "cannot listen on 127.0.0.1: %s", g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*ret_port = ntohs(a.sin_port);
	return fd;
}

int net_wake_new(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void net_wake(int wake_fd)
{
	uint64_t one = 1;

	while (write(wake_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

bool net_sleep(int wake_fd, int64_t deadline)
{
	struct pollfd p = { .fd = wake_fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, poll_timeout(deadline));
	} while (n < 0 && errno == EINTR);
	return n > 0;
}
