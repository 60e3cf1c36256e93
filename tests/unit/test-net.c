/* SPDX-License-Identifier: GPL-2.0-only */
/* Time limits and stops hold while data flows: of a peer that always has some, or always takes some. */
#include "base/limits.h"
#include "live/viewer/net.h"
#include "send/http.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MUCH (64u << 10)

/* A connection on which bytes wait, and may be written. */
struct pair {
	struct net net;
	int peer;
};

static void begin(struct pair *p)
{
	static const char bytes[MUCH];
	int fds[2];
	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
	*p = (struct pair){ .net = { .fd = fds[0], .wake_fd = net_wake_new() }, .peer = fds[1] };
	g_assert_cmpint(write(p->peer, bytes, MUCH), ==, MUCH);
}

static void end(struct pair *p)
{
	close(p->peer);
	close(p->net.wake_fd);
	net_close(&p->net);
}

static void check_all(struct pair *p, int64_t deadline, const char *why)
{
	char buf[4096] = { 0 };
	for (int i = 0; i < 5; i++) {
		g_autoptr(GError) error = NULL;
		bool ok = i == 0 ? net_read_some(&p->net, buf, sizeof buf, deadline, &error) != 0 :
			  i == 1 ? net_read(&p->net, buf, sizeof buf, deadline, &error) :
			  i == 2 ? net_write(&p->net, buf, sizeof buf, deadline, &error) :
			  i == 3 ? net_wait_readable(&p->net, deadline, &error) :
				   net_wait_writable(&p->net, deadline, &error);
		g_assert_true(ok == !why);
		g_assert_cmpstr(error ? error->message : NULL, ==, why);
	}
}

static void test_deadline(void)
{
	struct pair p;
	begin(&p);
	check_all(&p, NET_FOREVER, NULL);
	check_all(&p, net_deadline(60000), NULL);
	check_all(&p, net_deadline(0), "no answer in time");
	end(&p);
}

static void test_stop(void)
{
	struct pair p;
	begin(&p);
	net_wake(p.net.wake_fd);
	check_all(&p, NET_FOREVER, "stopped");
	check_all(&p, net_deadline(60000), "stopped");
	end(&p);
}

/* What is under way, to a peer that reads none of it, all, or is gone. */
static void test_unacked(void)
{
	static const char bytes[MUCH];
	struct net n;
	struct net_unacked u;
	uint16_t port;
	size_t all = 0;
	int listening = net_listen_local(&port, NULL);
	g_assert_true(net_connect(&n, "127.0.0.1", port, AF_INET, -1, net_deadline(30000), NULL));
	int peer;
	do {
		peer = accept(listening, NULL, NULL);
	} while (peer < 0);
	for (ssize_t put = 1; put > 0; all += (size_t)put)
		g_assert_cmpint(put = net_write_some(&n, bytes, sizeof bytes, NULL), >=, 0);
	for (int i = 0; i < 30000; i++) {
		g_assert_true(net_unacked(&n, &u));
		if (!u.in_flight)
			break;
		g_usleep(1000);
	}
	g_assert_false(u.in_flight);
	g_assert_cmpuint(u.bytes, >, 0);
	g_assert_cmpuint(u.bytes, <, all);
	size_t taken = all - u.bytes;
	net_abort(peer);
	while (!net_is_stale(&n))
		g_usleep(1000);
	g_assert_true(net_unacked(&n, &u));
	g_assert_cmpuint(all - u.bytes, ==, taken);	/* a reset takes nothing back */
	net_close(&n);
	close(listening);
	g_assert_false(net_unacked(&n, &u));
}

/* ---- HTTP: a server that writes the same for ever, as fast as it is read ---- */

struct endless {
	int fd;
	const char *begin, *then;
};

static gpointer write_for_ever(gpointer data)
{
	struct endless *e = data;
	g_autoptr(GString) text = g_string_new(NULL);
	while (text->len < MUCH)
		g_string_append(text, e->then);
	int fd;
	do {
		fd = accept(e->fd, NULL, NULL);
	} while (fd < 0);
	ssize_t n = send(fd, e->begin, strlen(e->begin), MSG_NOSIGNAL);
	while (n >= 0)
		n = send(fd, text->str, text->len, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static void test_endless(void)
{
	static const struct { const char *begin, *then; unsigned status; } answers[] = {
		{ "", "HTTP/1.1 100 Continue\r\n\r\n", 0 },
		{ "", "HTTP/1.1 102 Processing\r\nX: y\r\n\r\n", 0 },
		{ "HTTP/1.1 200 OK\r\n", "X: y\r\n", 0 },
		{ "HTTP/1.1 200 OK\r\nX: ", "y", 0 },
		{ "", "nonsense", 0 },
		{ "HTTP/1.1 200 OK\r\n\r\n", "body", 200 },
		{ "HTTP/1.1 503 Later\r\nContent-Length: 4294967295\r\nRetry-After: 0\r\n\r\n", "body", 503 },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nbody\r\n", 200 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
		static struct http_answer answer;
		struct endless e = { .begin = answers[i].begin, .then = answers[i].then };
		g_autoptr(GError) error = NULL;
		uint16_t port;
		e.fd = net_listen_local(&port, NULL);
		GThread *server = g_thread_new("server", write_for_ever, &e);
		struct http_url url = {
			.server = { .host = (char *)"127.0.0.1", .port = port, .family = AF_INET }, .path = (char *)"/",
		};
		struct http h = { .url = &url, .net = { .fd = -1 } };
		int cancel = net_wake_new();
		enum http_result result = http_post(&h, "[]", 2, cancel, &answer, &error);
		g_assert_cmpint(result, ==, answers[i].status ? HTTP_ANSWERED : HTTP_NO_ANSWER);
		if (answers[i].status)
			g_assert_cmpuint(answer.status, ==, answers[i].status);
		else
			g_assert_nonnull(strstr(error->message, "the answer is not HTTP"));
		g_assert_cmpint(h.net.fd, ==, -1);
		g_thread_join(server);
		close(cancel);
		close(e.fd);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/net/deadline", test_deadline);
	g_test_add_func("/net/stop", test_stop);
	g_test_add_func("/net/unacked", test_unacked);
	g_test_add_func("/net/endless-answers", test_endless);
	return g_test_run();
}
