/* SPDX-License-Identifier: GPL-2.0-only */
/* Starts and stops LTTng daemons: see daemons.h. */
#include "live/session/daemons.h"

#include "live/session/control.h"
#include "live/live.h"
#include "live/viewer/listeners.h"
#include "live/viewer/net.h"

#include "base/disk.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECT BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT

#define USUAL_CONTROL 5342
#define PROBE_MS 500
#define RELAY_START_MS 60000
#define SESSION_START_MS 300000
#define REPORT_EVERY_US G_USEC_PER_SEC
#define POLL_US 20000
#define TRIES 5

static char *find_program(const char *name, GError **error)
{
	g_autofree char *beside = g_build_filename("/usr/sbin", name, NULL);
	char *path = g_find_program_in_path(name);
	if (!path && g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
		path = g_steal_pointer(&beside);
	if (!path)
		fail(error, CONNECT, "there is no %s: install it (apt install lttng-tools)", name);
	return path;
}

/* In the child. The process had one thread before fork(), so any function may be called. */
static void become(char **argv, bool stays)
{
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; null >= 0 && fd < 2; fd++)
		dup2(null, fd);		/* its stderr is the helper's, the log */
	for (int signal = 1; signal < 32; signal++)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	setsid();
	if (!stays)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	execv(argv[0], argv);
	_exit(127);
}

static pid_t spawn(char **argv, bool stays, GError **error)
{
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		if (getppid() != parent)
			_exit(127);
		become(argv, stays);
	}
	if (pid < 0)
		fail(error, CONNECT, "cannot start %s: %s", argv[0], g_strerror(errno));
	return pid < 0 ? 0 : pid;
}

/* A daemon that is starting. */
struct starting {
	pid_t pid;
	const char *what;		/* "starting lttng-relayd" */
	int limit_ms;
	const struct control_watch *watch;
	bool (*ready)(void *data);
	void *data;
};

/* Waits until the daemon is ready; false: it ended, or was not ready within .limit_ms. */
static bool wait_ready(const struct starting *s)
{
	gint64 begin = g_get_monotonic_time(), reported = 0;

	while (!s->ready(s->data)) {
		gint64 now = g_get_monotonic_time();
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
			return false;
		if (now - begin > (gint64)s->limit_ms * 1000) {
			daemons_end(s->pid, 1000);
			return false;
		}
		if (now - reported > REPORT_EVERY_US) {
			s->watch->doing(s->watch->data, s->what);
			reported = now;
		}
		g_usleep(POLL_US);
	}
	return true;
}

/* --- the relay daemon --- */

static bool accepts(uint16_t port)
{
	struct net n = { .fd = -1, .wake_fd = -1 };
	bool ok = net_connect(&n, "127.0.0.1", port, AF_INET, -1, net_deadline(PROBE_MS), NULL);
	if (ok)
		net_close(&n);
	return ok;
}

static bool is_relay(uint16_t live)
{
	struct live_url url = { .host = (char *)"127.0.0.1", .port = live, .family = AF_INET };
	GPtrArray *sessions = live_list_sessions(&url, PROBE_MS, NULL);
	if (sessions)
		g_ptr_array_unref(sessions);
	return sessions != NULL;
}

/* Notes the sockets that listen on all its ports, if they are this user's. */
static enum listeners_owner look_who_listens(const struct relay_place *place, char **ret_sockets, uint32_t *ret_uid,
					     GError **error)
{
	const uint16_t ports[] = { place->control, place->data, place->live };
	return listeners_owner(ports, G_N_ELEMENTS(ports), ret_sockets, ret_uid, error);
}

static char *user_text(uint32_t uid)
{
	const struct passwd *pw = getpwuid(uid);
	g_autofree char *name = pw ? text_visible(pw->pw_name) : NULL;
	return name ? g_strdup_printf("%s (user id %u)", name, uid) : g_strdup_printf("user id %u", uid);
}

void relay_place_clear(struct relay_place *place)
{
	g_free(place->dir);
	g_free(place->sockets);
	*place = (struct relay_place){ 0 };
}

bool daemons_find_relay(struct relay_place *ret, char **ret_why)
{
	g_autoptr(GError) error = NULL;
	uint32_t uid = 0;

	*ret_why = NULL;
	*ret = (struct relay_place){ .control = USUAL_CONTROL, .data = USUAL_CONTROL + 1, .live = LIVE_DEFAULT_PORT };
	switch (look_who_listens(ret, &ret->sockets, &uid, &error)) {
	case LISTENERS_OURS:
		if (accepts(ret->control) && accepts(ret->data) && is_relay(ret->live))
			return true;
		break;
	case LISTENERS_FOREIGN: {
		g_autofree char *other = user_text(uid), *user = user_text(geteuid());
		*ret_why = g_strdup_printf("ports %u to %u belong to %s, not to %s, and are not used", USUAL_CONTROL,
					   LIVE_DEFAULT_PORT, other, user);
		break;
	}
	case LISTENERS_UNKNOWN:
		*ret_why = g_strdup(error->message);
		break;
	case LISTENERS_NONE:
		break;
	}
	relay_place_clear(ret);
	return false;
}

