/* SPDX-License-Identifier: GPL-2.0-only */
/* The session helper, the client's side: see helper.h. */
#include "live/session/helper_private.h"

#include "live/tracefs/handover.h"

#include "base/fail.h"
#include "base/pass.h"
#include "trace/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SESSION BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION

#define FREE_PATIENCE_MS 15000

struct reply {
	enum session_helper_answer kind;
	char *text;
};

struct session_helper {
	int fd;				/* -1: the helper has ended */
	pid_t pid;
	GQueue replies;			/* struct reply *, not taken yet */
	bool loss_reported;
	bool stays;			/* its process may end later than the connection */
	struct handover *kernel;	/* NULL: none, or it was taken */
};

struct session_helper *session_helper_of(int fd, pid_t pid)
{
	struct session_helper *s = g_new0(struct session_helper, 1);

	s->fd = fd;
	s->pid = pid;
	g_queue_init(&s->replies);
	return s;
}

struct session_helper *session_helper_new(const struct session_helper_options *o, GError **error)
{
	int pair[2];

	/* SOCK_SEQPACKET: retains the bounds of messages, and reports when the other end closes. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		fail(error, SESSION, "cannot make a connection to the session helper: %s", g_strerror(errno));
		return NULL;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		session_helper_work(o, pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		fail(error, SESSION, "cannot start the session helper: %s", g_strerror(errno));
		close(pair[0]);
		return NULL;
	}
	return session_helper_of(pair[0], pid);
}

void session_helper_send(struct session_helper *s, enum session_helper_request what, const char *text)
{
	g_autofree char *packet = g_strdup_printf("%c%s", 'A' + (int)what, text ? text : "");
	if (s->fd >= 0)
		send(s->fd, packet, MIN(strlen(packet), HELPER_PACKET), MSG_NOSIGNAL);
}

/* Messages for the user by the letters of their packets. */
static const struct { char word; enum session_helper_answer kind; } queued[] = {
	{ HELPER_MSG_MESSAGE, HELPER_MESSAGE }, { HELPER_MSG_WARNING, HELPER_WARNING },
	{ HELPER_MSG_EXITED, HELPER_EXITED },
};

/* Receives one packet within timeout_ms (-1: for ever). Returns its letter; 0: none came. Messages for the user are
 * queued; *ret_text is set for other packets. */
static char receive(struct session_helper *s, int timeout_ms, char **ret_text)
{
	char packet[HELPER_PACKET + 1];
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	if (s->fd < 0 || poll(&p, 1, timeout_ms) <= 0)
		return 0;
	int fd;
	ssize_t n = pass_receive(s->fd, packet, sizeof packet - 1, &fd);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		close(s->fd);
		s->fd = -1;
		return 0;
	}
	packet[n] = '\0';
	s->stays |= packet[0] == HELPER_MSG_STAYS;
	if (packet[0] == HELPER_MSG_KERNEL) {
		if (!s->kernel)
			s->kernel = handover_new();
		handover_take(s->kernel, packet + 1, fd);
		return packet[0];
	}
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < G_N_ELEMENTS(queued); i++)
		if (queued[i].word == packet[0]) {
			struct reply *reply = g_new(struct reply, 1);
			*reply = (struct reply){ queued[i].kind, g_strdup(packet + 1) };
			g_queue_push_tail(&s->replies, reply);
			return packet[0];
		}
	*ret_text = g_strdup(packet + 1);
	return packet[0];
}

static void fail_late(int ms, const char *doing, GError **error)
{
	fail(error, SESSION, "the session daemon does not answer within %g s%s%s; is it stopped?", ms / 1000.0,
	     doing ? ": " : "", doing ? doing : "");
}

char *session_helper_ask(struct session_helper *s, enum session_helper_request what, const char *text, int timeout_ms,
		  GError **error)
{
	gint64 until = g_get_monotonic_time() + (gint64)timeout_ms * 1000;
	g_autofree char *doing = NULL;

	session_helper_send(s, what, text);
	while (s->fd >= 0) {
		gint64 left = timeout_ms < 0 ? -1 : MAX(until - g_get_monotonic_time(), 0) / 1000;
		char *answer = NULL;
		char word = receive(s, (int)left, &answer);
		if (word == HELPER_MSG_DONE)
			return answer;
		if (word == HELPER_MSG_FAILED) {
			fail(error, SESSION, "%s", answer);
			g_free(answer);
			return NULL;
		}
		if (word == HELPER_MSG_PROGRESS) {	/* the time limit restarts with each step */
			until = g_get_monotonic_time() + (gint64)timeout_ms * 1000;
			g_free(doing);
			doing = g_steal_pointer(&answer);
			continue;
		}
		g_free(answer);
		if (left == 0) {
			fail_late(timeout_ms, doing, error);
			return NULL;
		}
	}
	fail(error, SESSION, "the process that makes and destroys the session has ended");
	return NULL;
}

enum session_helper_answer session_helper_take(struct session_helper *s, char **ret_text)
{
	char *stray = NULL;

	*ret_text = NULL;
	while (receive(s, 0, &stray))
		g_clear_pointer(&stray, g_free);
	struct reply *reply = g_queue_pop_head(&s->replies);
	if (reply) {
		enum session_helper_answer kind = reply->kind;
		*ret_text = reply->text;
		g_free(reply);
		return kind;
	}
	if (s->fd >= 0 || s->loss_reported)
		return HELPER_NOTHING;
	s->loss_reported = true;
	return HELPER_LOST;
}

struct handover *session_helper_take_kernel(struct session_helper *s)
{
	if (!s->kernel || !handover_is_complete(s->kernel))
		return NULL;
	return g_steal_pointer(&s->kernel);
}

/* Receives the remaining packets, so that the helper does not block on a full socket. */
static void drain(struct session_helper *s, gint64 until)
{
	char *text = NULL;
	while (s->fd >= 0 && g_get_monotonic_time() < until) {
		receive(s, 100, &text);
		g_clear_pointer(&text, g_free);
	}
}

void session_helper_free(struct session_helper *s)
{
	if (!s)
		return;
	gint64 until = g_get_monotonic_time() + FREE_PATIENCE_MS * 1000;
	if (s->fd >= 0)
		shutdown(s->fd, SHUT_WR);
	drain(s, until);
	while (waitpid(s->pid, NULL, WNOHANG) == 0 && !s->stays && g_get_monotonic_time() < until)
		g_usleep(10000);
	if (s->fd >= 0)
		close(s->fd);
	for (struct reply *reply; (reply = g_queue_pop_head(&s->replies)); g_free(reply))
		g_free(reply->text);
	handover_free(s->kernel);
	g_free(s);
}

int session_helper_pid_of(const char *session)
{
	static const char prefix[] = HELPER_SESSION_PREFIX;
	if (!g_str_has_prefix(session, prefix))
		return 0;
	const char *digits = session + strlen(prefix);
	size_t n = strspn(digits, "0123456789");
	bool ours = n > 0 && n < 10 && (!digits[n] || g_str_equal(digits + n, HELPER_SNAPSHOT_SUFFIX));
	return ours ? atoi(digits) : 0;
}
