/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Removes what remains of runs that were killed together with their session helpers: files, relay daemons, and
 * followed programs. A relay daemon that --keep retained stays as long as its session exists.
 */
#include "live/session/helper_private.h"

#include "live/session/control.h"
#include "live/session/proc.h"

#include "base/disk.h"
#include "base/each.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define LOOK_US 20000

/* The session's name in "relay-blktop-PID" (a pointer into `entry`), if that run has ended; else NULL. */
static const char *session_of(const char *entry, const char *prefix)
{
	const char *session = g_str_has_prefix(entry, prefix) ? entry + strlen(prefix) : NULL;
	int pid = session ? session_helper_pid_of(session) : 0;
	return pid && proc_has_ended(pid) ? session : NULL;
}

static bool is_listed(const GPtrArray *sessions, const char *name)
{
	for (guint i = 0; i < sessions->len; i++)
		if (g_str_equal(((const struct control_session *)sessions->pdata[i])->name, name))
			return true;
	return false;
}

struct relay_search { const char *argument; int found; };

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

static void look_for_relay(int pid, void *data)
{
	struct relay_search *search = data;

	if (!search->found && has_argument(pid, search->argument))
		search->found = pid;
}

/* The pid of the relay daemon that writes to `dir`; 0: none. Only blktop starts one for such a directory. */
static int relay_of(const char *dir)
{
	g_autofree char *argument = g_strdup_printf("--output=%s", dir);
	struct relay_search search = { .argument = argument };

	proc_each(look_for_relay, &search);
	return search.found;
}

/* Ends the relay daemon of `dir`, which is no child of this process: polls for its end. */
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

void sweep_files(const char *state, GString *report)
{
	g_autoptr(GPtrArray) sessions = control_sessions();
	g_autoptr(GPtrArray) names = files_list(state, SIZE_MAX);

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		g_autofree char *path = g_build_filename(state, name, NULL);
		const char *relay = session_of(name, "relay-");
		if (relay && is_listed(sessions, relay))
			continue;
		if (relay ? remove_relay(path) : session_of(name, "snapshots-") && rmdir(path) == 0)
			g_string_append_printf(report, "removed %s\n", path);
		else if (relay)
			g_string_append_printf(report, "cannot remove %s\n", path);
	}
}

/* --- followed programs --- */

#define NOTE_PREFIX "program-blktop-"
#define NOTE_BYTES 64

/* The content of a note: the pid of the helper, which is the session id of the program's processes, and their process
 * group. The kernel reuses neither number while one of these processes lives. */
struct note { int helper, group; };

char *sweep_note_program(const char *state, int client, int group)
{
	g_autofree char *name = g_strdup_printf(NOTE_PREFIX "%d", client);
	g_autofree char *path = g_build_filename(state, name, NULL);
	g_autofree char *text = g_strdup_printf("%d %d\n", (int)getpid(), group);
	int fd = files_make_private(state, NULL, NULL) ? files_create(path) : -1;
	bool written = fd >= 0 && disk_write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !written)
		unlink(path);
	return written ? g_steal_pointer(&path) : NULL;
}

/* Reads a note; refuses a file of another user, as its content decides what is killed. */
static bool read_note(const char *path, struct note *ret)
{
	char text[NOTE_BYTES + 1];
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
	ssize_t n = ours ? read(fd, text, NOTE_BYTES) : -1;
	close(fd);
	text[MAX(n, 0)] = '\0';
	return sscanf(text, "%d %d", &ret->helper, &ret->group) == 2 && ret->helper > 1 && ret->group > 1;
}

static void program_free(void *program)
{
	struct sweep_program *p = program;
	g_free(p->name);
	g_free(p);
}

struct member_search { const struct note *note; GPtrArray *programs; };

static bool is_ours(int pid)
{
	g_autofree char *dir = g_strdup_printf("/proc/%d", pid);
	struct stat st;
	return stat(dir, &st) == 0 && st.st_uid == geteuid();
}

static void add_member(int pid, void *data)
{
	struct member_search *search = data;
	struct proc_stat st;

	if (!proc_read_stat(pid, &st) || st.state == 'Z' || st.group != search->note->group ||
	    st.session != search->note->helper || !is_ours(pid))
		return;
	struct sweep_program *p = g_new0(struct sweep_program, 1);
	p->pid = pid;
	p->name = text_visible(st.name);
	g_ptr_array_add(search->programs, p);
}

/* Appends this user's processes in the program's group. */
static void add_members(const struct note *note, GPtrArray *programs)
{
	struct member_search search = { note, programs };

	proc_each(add_member, &search);
}

/* Calls `each` for each note whose blktop and helper have ended. */
static void each_note(const char *state, void (*each)(const char *path, const struct note *note, void *data),
		      void *data)
{
	g_autoptr(GPtrArray) names = files_list(state, SIZE_MAX);
	struct note note;

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		g_autofree char *path = g_build_filename(state, name, NULL);
		int client = g_str_has_prefix(name, NOTE_PREFIX) ? atoi(name + strlen(NOTE_PREFIX)) : 0;
		if (client > 1 && proc_has_ended(client) && read_note(path, &note) && proc_has_ended(note.helper))
			each(path, &note, data);
	}
}

static void list_programs(const char *path, const struct note *note, void *programs)
{
	(void)path;
	add_members(note, programs);
}

GPtrArray *sweep_programs(const char *state)
{
	GPtrArray *programs = g_ptr_array_new_with_free_func(program_free);

	each_note(state, list_programs, programs);
	return programs;
}

static void signal_all(const GPtrArray *programs, int signo)
{
	for (guint i = 0; i < programs->len; i++)
		kill(((const struct sweep_program *)programs->pdata[i])->pid, signo);
}

/* Ends the processes like the helper does: SIGTERM, then SIGKILL after some time. */
static void end_programs(const char *path, const struct note *note, void *report)
{
	g_autoptr(GPtrArray) programs = g_ptr_array_new_with_free_func(program_free);
	g_autoptr(GPtrArray) left = g_ptr_array_new_with_free_func(program_free);
	gint64 begin = g_get_monotonic_time();

	add_members(note, programs);
	signal_all(programs, SIGTERM);
	signal_all(programs, SIGCONT);
	for (add_members(note, left); left->len; add_members(note, left)) {
		if (g_get_monotonic_time() - begin > LIMIT_PROGRAM_END_SECONDS * G_USEC_PER_SEC)
			signal_all(left, SIGKILL);
		if (g_get_monotonic_time() - begin > 2 * LIMIT_PROGRAM_END_SECONDS * G_USEC_PER_SEC)
			break;
		g_usleep(LOOK_US);
		g_ptr_array_set_size(left, 0);
	}
	PTR_EACH(const struct sweep_program, p, programs)
		g_string_append_printf(report, "%s %s (process %d)\n", left->len ? "cannot end" : "ended", p->name,
				       p->pid);
	if (!left->len)
		unlink(path);
}

void sweep_end_programs(const char *state, GString *report)
{
	each_note(state, end_programs, report);
}