bool daemons_check_relay(const struct relay_place *place, GError **error)
{
	g_autofree char *sockets = NULL;
	uint32_t uid = 0;

	if (look_who_listens(place, &sockets, &uid, error) == LISTENERS_UNKNOWN)
		return false;
	return g_strcmp0(sockets, place->sockets) == 0 ||
		fail(error, CONNECT,
		     "another process took the ports of the relay daemon (127.0.0.1: %u, %u, %u) while the "
		     "session was made: the session is destroyed; run blktop again", place->control, place->data,
		     place->live);
}

/* Finds three free ports. Another process may take one before the daemon does. */
static bool choose_ports(struct relay_place *ret, GError **error)
{
	uint16_t *ports[] = { &ret->control, &ret->data, &ret->live };
	int fds[G_N_ELEMENTS(ports)];
	bool ok = true;
	for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
		fds[i] = ok ? net_listen_local(ports[i], error) : -1;
		ok = fds[i] >= 0;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(ports); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ok;
}

/* Another process may have taken a port: then the daemon ends. */
static bool relay_ready(void *data)
{
	struct relay_place *place = data;
	uint32_t uid = 0;

	g_clear_pointer(&place->sockets, g_free);
	return look_who_listens(place, &place->sockets, &uid, NULL) == LISTENERS_OURS && accepts(place->control) &&
	       is_relay(place->live);
}

static bool try_relay(struct relay_place *place, char *program, bool stays,
		      const struct control_watch *watch, GError **error)
{
	if (!choose_ports(place, error))
		return false;
	g_autofree char *control = g_strdup_printf("--control-port=tcp://127.0.0.1:%u", place->control);
	g_autofree char *data = g_strdup_printf("--data-port=tcp://127.0.0.1:%u", place->data);
	g_autofree char *live = g_strdup_printf("--live-port=tcp://127.0.0.1:%u", place->live);
	g_autofree char *output = g_strdup_printf("--output=%s", place->dir);
	char *argv[] = { program, control, data, live, output, NULL };

	place->pid = spawn(argv, stays, error);
	if (!place->pid)
		return false;
	const struct starting s = {
		place->pid, "starting lttng-relayd", RELAY_START_MS, watch, relay_ready, place,
	};
	if (wait_ready(&s))
		return true;
	place->pid = 0;
	return fail(error, CONNECT, "lttng-relayd does not start on 127.0.0.1:%u; try by hand: %s %s %s %s %s",
		    place->control, program, control, data, live, output);
}

bool daemons_start_relay(struct relay_place *ret, const char *state, const char *name, bool stays,
			 const struct control_watch *watch, GError **error)
{
	*ret = (struct relay_place){ 0 };
	g_autofree char *program = find_program("lttng-relayd", error);
	if (!program || !(ret->dir = daemons_make_dir(state, name, error)))
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (error)
			g_clear_error(error);
		if (try_relay(ret, program, stays, watch, error))
			return true;
	}
	daemons_remove(ret->dir);
	relay_place_clear(ret);
	return false;
}

/* --- the session daemon --- */

static bool session_ready(void *data)
{
	(void)data;
	return control_alive();
}

pid_t daemons_start_session(bool stays, const struct control_watch *watch, GError **error)
{
	g_autofree char *program = find_program("lttng-sessiond", error);
	char *argv[] = { program, NULL };
	pid_t pid = program ? spawn(argv, stays, error) : 0;

	const struct starting s = {
		pid, "starting lttng-sessiond", SESSION_START_MS, watch, session_ready, NULL,
	};

	if (!pid || wait_ready(&s))
		return pid;
	fail(error, CONNECT, "lttng-sessiond does not start; try by hand: %s --verbose", program);
	return 0;
}

/* --- stopping --- */

#define LOCK_WAIT_US (10 * G_USEC_PER_SEC)

int daemons_lock(void)
{
	const char *home = g_getenv("LTTNG_HOME");
	g_autofree char *dir = geteuid() == 0 ? g_strdup("/var/run/lttng") :
		g_build_filename(home ? home : g_get_home_dir(), ".lttng", NULL);
	gint64 until = g_get_monotonic_time() + LOCK_WAIT_US;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK || g_get_monotonic_time() > until) {
			close(fd);
			return -1;
		}
		g_usleep(10000);
	}
	return fd;
}

void daemons_unlock(int lock)
{
	if (lock < 0)
		return;
	flock(lock, LOCK_UN);		/* a program that is held has a copy */
	close(lock);
}

void daemons_end(pid_t pid, int patience_ms)
{
	if (pid <= 0 || kill(pid, SIGTERM) < 0)
		return;
	gint64 until = g_get_monotonic_time() + patience_ms * 1000;
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (g_get_monotonic_time() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return;
		}
		g_usleep(POLL_US);
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

void daemons_remove(const char *dir)
{
	if (dir)
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

char *daemons_make_dir(const char *state, const char *name, GError **error)
{
	g_autofree char *dir = g_build_filename(state, name, NULL);

	if (files_make_private(state, NULL, NULL) && mkdir(dir, 0700) == 0)
		return g_steal_pointer(&dir);
	g_autofree char *pattern = g_strdup_printf("blktop-%s-XXXXXX", name);
	return g_dir_make_tmp(pattern, error);
}
