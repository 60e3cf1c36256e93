/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes connections for a process that must not create sockets; see connector.h. */
#include "live/viewer/connector.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/pass.h"
#include "base/user.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECT BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT

#define MOST_WHY 256			/* bytes of an error message */

/* A request of the client. The message also carries the socket for the answer. */
struct wish {
	uint32_t relay;			/* index into the URLs passed to connector_start() */
	int32_t timeout_ms;
};

/* The client's side; set before the first thread. */
static struct {
	int fd;				/* -1: there is no connector */
	const struct live_url *urls;	/* borrowed */
	size_t n;
} connector = { .fd = -1 };

/* ---- in the connector process ---- */

/* Makes one connection in a separate process, as name resolution may hang. A client that gives up closes its end of
 * `answer`, which ends the wait. */
G_NORETURN static void serve(const struct live_url *url, int timeout_ms, int answer)
{
	g_autoptr(GError) error = NULL;
	struct net n = { .fd = -1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (net_connect(&n, url->host, url->port, url->family, answer, net_deadline(timeout_ms), &error))
		pass_send(answer, "", 1, n.fd);
	else
		pass_send(answer, error->message, MIN(strlen(error->message), MOST_WHY - 1), -1);
	_exit(0);
}

/* Closes all descriptors except the needed ones, so that the process has neither the terminal nor open files. */
static void keep_only(int control)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	dup3(control, 3, O_CLOEXEC);
	close_range(4, ~0u, 0);
}

G_NORETURN static void work(const struct live_url *urls, size_t n, int control)
{
	struct wish wish;
	int answer;

	g_autofree char *why = NULL;

	prctl(PR_SET_NAME, "blk-connector");
	user_drop(false, &why);		/* it needs no rights */
	/* The client handles signals of the terminal; this process ends when the client does. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);	/* its children are reaped by the kernel */
	keep_only(control);
	for (;;) {
		ssize_t len = pass_receive(3, &wish, sizeof wish, &answer);
		if (len <= 0)
			_exit(0);
		bool ok = len == sizeof wish && answer >= 0 && wish.relay < n && wish.timeout_ms > 0 &&
			  wish.timeout_ms <= LIMIT_TIMEOUT_SECONDS * 1000;
		if (ok && fork() == 0)
			serve(&urls[wish.relay], wish.timeout_ms, answer);
		if (answer >= 0)
			close(answer);
	}
}

bool connector_start(const struct live_url *urls, size_t n, GError **error)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fail(error, CONNECT, "%s", g_strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		work(urls, n, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		fail(error, CONNECT, "%s", g_strerror(errno));
		close(pair[0]);
		return false;
	}
	connector.fd = pair[0];
	connector.urls = urls;
	connector.n = n;
	return true;
}

/* ---- in the client ---- */

static bool find_relay(const struct live_url *url, uint32_t *ret)
{
	for (size_t i = 0; i < connector.n; i++) {
		const struct live_url *u = &connector.urls[i];
		*ret = (uint32_t)i;
		if (u->port == url->port && u->family == url->family && g_str_equal(u->host, url->host))
			return true;
	}
	return false;
}

static bool take_answer(struct net *n, int from, int64_t deadline, GError **error)
{
	char why[MOST_WHY] = "";
	struct net answer = { .fd = from, .wake_fd = n->wake_fd };

	if (!net_wait_readable(&answer, deadline, error))
		return false;
	ssize_t len = pass_receive(from, why, sizeof why - 1, &n->fd);
	if (len > 0 && n->fd >= 0)
		return true;
	return fail(error, CONNECT, "%s", len > 0 ? why : "the process that makes connections has ended");
}

bool connector_connect(struct net *n, const struct live_url *url, int wake_fd, int64_t deadline,
		       GError **error)
{
	struct wish wish;
	int pair[2];

	if (connector.fd < 0)
		return net_connect(n, url->host, url->port, url->family, wake_fd, deadline, error);
	*n = (struct net){ .fd = -1, .wake_fd = wake_fd };
	wish.timeout_ms = (int32_t)CLAMP((deadline - g_get_monotonic_time()) / 1000, 1, LIMIT_TIMEOUT_SECONDS * 1000);
	if (!find_relay(url, &wish.relay))
		return fail(error, CONNECT, "the command line does not name it");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fail(error, CONNECT, "%s", g_strerror(errno));
	bool ok = pass_send(connector.fd, &wish, sizeof wish, pair[1]);
	close(pair[1]);
	ok = ok ? take_answer(n, pair[0], deadline, error)
		: fail(error, CONNECT, "the process that makes connections has ended");
	close(pair[0]);
	return ok;
}
