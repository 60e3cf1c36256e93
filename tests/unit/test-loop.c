/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen on a real (pseudo) terminal: it takes the terminal, answers keys, and
 * gives the terminal back whatever happens. With arguments it is the screen itself,
 * on the story that the tests are told; to look at, and for tests/tui:
 *
 *     test-loop --screen [live] [ascii] [coach] [mono] [pick] [slow]
 */
#include "export/export.h"
#include "lib/fake_timeline.h"
#include "ui/ui.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

/* The screen itself. */

struct screen_args {
	struct ui_options options;
	bool slow;
	int fd[2];		/* slow: always readable, as a trace that loads */
};

static int backend_fd(void *data)
{
	return ((struct screen_args *)data)->fd[0];
}

static bool backend_pump(void *data)
{
	return true;
}

static void backend_status(void *data, struct ui_status *ret)
{
	struct screen_args *a = data;

	*ret = (struct ui_status){
		.phase = a->slow ? UI_LOADING : a->options.live ? UI_LIVE : UI_DONE,
		.progress = 0.43, .n_events = 131000, .events_per_s = 1200000,
		.lag_ns = 600 * FAKE_MS,
	};
	g_strlcpy(ret->source, a->options.live ? "relay1/web1 prod kernel+ust" : "demo kernel+ust",
		  sizeof ret->source);
}

static void backend_cancel(void *data)
{
	((struct screen_args *)data)->slow = false;
}

static bool backend_export(void *data, const struct ui_export *what, char **ret_message)
{
	*ret_message = g_strdup_printf("exports %016" G_GINT64_MODIFIER "x", what->trace_id);
	return true;
}

static enum ui_saved backend_save(void *data, const struct ui_save *what, char **ret_message)
{
	*ret_message = g_strdup_printf("saves %s", what->view->id);
	return UI_SAVED;
}

static enum ui_saved backend_save_text(void *data, const struct ui_save_text *what, char **ret_message)
{
	*ret_message = g_strdup_printf("saves %zu bytes", strlen(what->text));
	return UI_SAVED;
}

static bool backend_save_trace(void *data, const struct ui_save_trace *what, char **ret_message)
{
	*ret_message = g_strdup_printf("saves a trace to %s", what->path);
	return true;
}

static bool backend_save_prefs(void *data, char **ret_message)
{
	*ret_message = g_strdup("keeps the settings");
	return true;
}

static int pick(const struct ui_options *options)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	struct ui_pick p = { .title = "Sessions: Enter attaches", .lines = lines, .n_choices = 2, .fd = -1 };

	g_ptr_array_add(lines, (char *)"web1  prod  kernel+ust  12 streams");
	g_ptr_array_add(lines, (char *)"web2  prod  ust          2 streams");
	return 10 + ui_pick(options, &p);
}

static int screen_main(int argc, char **argv)
{
	struct screen_args a = { .options = { .at_ns = TIME_UNKNOWN }, .fd = { -1, -1 } };
	const struct ui_backend backend = {
		.data = &a, .fd = backend_fd, .pump = backend_pump, .status = backend_status,
		.cancel = backend_cancel, .export_span = backend_export, .export_formats = span_format_ids,
		.save_view = backend_save, .save_text = backend_save_text,
		.save_trace = backend_save_trace, .save_prefs = backend_save_prefs,
	};
	struct timeline *tl;
	bool picks = false;
	int result;

	setlocale(LC_CTYPE, "");
	for (int i = 2; i < argc; i++) {
		a.options.live = a.options.live || !strcmp(argv[i], "live");
		a.options.ascii = a.options.ascii || !strcmp(argv[i], "ascii");
		a.options.coach = a.options.coach || !strcmp(argv[i], "coach");
		if (!strcmp(argv[i], "mono"))
			a.options.color = UI_COLOR_NEVER;
		a.slow = a.slow || !strcmp(argv[i], "slow");
		picks = picks || !strcmp(argv[i], "pick");
	}
	if (a.slow && (pipe(a.fd) < 0 || write(a.fd[1], "x", 1) < 0))
		return 99;
	if (picks)
		return pick(&a.options);
	tl = fake_timeline();
	result = ui_run(&a.options, &backend, tl);
	timeline_free(tl);
	return result;
}

/* A terminal around it. */

struct pty {
	int master;
	pid_t child;
	GString *out;		/* all it wrote so far */
	struct termios before;
};

static char self[4096];

static void pty_read(struct pty *p, int timeout_ms)
{
	struct pollfd fd = { p->master, POLLIN, 0 };
	char buf[4096];
	ssize_t n;

	if (poll(&fd, 1, timeout_ms) > 0 && (n = read(p->master, buf, sizeof buf)) > 0)
		g_string_append_len(p->out, buf, n);
}

static bool pty_holds(const struct pty *p, const char *text)
{
	return g_strstr_len(p->out->str, (gssize)p->out->len, text) != NULL;
}

static void pty_wait_for(struct pty *p, const char *text)
{
	gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;

	while (!pty_holds(p, text) && g_get_monotonic_time() < until)
		pty_read(p, 100);
	if (!pty_holds(p, text))
		g_test_message("no '%s' in: %s", text, p->out->str);
	g_assert_true(pty_holds(p, text));
}

