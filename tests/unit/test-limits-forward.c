/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of --forward: what waits, how often and how long it is tried, and what an answer may be. Those that take
 * their time all begin at the start, each with a server of its own. */
#include "base/limits.h"
#include "live/viewer/net.h"
#include "send/poster.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_BYTES (1u << 20)
#define BODY_SPANS 1000
#define MOST_REQUESTS 100

struct server {
	const char *first, *then;	/* answers: to the first request, and to others; NULL: none */
	int fd;
	GThread *thread;
	int n;				/* requests; atomic */
	gint64 at[MOST_REQUESTS], ended;	/* us: when they were there; when the last connection was closed */
	struct http_url url;
	struct outbox *outbox;
};

static bool read_request(int fd)
{
	static const char size[] = "Content-Length: ";
	g_autofree char *buf = g_malloc(2 * BODY_BYTES);
	size_t n = 0;
	for (;;) {
		ssize_t got = read(fd, buf + n, 2 * BODY_BYTES - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
		buf[n] = '\0';
		const char *end = strstr(buf, "\r\n\r\n"), *length = strstr(buf, size);
		if (end && length && n == (size_t)(end + 4 - buf) + g_ascii_strtoull(length + strlen(size), NULL, 10))
			return true;
	}
}

static void serve_connection(struct server *s, int fd)
{
	while (read_request(fd)) {
		int n = g_atomic_int_add(&s->n, 1);
		const char *answer = n ? s->then : s->first;
		g_assert_cmpint(n, <, MOST_REQUESTS);
		s->at[n] = g_get_monotonic_time();
		if (answer && send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	s->ended = g_get_monotonic_time();
	close(fd);
}

static gpointer serve(gpointer data)
{
	struct server *s = data;
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };
	while (poll(&ready, 1, -1) == 1 && !(ready.revents & (POLLHUP | POLLERR))) {
		int fd = accept(s->fd, NULL, NULL);
		if (fd >= 0)
			serve_connection(s, fd);
	}
	return NULL;
}

/* Without answers nobody listens. */
static void start(struct server *s, bool listens)
{
	uint16_t port;
	s->fd = net_listen_local(&port, NULL);
	g_assert_cmpint(s->fd, >=, 0);
	s->url = (struct http_url){
		.server = { .host = (char *)"127.0.0.1", .port = port, .family = AF_INET },
		.path = (char *)"/v1/traces",
	};
	if (listens)
		s->thread = g_thread_new("server", serve, s);
	else
		close(s->fd);
	s->outbox = poster_start(&s->url);
}

static uint64_t stop(struct server *s)
{
	uint64_t dropped = outbox_free(s->outbox);
	if (s->thread) {
		shutdown(s->fd, SHUT_RDWR);
		g_thread_join(s->thread);
		close(s->fd);
	}
	return dropped;
}

static void push(struct server *s)
{
	char *text = g_malloc(BODY_BYTES + 1);
	memset(text, 'x', BODY_BYTES);
	text[BODY_BYTES] = '\0';
	outbox_push(s->outbox, text, BODY_SPANS);
}

static double seconds(gint64 us)
{
	return (double)us / G_USEC_PER_SEC;
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
static struct server busy = {
	.first = "HTTP/1.1 429 Later\r\nRetry-After: 1000\r\nContent-Length: 0\r\n\r\n", .then = OK,
};
static struct server broken = { .first = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
				.then = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" };
static struct server silent = { .first = NULL, .then = OK };
static struct server away;

static void start_slow_ones(void)
{
	struct server *all[] = { &busy, &broken, &silent, &away };
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		start(all[i], all[i] != &away);
		push(all[i]);
	}
	outbox_end(away.outbox);
}

static void wait_for_counts(struct server *s, uint64_t sent, uint64_t dropped)
{
	uint64_t have_sent = 0, have_dropped = 0;
	for (int i = 0; i < 60000 && (have_sent != sent || have_dropped != dropped); i++) {
		g_usleep(1000);
		outbox_get_counts(s->outbox, &have_sent, &have_dropped);
	}
	g_assert_cmpuint(have_sent, ==, sent);
	g_assert_cmpuint(have_dropped, ==, dropped);
}

static void test_waiting(void)
{
	struct server s = { 0 };
	unsigned n = 3 * LIMIT_FORWARD_BYTES / BODY_BYTES, fit = LIMIT_FORWARD_BYTES / BODY_BYTES;
	uint64_t sent, dropped;
	start(&s, false);
	for (unsigned i = 0; i < n; i++)
		push(&s);
	g_assert_false(outbox_has_room(s.outbox));
	outbox_get_counts(s.outbox, &sent, &dropped);
	g_assert_cmpuint(sent, ==, 0);
	g_assert_cmpuint(dropped, >=, (n - fit - 1) * BODY_SPANS);	/* its thread may hold one */
	g_assert_cmpuint(dropped, <=, (n - fit) * BODY_SPANS);
	g_assert_cmpuint(stop(&s), ==, n * BODY_SPANS);
}

static void test_answer_bytes(void)
{
	g_autofree char *fill = g_strnfill(LIMIT_ANSWER_BYTES, 'x');
	const char *head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
	int room = LIMIT_ANSWER_BYTES - (int)strlen(head) - 4;
	g_autofree char *longest = g_strdup_printf("%s%.*s\r\n\r\n", head, room, fill);
	g_autofree char *longer = g_strdup_printf("%s%.*s\r\n\r\n", head, room + 1, fill);
	struct server s = { .first = longer, .then = longest };
	start(&s, true);
	push(&s);
	wait_for_counts(&s, BODY_SPANS, 0);
	g_assert_cmpint(s.n, ==, 2);
	g_assert_cmpuint(stop(&s), ==, 0);
}

static void test_answer_seconds(void)
{
	wait_for_counts(&silent, BODY_SPANS, 0);
	g_assert_cmpint(silent.n, ==, 2);
	g_assert_cmpfloat(seconds(silent.at[1] - silent.at[0]), >, LIMIT_ANSWER_SECONDS - 1);
	g_assert_cmpfloat(seconds(silent.at[1] - silent.at[0]), <, LIMIT_ANSWER_SECONDS + 5);
	g_assert_cmpuint(stop(&silent), ==, 0);
}

static void test_end(void)
{
	gint64 begin = g_get_monotonic_time();
	while (outbox_is_busy(away.outbox))
		g_usleep(1000);
	g_assert_cmpfloat(seconds(g_get_monotonic_time() - begin), <, LIMIT_FORWARD_END_SECONDS + 5);
	g_assert_cmpuint(stop(&away), ==, BODY_SPANS);
}

static void test_pause(void)
{
	wait_for_counts(&busy, BODY_SPANS, 0);
	g_assert_cmpint(busy.n, ==, 2);
	g_assert_cmpfloat(seconds(busy.at[1] - busy.at[0]), >=, LIMIT_FORWARD_PAUSE_SECONDS);
	g_assert_cmpfloat(seconds(busy.at[1] - busy.at[0]), <, LIMIT_FORWARD_PAUSE_SECONDS + 10);
	g_assert_cmpuint(stop(&busy), ==, 0);
}

static void test_tries(void)
{
	wait_for_counts(&broken, 0, BODY_SPANS);
	g_assert_cmpint(broken.n, ==, LIMIT_FORWARD_TRIES);
	for (int i = 1; i < LIMIT_FORWARD_TRIES; i++)
		g_assert_cmpfloat(seconds(broken.at[i] - broken.at[i - 1]), >, 0.3);
	g_assert_cmpuint(stop(&broken), ==, BODY_SPANS);
}

int main(int argc, char **argv)
{
	bool lists = argc > 1 && g_str_equal(argv[1], "-l");
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/limit/forward-bytes", test_waiting);
	g_test_add_func("/limit/answer-bytes", test_answer_bytes);
	g_test_add_func("/limit/answer-seconds", test_answer_seconds);
	g_test_add_func("/limit/forward-end-seconds", test_end);
	g_test_add_func("/limit/forward-pause-seconds", test_pause);
	g_test_add_func("/limit/forward-tries", test_tries);
	if (!lists)
		start_slow_ones();
	return g_test_run();
}
