/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection to Graphite: see carbon.h. */
#include "send/carbon.h"

#include "base/limits.h"
#include "live/viewer/connector.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define PATIENCE_MS 10000		/* for a connection, and for lines that the server does not take */

struct carbon {
	const struct live_url *server;
	GQueue sent;			/* struct parcel *; the oldest first */
	size_t n_sent;			/* bytes in them */
	unsigned failures;
	struct net net;			/* fd -1: not connected */
};

static void report(const struct carbon *c, struct outbox *o, const char *what, const char *why)
{
	g_autofree char *where = live_url_format(c->server);
	outbox_report(o, g_strdup_printf("%s %s: %s; trying again", what, where + strlen("net://"), why));
}

/* What the old connection took may be lost. */
static void rewind_sent(struct carbon *c, struct outbox *o)
{
	for (struct parcel *p; (p = g_queue_pop_tail(&c->sent)); ) {
		p->was_sent = true;
		outbox_put_back(o, p);
	}
	c->n_sent = 0;
}

static void note_sent(struct carbon *c, struct outbox *o, struct parcel *p)
{
	outbox_note_sent(o, p, 0);
	g_queue_push_tail(&c->sent, p);
	c->n_sent += p->size;
	while (c->n_sent > LIMIT_GRAPHITE_AGAIN_BYTES) {
		struct parcel *old = g_queue_pop_head(&c->sent);
		c->n_sent -= old->size;
		parcel_free(old);
	}
}

static void disconnect(struct carbon *c, struct outbox *o, const char *why)
{
	net_close(&c->net);
	report(c, o, "connection lost to", why);
	rewind_sent(c, o);
}

static bool connect_again(struct carbon *c, struct outbox *o)
{
	g_autoptr(GError) error = NULL;
	int cancel = outbox_cancel_fd(o);
	if (connector_connect(&c->net, c->server, cancel, net_deadline(PATIENCE_MS), &error)) {
		c->failures = 0;
		return true;
	}
	report(c, o, "cannot connect to", error->message);
	net_sleep(cancel, g_get_monotonic_time() + net_backoff(c->failures++));
	return false;
}

static void deliver(void *self, struct outbox *o, struct parcel *p)
{
	struct carbon *c = self;
	g_autoptr(GError) error = NULL;
	if (c->net.fd >= 0 && net_is_stale(&c->net)) {
		outbox_put_back(o, p);
		disconnect(c, o, "it was closed");
		return;
	}
	bool ok = c->net.fd >= 0 || connect_again(c, o);
	if (ok && net_write(&c->net, p->text, p->size, net_deadline(PATIENCE_MS), &error)) {
		note_sent(c, o, p);
		return;
	}
	outbox_put_back(o, p);
	if (ok)
		disconnect(c, o, error->message);
}

/* Has the server read everything? It ends the connection then. */
static bool is_taken(struct carbon *c)
{
	char byte;
	shutdown(c->net.fd, SHUT_WR);
	if (!net_wait_readable(&c->net, net_deadline(PATIENCE_MS), NULL))
		return true;		/* it retains the connection: nothing more can be known */
	return recv(c->net.fd, &byte, 1, MSG_DONTWAIT) >= 0;
}

static bool finish(void *self, struct outbox *o)
{
	struct carbon *c = self;
	if (c->net.fd < 0 || is_taken(c))
		return true;
	disconnect(c, o, "it was reset");
	return false;
}

static void carbon_free(void *self)
{
	struct carbon *c = self;
	net_close(&c->net);
	g_queue_clear_full(&c->sent, parcel_free);
	g_free(c);
}

struct outbox *carbon_start(const struct live_url *server)
{
	static const struct outbox_courier courier = {
		.thread = "blk-graphite", .most_bytes = LIMIT_GRAPHITE_BYTES, .end_seconds = LIMIT_GRAPHITE_END_SECONDS,
		.deliver = deliver, .finish = finish, .free = carbon_free,
	};
	struct carbon *c = g_new0(struct carbon, 1);
	c->server = server;
	c->net.fd = -1;
	return outbox_new(&courier, c);
}
