/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listing and attaching against relays that are made up: polite ones, and ones that
 * lie, stop in the middle, are something else, or say nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/fake_relay.h"

static void test_list(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GByteArray) list = g_byte_array_new();
	g_autoptr(GError) error = NULL;

	relay_put_session(list, 7, "web", "spans", 3, 0);
	relay_put_session(list, 3, "db", "z", 1, 1);
	relay_put_session(list, 8, "web", "spans", 5, 1);
	relay_put_session(list, 9, "db", "a", 0, 0);
	relay_add_hello(r, 2, 13);
	relay_add_list(r, 4, list);
	struct live_url url = relay_start(r);
	g_autoptr(GPtrArray) rows = live_list_sessions(&url, 5000, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(rows->len, ==, 3);
	const struct live_session *a = rows->pdata[0], *z = rows->pdata[1], *s = rows->pdata[2];
	g_assert_cmpstr(a->name, ==, "a");
	g_assert_cmpstr(z->target, ==, "db");
	g_assert_cmpuint(z->viewers, ==, 1);
	g_assert_cmpstr(s->name, ==, "spans");
	g_assert_cmpuint(s->ids, ==, 2);
	g_assert_cmpuint(s->streams, ==, 8);
	g_assert_cmpuint(s->viewers, ==, 1);
	g_assert_cmpuint(s->timer_us, ==, 1000000);
	relay_free(r);
}

static void test_empty(void)
{
	struct relay *r = relay_new(true);

	relay_add_hello(r, 2, 4);
	relay_add_list(r, 0, NULL);
	struct live_url url = relay_start(r);
	g_autoptr(GPtrArray) rows = live_list_sessions(&url, 5000, NULL);
	g_assert_nonnull(rows);
	g_assert_cmpuint(rows->len, ==, 0);
	relay_free(r);
}

/* Names that fill their fields have no NUL. */
static void test_unterminated(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GByteArray) list = g_byte_array_new();
	g_autofree char *host = g_strnfill(VIEWER_HOST_SIZE, 'h');
	g_autofree char *name = g_strnfill(VIEWER_NAME_SIZE, '\033');

	relay_put_session(list, 1, host, name, 1, 0);
	relay_add_hello(r, 2, 4);
	relay_add_list(r, 1, list);
	struct live_url url = relay_start(r);
	g_autoptr(GPtrArray) rows = live_list_sessions(&url, 5000, NULL);
	g_assert_nonnull(rows);
	const struct live_session *s = rows->pdata[0];
	g_assert_cmpstr(s->target, ==, host);
	g_assert_cmpstr(s->name, ==, name);
	relay_free(r);
}

static void test_backoff(void)
{
	for (unsigned failures = 0; failures < 40; failures++) {
		double base = 0.5e6 * (1 << MIN(failures, 4u)), least = INFINITY, most = 0;
		for (int i = 0; i < 400; i++) {
			double us = (double)net_backoff(failures);
			least = MIN(least, us);
			most = MAX(most, us);
		}
		g_assert_cmpfloat(least, >=, 0.75 * base);
		g_assert_cmpfloat(most, <=, 1.25 * base);
		g_assert_cmpfloat(most - least, >, 0.4 * base);	/* spread, or all come at once */
	}
}

/* A connection that was left can be reset, which its peer learns at once. */
static void test_left(void)
{
	uint16_t port;
	int listener = net_listen_local(&port, NULL);
	struct net n, peer = { .wake_fd = -1 };
	g_autoptr(GError) error = NULL;
	char byte;

	g_assert_true(net_connect(&n, "127.0.0.1", port, AF_INET, -1, net_deadline(5000), &error));
	peer.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	g_assert_cmpint(peer.fd, >=, 0);
	int fd = net_leave(&n);
	g_assert_cmpint(n.fd, ==, -1);
	g_assert_cmpint(fd, >=, 0);
	net_abort(fd);
	g_assert_false(net_read(&peer, &byte, 1, net_deadline(5000), &error));
	g_assert_cmpstr(error->message, ==, g_strerror(ECONNRESET));
	net_close(&peer);
	close(listener);
}

/* Expects an error with these words, within the time. */
static void expect(struct relay *r, int timeout_ms, const char *words)
{
	struct live_url url = relay_start(r);
	g_autoptr(GError) error = NULL;
	int64_t begin = g_get_monotonic_time();

	g_assert_null(live_list_sessions(&url, timeout_ms, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT);
	g_test_message("%s", error->message);
	g_assert_nonnull(strstr(error->message, words));
	g_autofree char *port = g_strdup_printf("127.0.0.1:%u", r->port);
	g_assert_nonnull(strstr(error->message, port));
	g_assert_cmpint(g_get_monotonic_time() - begin, <, timeout_ms * 1000 + 3000000);
	relay_free(r);
}

static void test_silent(void)
{
	expect(relay_new(true), 100, "no answer in time");
}

static void test_silent_later(void)
{
	struct relay *r = relay_new(true);

	relay_add_hello(r, 2, 4);
	expect(r, 100, "no answer in time");
}

static void test_closing(void)
{
	expect(relay_new(false), 5000, "does not speak the viewer protocol");
}

static void test_something_else(void)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n";
	struct relay *r = relay_new(false);

	relay_add_step(r, VIEWER_HEADER + VIEWER_CONNECT_SIZE, http, sizeof http - 1);
	expect(r, 5000, "version");
}