static void pty_send(struct pty *p, const char *keys)
{
	g_string_truncate(p->out, 0);
	g_assert_cmpint(write(p->master, keys, strlen(keys)), ==, (ssize_t)strlen(keys));
}

static struct pty pty_start(const char *const *args, const char *term, unsigned rows)
{
	struct pty p = { .out = g_string_new(NULL) };
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = 80 };
	const char *argv[10] = { self, "--screen" };
	int slave;

	for (int i = 0; args && args[i] && i < 7; i++)
		argv[2 + i] = args[i];
	g_assert_cmpint(openpty(&p.master, &slave, NULL, NULL, &size), ==, 0);
	fcntl(p.master, F_SETFD, FD_CLOEXEC);
	g_assert_cmpint(tcgetattr(p.master, &p.before), ==, 0);
	p.child = fork();
	if (p.child == 0) {
		setenv("TERM", term, 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		login_tty(slave);
		execv(self, (char **)argv);
		_exit(98);
	}
	/* The slave stays open: its modes are looked at after the end. */
	fcntl(slave, F_SETFD, FD_CLOEXEC);
	return p;
}

/* The wait status, once all it wrote was read. */
static int pty_end(struct pty *p)
{
	gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
	int status = -1;

	while (waitpid(p->child, &status, WNOHANG) == 0) {
		g_assert_cmpint(g_get_monotonic_time(), <, until);
		pty_read(p, 20);
	}
	pty_read(p, 0);
	return status;
}

static void pty_check_given_back(struct pty *p)
{
	struct termios after;

	g_assert_true(pty_holds(p, "\033[?1049l"));
	g_assert_cmpint(tcgetattr(p->master, &after), ==, 0);
	g_assert_cmpuint(after.c_lflag, ==, p->before.c_lflag);
	g_assert_cmpuint(after.c_iflag, ==, p->before.c_iflag);
	g_assert_cmpuint(after.c_oflag, ==, p->before.c_oflag);
	close(p->master);
	g_string_free(p->out, TRUE);
}

static struct pty started(const char *const *args)
{
	struct pty p = pty_start(args, "xterm-256color", 24);

	pty_wait_for(&p, "Overview");
	pty_wait_for(&p, ":why");
	return p;
}

static void test_quit(void)
{
	static const char *const keys[] = { "q", "Q", "\033[21~" };

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		struct pty p = started(NULL);
		int status;

		g_string_truncate(p.out, 0);
		pty_send(&p, keys[i]);
		status = pty_end(&p);
		g_assert_true(WIFEXITED(status));
		g_assert_cmpint(WEXITSTATUS(status), ==, 0);
		pty_check_given_back(&p);
	}
}

static void test_signals(void)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT };

	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		struct pty p = started(NULL);
		int status;

		kill(p.child, signals[i]);
		status = pty_end(&p);
		g_assert_true(WIFEXITED(status));
		g_assert_cmpint(WEXITSTATUS(status), ==, 128 + signals[i]);
		pty_check_given_back(&p);
	}
}

static void test_ctrl_c(void)
{
	struct pty p = started(NULL);
	int status;

	pty_send(&p, "\003");
	status = pty_end(&p);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 128 + SIGINT);
	pty_check_given_back(&p);
}

static void test_crash(void)
{
	static const int signals[] = { SIGSEGV, SIGABRT, SIGBUS };

	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		struct pty p = started(NULL);
		int status;

		kill(p.child, signals[i]);
		status = pty_end(&p);
		/* A sanitizer's own handler exits; without one the signal is kept. */
		if (WIFSIGNALED(status))
			g_assert_cmpint(WTERMSIG(status), ==, signals[i]);
		else
			g_assert_cmpint(WEXITSTATUS(status), !=, 0);
		g_assert_true(pty_holds(&p, "crashed by signal"));
		pty_check_given_back(&p);
	}
}

static void test_terminal_gone(void)
{
	struct pty p = started(NULL);
	gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
	int status = 0;

	close(p.master);
	while (waitpid(p.child, &status, WNOHANG) == 0 && g_get_monotonic_time() < until)
		g_usleep(1000);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 128 + SIGHUP);
	g_string_free(p.out, TRUE);
}

static void test_resize(void)
{
	struct pty p = started(NULL);
	struct winsize small = { .ws_row = 10, .ws_col = 50 }, large = { .ws_row = 30, .ws_col = 100 };

	g_string_truncate(p.out, 0);
	g_assert_cmpint(ioctl(p.master, TIOCSWINSZ, &small), ==, 0);
	kill(p.child, SIGWINCH);
	pty_wait_for(&p, "too small, need 60x15");
	g_string_truncate(p.out, 0);
	g_assert_cmpint(ioctl(p.master, TIOCSWINSZ, &large), ==, 0);
	kill(p.child, SIGWINCH);
	pty_wait_for(&p, "Overview");
	pty_send(&p, "q");
	g_assert_cmpint(pty_end(&p), ==, 0);
	pty_check_given_back(&p);
}

