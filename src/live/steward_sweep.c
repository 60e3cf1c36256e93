/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of runs that were killed together with their stewards. A relay daemon that was kept by
 * --keep outlives its run: it goes on as long as its session does.
 */
#include "live/steward_work.h"

#include "live/control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define LOOK_US 20000

bool sweep_is_gone(int pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

/* Of "relay-blktop-PID", the session's name, if that run is over; else NULL. */
static const char *session_of(const char *entry, const char *prefix)
{
	const char *session = g_str_has_prefix(entry, prefix) ? entry + strlen(prefix) : NULL;
	int pid = session ? steward_pid_of(session) : 0;
	return pid && sweep_is_gone(pid) ? session : NULL;
}

static bool is_listed(const GPtrArray *sessions, const char *name)
{
	for (guint i = 0; i < sessions->len; i++)
		if (g_str_equal(((const struct control_session *)sessions->pdata[i])->name, name))
			return true;
	return false;
}

static bool has_argument(int pid, const char *argument)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", pid), *text = NULL;
	gsize n = 0;
	if (!g_file_get_contents(path, &text, &n, NULL))
		return false;
	for (const char *at = text; at < text + n; at += strlen(at) + 1)
		if (g_str_equal(at, argument))
			return true;
	return false;
}

/* The relay daemon that writes to `dir`, a directory that nobody but us gives to one. */
static int relay_of(const char *dir)
{
	g_autofree char *argument = g_strdup_printf("--output=%s", dir);
	GDir *proc = g_dir_open("/proc", 0, NULL);
	const char *name;
	int found = 0;

	while (proc && !found && (name = g_dir_read_name(proc)))
		if (g_ascii_isdigit(*name) && has_argument(atoi(name), argument))
			found = atoi(name);
	if (proc)
		g_dir_close(proc);
	return found;
}

/* It is no child of ours. */
static bool end_relay(const char *dir)
{
	gint64 until = g_get_monotonic_time() + PATIENCE_MS * 1000;
	for (int pid; (pid = relay_of(dir)); g_usleep(LOOK_US)) {
		if (kill(pid, SIGTERM) < 0 || g_get_monotonic_time() > until)
			return false;
	}
	return true;
}

static bool remove_relay(const char *dir)
{
	struct stat st;
	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || !end_relay(dir))
		return false;
	daemons_remove(dir);
	return lstat(dir, &st) < 0;
}

void sweep_files(const char *state, GString *said)
{
	g_autoptr(GPtrArray) sessions = control_sessions();
	GDir *d = g_dir_open(state, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *path = g_build_filename(state, name, NULL);
		const char *relay = session_of(name, "relay-");
		if (relay && is_listed(sessions, relay))
			continue;
		if (relay ? remove_relay(path) : session_of(name, "snapshots-") && rmdir(path) == 0)
			g_string_append_printf(said, "removed %s\n", path);
		else if (relay)
			g_string_append_printf(said, "cannot remove %s\n", path);
	}
	if (d)
		g_dir_close(d);
}
