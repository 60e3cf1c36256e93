/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection to Graphite: see carbon.h. */
#include "send/carbon.h"

#include "base/limits.h"
#include "live/viewer/connector.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 10000		/* for a connection, and for lines that the server does not take */

struct lines {
	char *text;
	size_t size;
	unsigned n;
	bool were_sent;			/* before a reconnect */
};

struct carbon {
	const struct live_url *server;
	GThread *thread;
	int cancel;			/* an eventfd: ends every call of the thread */
	GMutex lock;			/* for all below */
	GCond news;
	GQueue waiting, sent;		/* struct lines *; the oldest first */
	size_t n_waiting, n_sent;	/* bytes in them */
	uint64_t dropped;
	gint64 progress_us;		/* when the server took lines at last */
	char *message;			/* not taken yet, or NULL */
	char *reason;			/* the last message */
	bool cancelled, finishing, finished;
	struct net net;			/* the thread's alone; fd -1: not connected */
};

static void lines_free(void *data)
{
	struct lines *l = data;
	g_free(l->text);
	g_free(l);
}

/* ---- queues, under the lock ---- */

static void drop_oldest(struct carbon *c)
{
	struct lines *l = g_queue_pop_head(&c->waiting);
	c->n_waiting -= l->size;
	c->dropped += l->were_sent ? 0 : l->n;
	lines_free(l);
}

static void put_back(struct carbon *c, struct lines *l)
{
	g_queue_push_head(&c->waiting, l);
	c->n_waiting += l->size;
}

/* What the old connection took may be lost. */
static void rewind(struct carbon *c)
{
	for (struct lines *l; (l = g_queue_pop_tail(&c->sent)); ) {
		l->were_sent = true;
		put_back(c, l);
	}
	c->n_sent = 0;
}

static void note_sent(struct carbon *c, struct lines *l)
{
	g_queue_push_tail(&c->sent, l);
	c->n_sent += l->size;
	while (c->n_sent > LIMIT_GRAPHITE_AGAIN_BYTES) {
		struct lines *old = g_queue_pop_head(&c->sent);
		c->n_sent -= old->size;
		lines_free(old);
	}
	c->progress_us = g_get_monotonic_time();
	g_clear_pointer(&c->reason, g_free);
}

static void say(struct carbon *c, const char *what, const char *why)
{
	g_autofree char *where = live_url_format(c->server);
	char *text = g_strdup_printf("%s %s: %s", what, where + strlen("net://"), why);
	if (g_strcmp0(text, c->reason) != 0) {
		g_free(c->message);
		c->message = g_strdup(text);
	}
	g_free(c->reason);
	c->reason = text;
}

/* ---- the thread ---- */