static void test_suspend(void)
{
	struct pty p = started(NULL);
	gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
	struct termios now;
	int status = 0;

	/* The child leads a session of its own: nobody else would be stopped. */
	kill(p.child, SIGTSTP);
	while (waitpid(p.child, &status, WNOHANG | WUNTRACED) == 0 &&
	       g_get_monotonic_time() < until && !pty_holds(&p, "\033[?1049l"))
		pty_read(&p, 20);
	g_assert_true(pty_holds(&p, "\033[?1049l"));
	g_assert_cmpint(tcgetattr(p.master, &now), ==, 0);
	g_string_truncate(p.out, 0);
	kill(p.child, SIGCONT);
	pty_wait_for(&p, "Overview");
	pty_send(&p, "q");
	g_assert_cmpint(pty_end(&p), ==, 0);
	pty_check_given_back(&p);
}

#ifdef __SANITIZE_ADDRESS__
#define AT_ONCE_US (G_USEC_PER_SEC)
#else
#define AT_ONCE_US (G_USEC_PER_SEC / 10)
#endif

static int compare_times(const void *a, const void *b)
{
	const gint64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A trace that loads without end: keys are answered at once all the same, mostly within 100 ms. */
static void test_busy(void)
{
	static const char *const args[] = { "slow", NULL };
	struct pty p = started(args);
	gint64 took[20];

	pty_wait_for(&p, "loading 43%");
	for (size_t i = 0; i < G_N_ELEMENTS(took); i++) {
		gint64 before = g_get_monotonic_time();

		/* Ctrl-L: the whole screen, not what changed. */
		pty_send(&p, "?\f");
		pty_wait_for(&p, "Help:");
		took[i] = g_get_monotonic_time() - before;
		g_assert_cmpint(took[i], <, 2 * G_USEC_PER_SEC);
		pty_send(&p, "q\f");
		pty_wait_for(&p, "thumbnail");
	}
	qsort(took, G_N_ELEMENTS(took), sizeof *took, compare_times);
	g_test_message("median %.1f ms", (double)took[G_N_ELEMENTS(took) / 2] / 1000);
	g_assert_cmpint(took[G_N_ELEMENTS(took) / 2], <, AT_ONCE_US);
	pty_send(&p, "\033");
	pty_wait_for(&p, "loading stopped");
	pty_send(&p, "q");
	g_assert_cmpint(pty_end(&p), ==, 0);
	pty_check_given_back(&p);
}

static void test_unknown_term(void)
{
	struct pty p = pty_start(NULL, "no-such-terminal", 24);

	pty_wait_for(&p, "TERM=no-such-terminal is unknown here");
	pty_send(&p, "q");
	g_assert_cmpint(pty_end(&p), ==, 0);
	pty_check_given_back(&p);
}

static void test_copy(void)
{
	struct pty p = started(NULL);

	pty_send(&p, "y");
	pty_wait_for(&p, "\033]52;c;");
	pty_send(&p, "q");
	g_assert_cmpint(pty_end(&p), ==, 0);
	pty_check_given_back(&p);
}

static void test_pick(void)
{
	static const char *const args[] = { "pick", NULL };
	static const struct { const char *keys; int exit; } cases[] = {
		{ "\r", 10 }, { "j\r", 11 }, { "jjj\r", 11 }, { "jk\r", 10 }, { "q", 9 }, { "\033", 9 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct pty p = pty_start(args, "xterm-256color", 24);
		int status;

		pty_wait_for(&p, "web2  prod");
		pty_send(&p, cases[i].keys);
		status = pty_end(&p);
		g_assert_true(WIFEXITED(status));
		g_assert_cmpint(WEXITSTATUS(status), ==, cases[i].exit);
		pty_check_given_back(&p);
	}
}

/* Without a terminal: a message, no hang. */
static void test_no_terminal(void)
{
	const char *argv[] = { self, "--screen", NULL };
	g_autofree char *err = NULL;
	g_autoptr(GError) error = NULL;
	int status;

	g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
				   NULL, NULL, &err, &status, &error));
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 1);
	g_assert_nonnull(strstr(err, "is not a terminal"));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--screen"))
		return screen_main(argc, argv);
	g_assert_cmpint(readlink("/proc/self/exe", self, sizeof self - 1), >, 0);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/loop/quit", test_quit);
	g_test_add_func("/loop/signals", test_signals);
	g_test_add_func("/loop/ctrl-c", test_ctrl_c);
	g_test_add_func("/loop/crash", test_crash);
	g_test_add_func("/loop/terminal-gone", test_terminal_gone);
	g_test_add_func("/loop/resize", test_resize);
	g_test_add_func("/loop/suspend", test_suspend);
	g_test_add_func("/loop/busy", test_busy);
	g_test_add_func("/loop/unknown-term", test_unknown_term);
	g_test_add_func("/loop/copy", test_copy);
	g_test_add_func("/loop/pick", test_pick);
	g_test_add_func("/loop/no-terminal", test_no_terminal);
	return g_test_run();
}
