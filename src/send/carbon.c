/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection to Graphite: see carbon.h. */
#include "send/carbon.h"

#include "base/fail.h"
#include "base/limits.h"
#include "live/viewer/connector.h"
#include "live/viewer/viewer.h"

#include <errno.h>
#include <gio/gio.h>
#include <sys/socket.h>

#define PATIENCE_MS 10000		/* for a connection, and for what is under way to be acknowledged */
#define FIRST_US (LIMIT_GRAPHITE_FIRST_SECONDS * G_USEC_PER_SEC)
#define LOOK_US 50000			/* between two looks at what is acknowledged */

struct carbon {
	const struct live_url *server;
	unsigned failures;		/* connections since something was taken */
	int64_t retry_us;		/* monotonic: no connection before */
	GQueue taken;			/* struct parcel *: noted as sent once, to be sent again; the oldest first */
	size_t n_taken;			/* bytes in them */
	/* Of this connection: */
	struct net net;			/* fd -1: not connected */
	GQueue open;			/* struct parcel *: written after those of .taken, not noted as sent */
	size_t n_open;			/* bytes in them */
	uint64_t written, acked;	/* bytes since its beginning; of these acknowledged */
	uint64_t settled;		/* bytes: where the first parcel of .open begins */
	int64_t connected_us, moved_us;	/* monotonic; when some, or all, were acknowledged at last */
	bool counts;			/* it outlived its first second, or ended as it should */
	bool ended;			/* nothing more will be written */
};

static void report(const struct carbon *c, struct outbox *o, const char *what, const char *why)
{
	g_autofree char *where = viewer_relay_name(c->server);
	outbox_report(o, g_strdup_printf("%s %s: %s", what, where, why));
}

static void report_again(const struct carbon *c, struct outbox *o, const char *what, const char *why)
{
	g_autofree char *then = g_strconcat(why, "; trying again", NULL);
	report(c, o, what, then);
}

static bool is_stopped(const struct outbox *o)
{
	return net_sleep(outbox_cancel_fd(o), 0);
}

/* ---- what the server has ---- */

/* A parcel that was taken twice is not retained: a server that loses each connection would get it for ever. */
static void retain(struct carbon *c, struct parcel *p, bool again)
{
	if (again) {
		parcel_free(p);
		return;
	}
	g_queue_push_tail(&c->taken, p);
	c->n_taken += p->size;
	while (c->taken.length && c->n_taken + c->n_open > LIMIT_GRAPHITE_AGAIN_BYTES) {
		struct parcel *old = g_queue_pop_head(&c->taken);
		c->n_taken -= old->size;
		parcel_free(old);
	}
}

/* Notes as sent what was acknowledged, if the connection counts. */
static void settle(struct carbon *c, struct outbox *o)
{
	struct net_unacked u;
	if (!net_unacked(&c->net, &u))
		return;
	uint64_t unacked = u.bytes - (c->ended && u.bytes), acked = c->written - MIN(unacked, c->written);
	if (acked > c->acked || acked == c->written)
		c->moved_us = g_get_monotonic_time();
	c->acked = MAX(c->acked, acked);
	for (struct parcel *p; c->counts && (p = g_queue_peek_head(&c->open)) && c->settled + p->size <= c->acked; ) {
		bool again = p->was_sent;
		g_queue_pop_head(&c->open);
		c->n_open -= p->size;
		c->settled += p->size;
		c->failures = 0;
		outbox_note_sent(o, p, 0);
		retain(c, p, again);
	}
}

/* Bytes wait for 10 s: a server that does not read has the connection for ever; a silent one is connected to again. */
static bool is_patient(struct carbon *c, struct outbox *o, GError **error)
{
	struct net_unacked u;
	if (g_get_monotonic_time() - c->moved_us < PATIENCE_MS * G_TIME_SPAN_MILLISECOND || !net_unacked(&c->net, &u))
		return true;
	if (u.in_flight)
		return fail(error, G_IO_ERROR, G_IO_ERROR_FAILED, "it acknowledges nothing");
	report(c, o, "lines are not read by", "its buffer is full");
	return true;
}

