/* SPDX-License-Identifier: GPL-2.0-only */
/* Graphite servers that close, do not read, or come back: pauses, what counts as sent, what is dropped. The clock is
 * the test's (lib/test_clock.h), and pauses take no time. */
#include "lib/test_clock.h"

#include "base/limits.h"
#include "live/viewer/net.h"
#include "send/carbon.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES 64
#define PARCEL_LINES 100
#define SLOWER 30			/* a first second takes half a minute */
#define MOST_PAUSES 64

bool __real_net_sleep(int wake_fd, int64_t deadline);
bool __wrap_net_sleep(int wake_fd, int64_t deadline);

static struct {
	int64_t us[MOST_PAUSES];
	int n;				/* atomic */
} pauses;

/* Pauses between connections are noted and skipped; shorter waits are real. */
bool __wrap_net_sleep(int wake_fd, int64_t deadline)
{
	int64_t us = deadline - g_get_monotonic_time();
	if (us < 200 * G_TIME_SPAN_MILLISECOND)
		return __real_net_sleep(wake_fd, deadline);
	if (pauses.n < MOST_PAUSES)
		pauses.us[g_atomic_int_add(&pauses.n, 1)] = us;
	test_clock_set(SLOWER, us);
	return __real_net_sleep(wake_fd, 0);
}

/* ---- a server ---- */

enum way { CLOSE, RESET, READ, READ_AND_RESET, KEEP, HALF_CLOSE, IGNORE };
struct server {
	const enum way *ways;		/* of its connections; the last one of all others */
	size_t n_ways;
	size_t few;			/* bytes that READ_AND_RESET reads */
	int fd, n;			/* .n: connections; atomic */
	GThread *thread;
	GByteArray *got;		/* of all READ connections; the server's until it is stopped */
	int open[MOST_PAUSES];		/* connections that it keeps */
	int n_open;
	struct live_url url;
	struct outbox *outbox;
	uint64_t lines;			/* pushed */
};

static void read_from(struct server *s, int fd, size_t most)
{
	static uint8_t buf[1 << 16];
	ssize_t n;
	for (size_t all = 0; all < most && (n = read(fd, buf, MIN(sizeof buf, most - all))) > 0; all += (size_t)n)
		g_byte_array_append(s->got, buf, (guint)n);
}

static void serve(struct server *s, int fd)
{
	enum way way = s->ways[MIN((size_t)s->n, s->n_ways - 1)];
	g_atomic_int_inc(&s->n);
	if (way == READ)
		read_from(s, fd, SIZE_MAX);
	else if (way == READ_AND_RESET)
		read_from(s, fd, s->few);
	if (way == HALF_CLOSE)
		shutdown(fd, SHUT_WR);
	if (way == IGNORE || way == HALF_CLOSE || way == KEEP)
		s->open[s->n_open++] = fd;
	else if (way == RESET || way == READ_AND_RESET)
		net_abort(fd);
	else
		close(fd);
}

static gpointer work(gpointer data)
{
	struct server *s = data;
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };
	while (poll(&ready, 1, -1) == 1 && !(ready.revents & (POLLHUP | POLLERR))) {
		int fd = accept(s->fd, NULL, NULL);
		if (fd >= 0)
			serve(s, fd);
	}
	return NULL;
}

static void start(struct server *s, const enum way *ways, size_t n)
{
	uint16_t port;
	memset(&pauses, 0, sizeof pauses);
	test_clock_set(SLOWER, 0);
	*s = (struct server){ .ways = ways, .n_ways = n, .got = g_byte_array_new() };
	s->fd = net_listen_local(&port, NULL);
	g_assert_cmpint(s->fd, >=, 0);
	s->url = (struct live_url){ .host = (char *)"127.0.0.1", .port = port, .family = AF_INET };
	s->thread = g_thread_new("server", work, s);
	s->outbox = carbon_start(&s->url);
}

/* Each line is its number. */
static void push(struct server *s, unsigned n)
{
	GString *text = g_string_new(NULL);
	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "%0*" G_GUINT64_FORMAT "\n", LINE_BYTES - 1, s->lines++);
	outbox_push(s->outbox, g_string_free(text, false), n);
}