static bool is_closed(const struct carbon *c)
{
	char byte;
	ssize_t n = recv(c->net.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void disconnect(struct carbon *c, const char *why)
{
	net_close(&c->net);
	c->net.fd = -1;
	g_mutex_lock(&c->lock);
	say(c, "connection lost to", why);
	rewind(c);
	g_mutex_unlock(&c->lock);
}

static bool connect_again(struct carbon *c, unsigned *failures)
{
	g_autoptr(GError) error = NULL;
	if (connector_connect(&c->net, c->server, c->cancel, net_deadline(PATIENCE_MS), &error)) {
		*failures = 0;
		return true;
	}
	c->net.fd = -1;
	g_mutex_lock(&c->lock);
	say(c, "cannot connect to", error->message);
	g_mutex_unlock(&c->lock);
	net_sleep(c->cancel, g_get_monotonic_time() + net_backoff((*failures)++));
	return false;
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

/* The next lines to send. NULL: none will come. */
static struct lines *take_lines(struct carbon *c, bool *ret_cancelled)
{
	g_mutex_lock(&c->lock);
	while (!c->waiting.length && !c->finishing && !c->cancelled)
		g_cond_wait(&c->news, &c->lock);
	struct lines *l = c->cancelled ? NULL : g_queue_pop_head(&c->waiting);
	if (l)
		c->n_waiting -= l->size;
	*ret_cancelled = c->cancelled;
	g_mutex_unlock(&c->lock);
	return l;
}

static void send_lines(struct carbon *c, struct lines *l, unsigned *failures)
{
	g_autoptr(GError) error = NULL;
	if (c->net.fd >= 0 && is_closed(c)) {
		g_mutex_lock(&c->lock);
		put_back(c, l);
		g_mutex_unlock(&c->lock);
		disconnect(c, "it was closed");
		return;
	}
	bool ok = c->net.fd >= 0 || connect_again(c, failures);
	bool sent = ok && net_write(&c->net, l->text, l->size, net_deadline(PATIENCE_MS), &error);
	g_mutex_lock(&c->lock);
	if (sent)
		note_sent(c, l);
	else
		put_back(c, l);
	g_mutex_unlock(&c->lock);
	if (ok && !sent)
		disconnect(c, error->message);
}

static gpointer work(gpointer data)
{
	struct carbon *c = data;
	unsigned failures = 0;
	for (;;) {
		bool cancelled;
		struct lines *l = take_lines(c, &cancelled);
		if (l)
			send_lines(c, l, &failures);
		else if (cancelled || c->net.fd < 0 || is_taken(c))
			break;
		else
			disconnect(c, "it was reset");
	}
	if (c->net.fd >= 0)
		net_close(&c->net);
	g_mutex_lock(&c->lock);
	c->finished = true;
	g_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- the main thread ---- */

struct carbon *carbon_start(const struct live_url *server)
{
	struct carbon *c = g_new0(struct carbon, 1);
	c->server = server;
	c->net.fd = -1;
	c->cancel = net_wake_new();
	g_mutex_init(&c->lock);
	g_cond_init(&c->news);
	c->thread = g_thread_new("blk-graphite", work, c);
	return c;
}

void carbon_push(struct carbon *c, char *text, unsigned n)
{
	struct lines *l = g_new0(struct lines, 1);
	*l = (struct lines){ .text = text, .size = strlen(text), .n = n };
	g_mutex_lock(&c->lock);
	g_queue_push_tail(&c->waiting, l);
	c->n_waiting += l->size;
	while (c->n_waiting > LIMIT_GRAPHITE_BYTES)
		drop_oldest(c);
	g_cond_signal(&c->news);
	g_mutex_unlock(&c->lock);
}

bool carbon_has_room(struct carbon *c)
{
	g_mutex_lock(&c->lock);
	bool room = c->n_waiting < LIMIT_GRAPHITE_BYTES / 2;
	g_mutex_unlock(&c->lock);
	return room;
}

char *carbon_take_message(struct carbon *c)
{
	g_mutex_lock(&c->lock);
	char *message = g_steal_pointer(&c->message);
	g_mutex_unlock(&c->lock);
	return message;
}

uint64_t carbon_dropped(struct carbon *c)
{
	g_mutex_lock(&c->lock);
	uint64_t n = c->dropped;
	g_mutex_unlock(&c->lock);
	return n;
}

void carbon_end(struct carbon *c)
{
	g_mutex_lock(&c->lock);
	c->finishing = true;
	c->progress_us = g_get_monotonic_time();
	g_cond_signal(&c->news);
	g_mutex_unlock(&c->lock);
}

bool carbon_is_busy(struct carbon *c)
{
	g_mutex_lock(&c->lock);
	gint64 idle = g_get_monotonic_time() - c->progress_us;
	bool busy = !c->finished && idle < LIMIT_GRAPHITE_END_SECONDS * (gint64)G_USEC_PER_SEC;
	g_mutex_unlock(&c->lock);
	return busy;
}

uint64_t carbon_free(struct carbon *c)
{
	g_mutex_lock(&c->lock);
	c->cancelled = true;
	g_cond_signal(&c->news);
	g_mutex_unlock(&c->lock);
	net_wake(c->cancel);
	g_thread_join(c->thread);
	while (c->waiting.length)
		drop_oldest(c);
	uint64_t dropped = c->dropped;
	g_queue_clear_full(&c->sent, lines_free);
	g_mutex_clear(&c->lock);
	g_cond_clear(&c->news);
	close(c->cancel);
	g_free(c->message);
	g_free(c->reason);
	g_free(c);
	return dropped;
}
