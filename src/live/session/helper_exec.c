/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the program of --exec-on-alert: without a shell, one at a time. */
#include "live/session/helper_private.h"

#include "base/limits.h"
#include "base/open_files.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "BLKTOP_ALERT"

G_NORETURN static void become_program(char **argv, char **env)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int signo = 1; signo < 32; signo++)
		signal(signo, SIG_DFL);
	open_files_restore();
	setpgid(0, 0);
	execvpe(argv[0], argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

void exec_run(struct helper_state *w, const char *reason)
{
	char **argv = w->o->exec;
	if (!argv)
		return;
	exec_reap(w);
	if (w->exec.pid) {
		w->exec.n_left_out++;
		return;
	}
	/* Names in it are those of a trace. The lines stay lines. */
	g_auto(GStrv) lines = g_strsplit(reason, "\n", -1);
	for (char **line = lines; *line; line++) {
		char *visible = text_visible(*line);
		g_free(*line);
		*line = visible;
	}
	g_autofree char *text = g_strjoinv("\n", lines);
	g_auto(GStrv) env = g_environ_setenv(g_get_environ(), VARIABLE, text, true);
	pid_t pid = fork();
	if (pid == 0)
		become_program(argv, env);
	if (pid < 0)
		helper_send(w, HELPER_MSG_WARNING, "cannot run %s: %s", argv[0], g_strerror(errno));
	w->exec.pid = MAX(pid, 0);
}

void exec_reap(struct helper_state *w)
{
	int status;
	if (!w->exec.pid || waitpid(w->exec.pid, &status, WNOHANG) != w->exec.pid)
		return;
	w->exec.pid = 0;
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	g_autofree char *name = text_visible(w->o->exec[0]);
	if (code)
		helper_send(w, HELPER_MSG_WARNING, "%s ended with exit status %d", name, code);
	if (w->exec.n_left_out)
		helper_send(w, HELPER_MSG_WARNING, "%u alerts came while %s ran: it was not run for them",
			    w->exec.n_left_out, name);
	w->exec.n_left_out = 0;
}

void exec_end(struct helper_state *w)
{
	gint64 until = g_get_monotonic_time() + LIMIT_PROGRAM_END_SECONDS * G_USEC_PER_SEC;
	for (exec_reap(w); w->exec.pid && g_get_monotonic_time() < until; exec_reap(w))
		g_usleep(10000);
	if (w->exec.pid)
		kill(-w->exec.pid, SIGTERM);
	w->exec.pid = 0;
}