static void test_other_version(void)
{
	struct relay *r = relay_new(true);

	relay_add_hello(r, 3, 0);
	expect(r, 5000, "version 3.0");
}

static void test_half_a_hello(void)
{
	struct relay *r = relay_new(false);

	relay_add_step(r, VIEWER_HEADER + VIEWER_CONNECT_SIZE, "\0\0\0\0\0\0\0\1\0\0\0", 11);
	expect(r, 5000, "the connection was closed");
}

static void test_huge_count(void)
{
	struct relay *r = relay_new(true);

	relay_add_hello(r, 2, 4);
	relay_add_list(r, UINT32_MAX, NULL);
	expect(r, 5000, "claims to have 4294967295");
}

static void test_too_few(void)
{
	struct relay *r = relay_new(false);
	g_autoptr(GByteArray) list = g_byte_array_new();

	relay_put_session(list, 1, "h", "s", 1, 0);
	relay_add_hello(r, 2, 4);
	relay_add_list(r, 2, list);
	expect(r, 5000, "the connection was closed");
}

static void test_too_few_silent(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GByteArray) list = g_byte_array_new();

	relay_put_session(list, 1, "h", "s", 1, 0);
	relay_add_hello(r, 2, 4);
	relay_add_list(r, 2, list);
	expect(r, 100, "no answer in time");
}

static void test_refused(void)
{
	struct relay *r = relay_new(false);

	/* bound, but nobody listens */
	close(r->listener);
	r->listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	g_assert_cmpint(bind(r->listener, (struct sockaddr *)&a, sizeof a), ==, 0);
	g_assert_cmpint(getsockname(r->listener, (struct sockaddr *)&a, &len), ==, 0);
	r->port = ntohs(a.sin_port);
	g_autoptr(GError) error = NULL;
	struct live_url url = { .host = (char *)"127.0.0.1", .port = r->port };
	g_assert_null(live_list_sessions(&url, 5000, &error));
	g_assert_nonnull(strstr(error->message, g_strerror(ECONNREFUSED)));
	relay_free(r);
}

static void test_unknown_host(void)
{
	g_autoptr(GError) error = NULL;
	struct live_url url = { .host = (char *)"no-such-host.invalid", .port = 1 };

	g_assert_null(live_list_sessions(&url, 2000, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT);
	g_assert_nonnull(strstr(error->message, "no-such-host.invalid:1"));
}

/* live_open() looks first: what it says when it will not attach. */
static void expect_session(const char *target, const char *session, const char *words)
{
	struct relay *r = relay_new(true);
	g_autoptr(GByteArray) list = g_byte_array_new();
	g_autoptr(GError) error = NULL;

	relay_put_session(list, 1, "web", "free", 1, 0);
	relay_put_session(list, 2, "web", "taken", 1, 1);
	relay_add_hello(r, 2, 13);
	relay_add_list(r, 2, list);
	struct live_url url = relay_start(r);
	url.target = (char *)target;
	url.session = (char *)session;
	struct source *s = live_open(&url, 1, &(struct live_options){ .timeout_ms = 5000 }, NULL, 0,
				     &error);
	struct blk_batch batch;
	while (s && source_next(s, &batch, &error) == SOURCE_AGAIN)
		;
	source_free(s);
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION);
	g_test_message("%s", error->message);
	g_assert_nonnull(strstr(error->message, words));
	relay_free(r);
}

static void test_open(void)
{
	expect_session("web", "none", "there are: web/free, web/taken");
	expect_session("db", "free", "no such session");
	expect_session("web", "taken", "another viewer is attached");
	expect_session(NULL, NULL, "no session is named");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{ "list", test_list }, { "empty", test_empty },
		{ "unterminated", test_unterminated },
		{ "silent", test_silent }, { "silent-later", test_silent_later },
		{ "closing", test_closing }, { "something-else", test_something_else },
		{ "other-version", test_other_version }, { "half-a-hello", test_half_a_hello },
		{ "huge-count", test_huge_count }, { "too-few", test_too_few },
		{ "too-few-silent", test_too_few_silent }, { "refused", test_refused },
		{ "unknown-host", test_unknown_host }, { "open", test_open },
		{ "backoff", test_backoff }, { "left", test_left },
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/live-viewer/", tests[i].name, NULL);
		g_test_add_func(path, tests[i].run);
	}
	return g_test_run();
}
