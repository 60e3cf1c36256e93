/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of the server of /metrics for clients that read slowly, also while what is served changes. */
#include "base/limits.h"
#include "lib/limit_test.h"
#include "live/viewer/net.h"
#include "send/host_names.h"
#include "send/send_metrics.h"
#include "send/server.h"
#include "send/totals_private.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERIES 4000			/* some MB of text: more than sockets have room for */
#define RECEIVED_AHEAD 4096		/* bytes that a client has room for */
#define REQUEST "GET /metrics HTTP/1.0\r\n\r\n"

struct fixture {
	struct totals *totals;
	struct server *server;
	char **names;
	GPtrArray *metrics;
	uint16_t port;
};

static void start(struct fixture *f)
{
	f->metrics = send_metrics_parse("request.latency by operation", NULL);
	f->totals = totals_new(f->metrics, SERIES, true);
	for (unsigned i = 0; i < SERIES; i++) {
		struct series *x = g_new0(struct series, 1);
		x->buckets = g_new0(uint64_t, TOTALS_BUCKETS);
		g_hash_table_insert(f->totals->families[0].series, g_strdup_printf("operation=\"%u\"", i), x);
	}
	f->names = host_names_new(NULL, NULL);
	int fd = net_listen_local(&f->port, NULL);
	g_assert_cmpint(fd, >=, 0);
	f->server = server_start(fd, f->names, f->totals, NULL);
	g_assert_nonnull(f->server);
}

static void stop(struct fixture *f)
{
	server_stop(f->server);
	totals_free(f->totals);
	g_strfreev(f->names);
	g_ptr_array_unref(f->metrics);
}

static int connect_to(const struct fixture *f)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = RECEIVED_AHEAD;
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(f->port), .sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), ==, 0);
	g_assert_cmpint(connect(fd, (const struct sockaddr *)&at, sizeof at), ==, 0);
	return fd;
}

/* A client that has the beginning of its answer, and reads no further. */
static int ask(const struct fixture *f)
{
	char head[16] = { 0 };
	int fd = connect_to(f);
	g_assert_cmpint(send(fd, REQUEST, strlen(REQUEST), 0), ==, strlen(REQUEST));
	g_assert_cmpint(recv(fd, head, sizeof head - 1, MSG_WAITALL), ==, sizeof head - 1);
	g_assert_cmpstr(head, ==, "HTTP/1.0 200 OK");
	return fd;
}

/* Does it get its answer whole? */
static bool read_rest(int fd)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *some = g_malloc(1 << 20);
	for (ssize_t got; (got = recv(fd, some, 1 << 20, 0)) > 0;)
		g_string_append_len(text, some, got);
	close(fd);
	const char *length = strstr(text->str, "Content-Length: "), *body = strstr(text->str, "\r\n\r\n");
	g_assert_nonnull(body);
	return strlen(body + 4) == g_ascii_strtoull(length + strlen("Content-Length: "), NULL, 10);
}

/* n clients of a different text each: is the first one served? */
static bool takes_texts(uint64_t n)
{
	struct fixture f;
	int clients[LIMIT_SCRAPERS] = { 0 }, again;
	start(&f);
	for (uint64_t i = 0; i < n; i++) {
		totals_note_spans(f.totals, i, 0, 0);
		clients[i] = ask(&f);
	}
	again = ask(&f);		/* the same text as the one before: no more of them */
	bool first = read_rest(clients[0]);
	for (uint64_t i = 1; i < n; i++)
		g_assert_true(read_rest(clients[i]));
	g_assert_true(read_rest(again));
	stop(&f);
	return first;
}

/* Who does not read is closed with those who do not send. */
static void test_slow_reader(void)
{
	struct fixture f;
	char byte;
	start(&f);
	int reads = ask(&f), silent = connect_to(&f);
	g_assert_cmpint(recv(silent, &byte, 1, 0), ==, 0);
	g_assert_false(read_rest(reads));
	reads = ask(&f);
	g_assert_true(read_rest(reads));
	close(silent);
	stop(&f);
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "scraped-texts", takes_texts, 0 },
	};
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/server/slow-reader", test_slow_reader);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