static void wait_for_sent(struct server *s, uint64_t wanted)
{
	uint64_t sent = 0, dropped;
	for (int i = 0; i < 60000 && sent < wanted; i++) {
		outbox_get_counts(s->outbox, &sent, &dropped);
		g_usleep(1000);
	}
	g_assert_cmpuint(sent, ==, wanted);
}

/* Time passes `faster` us in each real millisecond. Returns what is dropped. */
static uint64_t finish(struct server *s, gint64 faster)
{
	outbox_end(s->outbox);
	while (outbox_is_busy(s->outbox)) {
		g_usleep(1000);
		if (faster)
			test_clock_set(SLOWER, faster);
	}
	uint64_t dropped = outbox_free(s->outbox);
	shutdown(s->fd, SHUT_RDWR);
	g_thread_join(s->thread);
	close(s->fd);
	for (int i = 0; i < s->n_open; i++) {
		read_from(s, s->open[i], SIZE_MAX);
		close(s->open[i]);
	}
	return dropped;
}

/* Did it get each line from `first` on, once, in their order? */
static bool has_lines_from(const struct server *s, uint64_t first)
{
	bool ok = s->got->len == (s->lines - first) * LINE_BYTES;
	for (uint64_t i = first; ok && i < s->lines; i++)
		ok = g_ascii_strtoull((const char *)s->got->data + (i - first) * LINE_BYTES, NULL, 10) == i;
	return ok;
}

static void stop(struct server *s)
{
	g_byte_array_unref(s->got);
}

/* Half a second, one, two ... eight, a quarter more or less, from `first` on. */
static void check_pauses(int first, int n)
{
	g_assert_cmpint(first + n, <=, pauses.n);
	for (int i = 0; i < n; i++) {
		double wanted = 0.5 * (double)(1 << MIN(i, 4)) * G_USEC_PER_SEC;
		g_assert_cmpfloat((double)pauses.us[first + i], <, 1.26 * wanted);
		g_assert_cmpfloat((double)pauses.us[first + i], >, 0.7 * wanted);
	}
}

/* ---- tests ---- */

/* It accepts connections and closes them, for ever: nothing counts as sent, and pauses grow until the end. */
static void test_closes(gconstpointer data)
{
	const enum way *way = data;
	struct server s;
	start(&s, way, 1);
	for (int i = 0; i < 5; i++)
		push(&s, PARCEL_LINES);
	g_assert_cmpuint(finish(&s, 0), ==, s.lines);
	check_pauses(0, pauses.n);
	g_assert_cmpint(pauses.n, >=, 4);	/* 0.5 + 1 + 2 + 4 s: not all of LIMIT_GRAPHITE_END_SECONDS */
	stop(&s);
}

/* It closes the first connections, then reads: all is there once. */
static void test_comes_back(void)
{
	static const enum way ways[] = { CLOSE, RESET, CLOSE, READ };
	struct server s;
	start(&s, ways, G_N_ELEMENTS(ways));
	for (int i = 0; i < 5; i++)
		push(&s, PARCEL_LINES);
	g_assert_cmpuint(finish(&s, 0), ==, 0);
	g_assert_true(has_lines_from(&s, 0));
	check_pauses(0, pauses.n);
	stop(&s);
}

/* It loses connections after some lines: those of the first second are sent again, all of them. */
static void test_loses_some(void)
{
	static const enum way ways[] = { READ_AND_RESET, READ_AND_RESET, READ };
	struct server s;
	start(&s, ways, G_N_ELEMENTS(ways));
	s.few = 7 * LINE_BYTES;
	for (int i = 0; i < 5; i++)
		push(&s, PARCEL_LINES);
	g_assert_cmpuint(finish(&s, 0), ==, 0);
	g_byte_array_remove_range(s.got, 0, (guint)(2 * s.few));
	g_assert_true(has_lines_from(&s, 0));
	stop(&s);
}

