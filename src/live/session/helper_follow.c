/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the followed program, and tracks the children of the followed processes. LTTng's trackers hold process ids and
 * do not follow forks, so /proc is searched for new children ten times a second. A child that lives shorter than that
 * is missed.
 */
#include "live/session/helper_private.h"

#include "live/session/control.h"
#include "live/session/proc.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/open_files.h"
#include "base/text.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- children --- */

static void add_parent(int pid, void *parents)
{
	struct proc_stat st;

	if (proc_read_stat(pid, &st))
		g_hash_table_insert(parents, GINT_TO_POINTER(pid), GINT_TO_POINTER(st.parent));
}

static bool is_below(GHashTable *parents, int pid, int root)
{
	for (int depth = 0; depth <= LIMIT_FOLLOWED_DEPTH && pid > 1; depth++) {
		if (pid == root)
			return true;
		pid = GPOINTER_TO_INT(g_hash_table_lookup(parents, GINT_TO_POINTER(pid)));
	}
	return false;
}

GArray *follow_descendants(int root)
{
	g_autoptr(GHashTable) parents = g_hash_table_new(NULL, NULL);
	GArray *all = g_array_new(FALSE, FALSE, sizeof(int));

	proc_each(add_parent, parents);
	TABLE_EACH(each, parents) {
		int pid = GPOINTER_TO_INT(each.key);
		if (is_below(parents, pid, root))
			g_array_append_val(all, pid);
	}
	return all;
}

static bool track_one(struct helper_state *w, int pid, GError **error)
{
	if (g_hash_table_contains(w->follow.pids, GINT_TO_POINTER(pid)) ||
	    g_hash_table_size(w->follow.pids) >= LIMIT_FOLLOWED_PROCESSES)
		return true;
	g_hash_table_add(w->follow.pids, GINT_TO_POINTER(pid));
	bool kernel_too = w->o->calls_only || w->o->program_only;
	return (!w->made || control_track(w->plan, kernel_too, pid, error)) &&
	       (!w->made_snapshot || control_track(w->snapshot_plan, kernel_too, pid, error));
}

bool follow_track(struct helper_state *w, GError **error)
{
	int root = w->o->program ? w->follow.program : w->o->pid;
	if (root <= 0)
		return true;
	bool first = w->follow.pids == NULL;
	if (first) {
		w->follow.pids = g_hash_table_new(NULL, NULL);
		if (!track_one(w, root, error))
			return false;
	}
	g_autoptr(GArray) pids = follow_descendants(root);
	if (first && pids->len == 0)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
			    "there is no process %d", root);
	if (pids->len == 0 && w->o->pid && !w->follow.end_reported) {
		w->follow.end_reported = true;
		helper_send(w, HELPER_MSG_WARNING, "process %d has ended", root);
	}
	for (guint i = 0; i < pids->len; i++)
		if (!track_one(w, g_array_index(pids, int, i), error))
			return false;
	return true;
}

/* --- the program --- */

/* Sets the program's standard files: its output must neither overwrite the screen nor mix with batch output. */
static void set_standard_files(struct helper_state *w, int output_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(isatty(w->std[0]) ? null : w->std[0], 0);
	for (int fd = 1; fd < 3; fd++) {
		int own = w->o->on_screen ? w->std[fd] : w->std[2];
		dup2(w->o->on_screen && isatty(own) ? output_fd : own, fd);
	}
}

/* How long (ms) LTTng-UST holds main() back until the session daemon has enabled the events (lttng-ust(3)). Its usual
 * 3 s are too short on a busy machine: then a short program ends before any event of it is recorded. */
#define REGISTER_WAIT "LTTNG_UST_REGISTER_TIMEOUT"

G_NORETURN static void become_program(struct helper_state *w, pid_t session_helper, int go_fd, int output_fd)
{
	char byte;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != session_helper)
		_exit(127);
	for (int signo = 1; signo < 32; signo++)
		signal(signo, SIG_DFL);
	open_files_restore();
	setpgid(0, 0);
	set_standard_files(w, output_fd);
	ssize_t n;
	do {
		n = read(go_fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);		/* the helper closed the pipe: do not run */
	setenv(REGISTER_WAIT, "30000", false);
	execvp(w->o->program[0], w->o->program);
	int code = errno == ENOENT ? 127 : 126;
	const char *why = g_strerror(errno);
	if (write(2, why, strlen(why)) < 0)
		code = 126;
	_exit(code);
}