/* Is the connection usable? False: *error; *ret_ended: the server has closed it. */
static bool look_at(struct carbon *c, struct outbox *o, bool *ret_ended, GError **error)
{
	char byte;
	ssize_t n = recv(c->net.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	*ret_ended = n == 0;
	if (n > 0)
		return fail(error, G_IO_ERROR, G_IO_ERROR_FAILED, "it sends something, as no Graphite server does");
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return fail(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", g_strerror(errno));
	c->counts |= n < 0 && g_get_monotonic_time() - c->connected_us >= FIRST_US;
	settle(c, o);
	return is_patient(c, o, error);
}

static bool is_open(struct carbon *c, struct outbox *o, GError **error)
{
	bool ended;
	return look_at(c, o, &ended, error) && (!ended || fail(error, G_IO_ERROR, G_IO_ERROR_FAILED, "it was closed"));
}

/* ---- connections ---- */

/* What the old connection took may be lost: all that is retained will be sent again. */
static void rewind_queue(GQueue *queue, size_t *n, struct outbox *o)
{
	for (struct parcel *p; (p = g_queue_pop_tail(queue)); )
		outbox_put_back(o, p);
	*n = 0;
}

static void pause_next(struct carbon *c)
{
	c->retry_us = g_get_monotonic_time() + net_backoff(c->failures++);
}

static void disconnect(struct carbon *c, struct outbox *o, const char *why)
{
	settle(c, o);
	net_close(&c->net);
	report_again(c, o, "connection lost to", why);
	rewind_queue(&c->open, &c->n_open, o);
	rewind_queue(&c->taken, &c->n_taken, o);
	pause_next(c);
}

static bool connect_again(struct carbon *c, struct outbox *o)
{
	g_autoptr(GError) error = NULL;
	int cancel = outbox_cancel_fd(o);
	if (net_sleep(cancel, c->retry_us))
		return false;
	if (!connector_connect(&c->net, c->server, cancel, net_deadline(PATIENCE_MS), &error)) {
		report_again(c, o, "cannot connect to", error->message);
		pause_next(c);
		return false;
	}
	c->connected_us = c->moved_us = g_get_monotonic_time();
	c->written = c->acked = c->settled = 0;
	c->counts = c->ended = false;
	return true;
}

/* False: *error, or it is to stop. No more is written in the first second than can be sent again. */
static bool write_parcel(struct carbon *c, struct outbox *o, const struct parcel *p, GError **error)
{
	for (size_t at = 0; at < p->size; ) {
		if (is_stopped(o) || !is_open(c, o, error))
			return false;
		bool waits = !c->counts && c->n_open >= LIMIT_GRAPHITE_AGAIN_BYTES;
		ssize_t put = waits ? 0 : net_write_some(&c->net, p->text + at, p->size - at, error);
		if (put < 0)
			return false;
		at += (size_t)put;
		c->written += (uint64_t)put;
		if (waits)
			net_sleep(outbox_cancel_fd(o), g_get_monotonic_time() + LOOK_US);
		else if (!put)
			net_wait_writable(&c->net, g_get_monotonic_time() + LOOK_US, NULL);
	}
	return true;
}

/* ---- the courier ---- */

static void deliver(void *self, struct outbox *o, struct parcel *p)
{
	struct carbon *c = self;
	g_autoptr(GError) error = NULL;
	if ((c->net.fd >= 0 || connect_again(c, o)) && write_parcel(c, o, p, &error)) {
		g_queue_push_tail(&c->open, p);
		c->n_open += p->size;
		return;
	}
	outbox_put_back(o, p);
	if (error)
		disconnect(c, o, error->message);
}

/* A loss is noticed soon, as it matters whether it is in the first second. */
static int64_t look(void *self, struct outbox *o)
{
	struct carbon *c = self;
	g_autoptr(GError) error = NULL;
	if (c->net.fd < 0 || !c->open.length)
		return NET_FOREVER;
	if (!is_open(c, o, &error))
		disconnect(c, o, error->message);
	return c->open.length ? g_get_monotonic_time() + LOOK_US : NET_FOREVER;
}

/* Waits until the server has read everything: it ends the connection then. One that retains it may not have read what
 * it acknowledged; nothing more can be known. False: *error. */
static bool is_taken(struct carbon *c, struct outbox *o, GError **error)
{
	int64_t since = g_get_monotonic_time();
	while (!is_stopped(o)) {
		bool ended;
		if (!look_at(c, o, &ended, error))
			return false;
		bool all = c->acked == c->written;
		if (all && ended) {
			c->counts = true;
			settle(c, o);
			return true;
		}
		since = all ? since : g_get_monotonic_time();
		if (g_get_monotonic_time() - since > PATIENCE_MS * G_TIME_SPAN_MILLISECOND)
			return true;
		if (ended)
			net_sleep(outbox_cancel_fd(o), g_get_monotonic_time() + LOOK_US);
		else
			net_wait_readable(&c->net, g_get_monotonic_time() + LOOK_US, NULL);
	}
	return true;
}

static bool finish(void *self, struct outbox *o)
{
	struct carbon *c = self;
	g_autoptr(GError) error = NULL;
	bool ended;
	if (c->net.fd < 0)
		return true;
	bool ok = look_at(c, o, &ended, &error);
	if (ok && ended && !c->open.length)
		return true;
	/* A server that closed the connection before did not wait for its end. */
	ok = ok && (!ended || fail(&error, G_IO_ERROR, G_IO_ERROR_FAILED, "it was closed"));
	if (ok) {
		c->ended = !shutdown(c->net.fd, SHUT_WR);
		ok = is_taken(c, o, &error);
	}
	if (!ok)
		disconnect(c, o, error->message);
	return ok;
}

static void carbon_free(void *self, struct outbox *o)
{
	struct carbon *c = self;
	if (c->net.fd >= 0)
		settle(c, o);
	net_close(&c->net);
	for (struct parcel *p; (p = g_queue_pop_head(&c->open)); )
		outbox_drop(o, p);
	g_queue_clear_full(&c->taken, parcel_free);
	g_free(c);
}

struct outbox *carbon_start(const struct live_url *server)
{
	static const struct outbox_courier courier = {
		.thread = "blk-graphite", .most_bytes = LIMIT_GRAPHITE_BYTES, .end_seconds = LIMIT_GRAPHITE_END_SECONDS,
		.deliver = deliver, .look = look, .finish = finish, .free = carbon_free,
	};
	struct carbon *c = g_new0(struct carbon, 1);
	c->server = server;
	c->net.fd = -1;
	return outbox_new(&courier, c);
}