/* What was taken in between makes pauses short again. What counted is sent once more, not twice. */
static void test_pauses_shrink(void)
{
	static const enum way ways[] = { CLOSE, CLOSE, CLOSE, KEEP, CLOSE, READ };
	struct server s;
	start(&s, ways, G_N_ELEMENTS(ways));
	push(&s, PARCEL_LINES);
	while (g_atomic_int_get(&s.n) < 4 || !g_atomic_int_get(&s.n_open))
		g_usleep(1000);
	int before = g_atomic_int_get(&pauses.n);
	test_clock_set(SLOWER, LIMIT_GRAPHITE_FIRST_SECONDS * G_USEC_PER_SEC);
	wait_for_sent(&s, PARCEL_LINES);
	net_abort(s.open[--s.n_open]);
	push(&s, PARCEL_LINES);
	g_assert_cmpuint(finish(&s, 0), ==, 0);
	check_pauses(0, before);
	check_pauses(before, pauses.n - before);
	g_assert_cmpint(pauses.n, >, before);
	g_assert_true(has_lines_from(&s, 0));
	stop(&s);
}

/* It retains connections after their end: what it acknowledged counts after the first second. */
static void test_keeps(void)
{
	static const enum way way = KEEP;
	struct server s;
	start(&s, &way, 1);
	push(&s, PARCEL_LINES);
	g_assert_cmpuint(finish(&s, 100 * G_TIME_SPAN_MILLISECOND), ==, 0);
	g_assert_cmpint(s.n, ==, 1);
	g_assert_true(has_lines_from(&s, 0));
	stop(&s);
}

/* It ends its half of each connection at once. What it acknowledged may look as if it was read to its end. */
static void test_half_closes(void)
{
	static const enum way way = HALF_CLOSE;
	struct server s;
	start(&s, &way, 1);
	push(&s, PARCEL_LINES);
	uint64_t dropped = finish(&s, 0);
	g_assert_true(dropped == s.lines || (!dropped && s.got->len >= s.lines * LINE_BYTES));
	stop(&s);
}

/* It never reads: the end comes in time, over one connection, and what its buffers have not is dropped. */
static void test_never_reads(void)
{
	static const enum way way = IGNORE;
	struct server s;
	bool full = false;
	start(&s, &way, 1);
	while (!full) {
		push(&s, 16 * PARCEL_LINES);
		full = !outbox_has_room(s.outbox);
	}
	g_assert_true(outbox_makes_progress(s.outbox));
	while (outbox_makes_progress(s.outbox)) {
		g_usleep(1000);
		test_clock_set(SLOWER, 20 * G_TIME_SPAN_MILLISECOND);
	}
	uint64_t sent, dropped;
	outbox_get_counts(s.outbox, &sent, &dropped);
	g_autofree char *message = NULL;
	for (int i = 0; i < 10000 && !message; i++) {
		g_usleep(1000);
		test_clock_set(SLOWER, 20 * G_TIME_SPAN_MILLISECOND);
		message = outbox_take_message(s.outbox);
	}
	g_assert_nonnull(message);
	g_assert_nonnull(strstr(message, "lines are not read by 127.0.0.1"));
	uint64_t all = finish(&s, 20 * G_TIME_SPAN_MILLISECOND);
	g_assert_cmpuint(all, ==, s.lines - sent);
	g_assert_cmpuint(all, >, 0);
	g_assert_cmpint(s.n, ==, 1);
	g_assert_cmpuint(s.got->len, >=, sent * LINE_BYTES);
	stop(&s);
}

int main(int argc, char **argv)
{
	static const enum way closes = CLOSE, resets = RESET;
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/carbon/closes", &closes, test_closes);
	g_test_add_data_func("/carbon/resets", &resets, test_closes);
	g_test_add_func("/carbon/comes-back", test_comes_back);
	g_test_add_func("/carbon/loses-some", test_loses_some);
	g_test_add_func("/carbon/pauses-shrink", test_pauses_shrink);
	g_test_add_func("/carbon/keeps", test_keeps);
	g_test_add_func("/carbon/half-closes", test_half_closes);
	g_test_add_func("/carbon/never-reads", test_never_reads);
	return g_test_run();
}