/* Why it cannot be run; NULL: it can. */
static const char *program_trouble(const char *name)
{
	g_autofree char *found = g_find_program_in_path(name);

	if (found)
		return NULL;
	if (!strchr(name, '/'))
		return "no directory of PATH has such a program";
	if (access(name, F_OK) < 0)
		return g_strerror(errno);
	return g_file_test(name, G_FILE_TEST_IS_DIR) ? "it is a directory" : "it is not executable (chmod +x)";
}

bool follow_check(const struct helper_state *w, GError **error)
{
	const char *trouble = w->o->program ? program_trouble(w->o->program[0]) : NULL;

	if (trouble)
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND, "cannot run '%s': %s; after -- comes a "
			    "program, by its path or by a name in PATH", w->o->program[0], trouble);
	else if (w->o->pid && proc_has_ended(w->o->pid))
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION, "there is no process %d; ps -e lists them",
			    w->o->pid);
	else
		return true;
	return false;
}

bool follow_hold(struct helper_state *w, GError **error)
{
	int go[2], output_fd = -1;

	if (w->o->on_screen && (isatty(w->std[1]) || isatty(w->std[2])) &&
	    !(w->follow.output = program_output_new(&output_fd, error)))
		return false;
	if (pipe2(go, O_CLOEXEC) < 0)
		go[0] = go[1] = -1;
	pid_t session_helper = getpid(), pid = fork();
	if (pid == 0) {
		close(go[1]);
		become_program(w, session_helper, go[0], output_fd);
	}
	close(go[0]);
	if (output_fd >= 0)
		close(output_fd);
	if (pid < 0) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL, "cannot run '%s': %s",
			    w->o->program[0], g_strerror(errno));
		close(go[1]);
		return false;
	}
	setpgid(pid, pid);
	w->follow.program = pid;
	w->follow.note = sweep_note_program(w->o->state, w->client, pid);
	w->follow.go_fd = go[1];
	return true;
}

void follow_go(struct helper_state *w)
{
	if (w->follow.go_fd < 0)
		return;
	if (write(w->follow.go_fd, "g", 1) < 0)
		helper_send(w, HELPER_MSG_WARNING, "cannot start %s: %s", w->o->program[0],
				g_strerror(errno));
	close(w->follow.go_fd);
	w->follow.go_fd = -1;
}

static void forget_program(struct helper_state *w)
{
	w->follow.program = 0;
	if (w->follow.note)
		unlink(w->follow.note);
	g_clear_pointer(&w->follow.note, g_free);
}

static void report_exit(struct helper_state *w, int status)
{
	g_autofree char *name = text_visible(w->o->program[0]);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	helper_send(w, HELPER_MSG_EXITED, "%d", code);
	if (WIFEXITED(status))
		helper_send(w, code ? HELPER_MSG_WARNING : HELPER_MSG_MESSAGE,
				"%s ended with exit status %d", name, code);
	else
		helper_send(w, HELPER_MSG_WARNING, "%s was ended by signal %d (%s)", name,
				WTERMSIG(status), strsignal(WTERMSIG(status)));
}

bool follow_ended(struct helper_state *w)
{
	int status;
	if (!w->follow.program || waitpid(w->follow.program, &status, WNOHANG) != w->follow.program)
		return false;
	forget_program(w);
	report_exit(w, status);
	return true;
}

void follow_end(struct helper_state *w)
{
	pid_t pid = w->follow.program;
	int status = 0;

	if (!pid)
		return;
	if (w->follow.go_fd >= 0)
		close(w->follow.go_fd);	/* a held program exits then */
	w->follow.go_fd = -1;
	kill(-pid, SIGTERM);
	kill(-pid, SIGCONT);
	gint64 until = g_get_monotonic_time() + LIMIT_PROGRAM_END_SECONDS * G_USEC_PER_SEC;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (g_get_monotonic_time() > until)
			kill(-pid, SIGKILL);
		g_usleep(10000);
	}
	forget_program(w);
	helper_send(w, HELPER_MSG_MESSAGE, "ended %s", w->o->program[0]);
}
