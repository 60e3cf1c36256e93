/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of the connection to Graphite: what waits while the server is away, what is sent again, how long its end
 * takes. */
#include "lib/test_clock.h"

#include "base/limits.h"
#include "live/viewer/net.h"
#include "send/carbon.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define CHUNK_LINES 1024		/* 1 MiB */

static uint64_t finish(struct outbox *c)
{
	outbox_end(c);
	while (outbox_is_busy(c))
		g_usleep(1000);
	return outbox_free(c);
}

static struct outbox *start(struct live_url *url, uint16_t port)
{
	*url = (struct live_url){ .host = (char *)"127.0.0.1", .port = port, .family = AF_INET };
	return carbon_start(url);
}

/* A port on which nobody listens. */
static uint16_t dead_port(void)
{
	uint16_t port;
	int fd = net_listen_local(&port, NULL);
	g_assert_cmpint(fd, >=, 0);
	close(fd);
	return port;
}

static size_t push(struct outbox *c)
{
	char *text = g_malloc(LINE_BYTES * CHUNK_LINES + 1);
	memset(text, 'x', LINE_BYTES * CHUNK_LINES);
	for (size_t i = 1; i <= CHUNK_LINES; i++)
		text[i * LINE_BYTES - 1] = '\n';
	text[LINE_BYTES * CHUNK_LINES] = '\0';
	outbox_push(c, text, CHUNK_LINES);
	return LINE_BYTES * CHUNK_LINES;
}

static void test_waiting(void)
{
	struct live_url url;
	struct outbox *c = start(&url, dead_port());
	size_t bytes = 0, lines = 0;
	while (bytes < 2 * (size_t)LIMIT_GRAPHITE_BYTES) {
		bytes += push(c);
		lines += CHUNK_LINES;
	}
	g_assert_false(outbox_has_room(c));
	uint64_t sent, dropped, fit = LIMIT_GRAPHITE_BYTES / LINE_BYTES;
	outbox_get_counts(c, &sent, &dropped);
	g_assert_cmpuint(sent, ==, 0);
	g_assert_cmpuint(dropped, >=, lines - fit - CHUNK_LINES);	/* its thread may hold a chunk */
	g_assert_cmpuint(dropped, <=, lines - fit);
	g_assert_cmpuint(outbox_free(c), ==, lines);
}

static void test_end(void)
{
	struct live_url url;
	struct outbox *c = start(&url, dead_port());
	push(c);
	gint64 begin = g_get_monotonic_time();
	g_assert_cmpuint(finish(c), ==, CHUNK_LINES);
	double s = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
	g_assert_cmpfloat(s, >, LIMIT_GRAPHITE_END_SECONDS - 1);
	g_assert_cmpfloat(s, <, LIMIT_GRAPHITE_END_SECONDS + 10);
}

/* A server: reads `most` bytes (to the end: 0) of a connection. */
static size_t serve(int listening, size_t most, bool reset)
{
	static char buf[1 << 16];
	size_t all = 0;
	ssize_t n;
	struct pollfd ready = { .fd = listening, .events = POLLIN };
	g_assert_cmpint(poll(&ready, 1, 30000), ==, 1);
	int fd = accept(listening, NULL, NULL);
	g_assert_cmpint(fd, >=, 0);
	while ((!most || all < most) && (n = read(fd, buf, sizeof buf)) > 0)
		all += (size_t)n;
	if (reset)
		net_abort(fd);
	else
		close(fd);
	return all;
}

struct server {
	int fd;
	size_t first, again;
};

static gpointer serve_twice(gpointer data)
{
	struct server *s = data;
	serve(s->fd, s->first, true);
	s->again = serve(s->fd, 0, false);
	return NULL;
}

static void test_again(void)
{
	struct live_url url;
	uint16_t port;
	struct server server = { .fd = net_listen_local(&port, NULL) };
	server.first = 2 * (size_t)LIMIT_GRAPHITE_AGAIN_BYTES;
	struct outbox *c = start(&url, port);
	GThread *thread = g_thread_new("server", serve_twice, &server);
	for (size_t bytes = 0; bytes < server.first; ) {
		while (!outbox_has_room(c))
			g_usleep(1000);
		bytes += push(c);
	}
	g_assert_cmpuint(finish(c), ==, 0);
	g_thread_join(thread);
	g_assert_cmpuint(server.again, <=, LIMIT_GRAPHITE_AGAIN_BYTES + LINE_BYTES * CHUNK_LINES);
	g_assert_cmpuint(server.again, >=, LIMIT_GRAPHITE_AGAIN_BYTES - LINE_BYTES * CHUNK_LINES);
	close(server.fd);
}

/* A server that has read all of a connection, resets it just before, or after, its first second ends. Lines counted as
 * sent, of one chunk. */
static uint64_t send_for(gint64 us)
{
	struct live_url url;
	uint16_t port;
	uint64_t sent = 0, dropped;
	char *message = NULL;
	int listening = net_listen_local(&port, NULL);
	test_clock_set(30, 0);
	struct outbox *c = start(&url, port);
	push(c);
	struct pollfd ready = { .fd = listening, .events = POLLIN };
	g_assert_cmpint(poll(&ready, 1, 30000), ==, 1);
	int fd = accept(listening, NULL, NULL);
	close(listening);
	for (size_t all = 0; all < LINE_BYTES * CHUNK_LINES; ) {
		static char buf[1 << 16];
		ssize_t n = read(fd, buf, sizeof buf);
		g_assert_cmpint(n, >, 0);
		all += (size_t)n;
	}
	test_clock_set(30, us);
	for (int i = 0; i < 30000 && us >= LIMIT_GRAPHITE_FIRST_SECONDS * G_USEC_PER_SEC && !sent; i++) {
		g_usleep(1000);
		outbox_get_counts(c, &sent, &dropped);
	}
	net_abort(fd);
	for (int i = 0; i < 30000 && !sent && !message; i++) {
		g_usleep(1000);
		message = outbox_take_message(c);
	}
	g_assert_true(sent || strstr(message, "connection lost"));
	g_free(message);
	outbox_get_counts(c, &sent, &dropped);
	g_assert_cmpuint(outbox_free(c), ==, CHUNK_LINES - sent);
	test_clock_set(1, 0);
	return sent;
}

static void test_first(void)
{
	gint64 limit = LIMIT_GRAPHITE_FIRST_SECONDS * G_USEC_PER_SEC;
	g_assert_cmpuint(send_for(limit / 2), ==, 0);
	g_assert_cmpuint(send_for(limit), ==, CHUNK_LINES);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/limit/graphite-bytes", test_waiting);
	g_test_add_func("/limit/graphite-first-seconds", test_first);
	g_test_add_func("/limit/graphite-end-seconds", test_end);
	g_test_add_func("/limit/graphite-again-bytes", test_again);
	return g_test_run();
}
