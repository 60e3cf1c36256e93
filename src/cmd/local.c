/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of this machine: see local.h. */
#include "cmd/local.h"

#include "app/next_steps.h"
#include "app/messages.h"
#include "ui/term.h"

#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "live/session/helper.h"
#include "live/session/plan.h"
#include "live/tracefs/handover.h"
#include "live/spool/spool.h"
#include "state/publish/model.h"
#include "state/spans/presets.h"
#include "views/threshold.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Time limits of requests to the session helper. */
#define LOOK_MS 15000
#define BEGIN_MS 60000		/* for each step */
#define END_MS 20000
#define START_PATIENCE_US (5 * G_USEC_PER_SEC)	/* the program starts after this even if the reader is not attached */
#define KEY_ESC 27
#define KEY_CTRL_C 3
#define KEY_CTRL_D 4

struct local {
	const struct options *o;
	struct session_helper *session_helper;
	char *session, *state;
	char *url;			/* "": no live session was made */
	struct handover *kernel;	/* what is needed to read the kernel's own ring buffer; NULL: it is not used */
	char *no_kernel;		/* why the kernel is not traced; "": it is */
	char *snapshot;			/* session of the snapshots; "": none */
	unsigned domains;		/* that must be attached before the program starts */
	bool started;			/* the followed program was started, */
	int64_t started_ns;		/* at this time */
	gint64 begun_us;		/* monotonic: the session was made */
	bool ended;			/* the session helper was asked to end */
	bool exited;			/* the program ended by itself */
	int exit_code;
};

/* --- while it is read --- */

static void start_when_attached(struct local *l, struct input *in)
{
	struct live_status st;
	bool attached = input_live_status(in, &st) && st.connected && st.attached >= l->domains;
	if (!attached && g_get_monotonic_time() - l->begun_us < START_PATIENCE_US)
		return;
	l->started_ns = g_get_real_time() * NS_PER_US;
	session_helper_send(l->session_helper, HELPER_GO, NULL);
	l->started = true;
}

void local_tick(struct local *l, struct input *in)
{
	if (l && l->o->session.program && !l->started)
		start_when_attached(l, in);
}

void local_stop(struct local *l)
{
	session_helper_send(l->session_helper, HELPER_STOP, NULL);
}

const char *local_no_kernel(const struct local *l)
{
	return l->no_kernel;
}

int64_t local_program_ns(const struct local *l)
{
	if (!l || !l->o->session.program)
		return INT64_MIN;
	return l->started ? l->started_ns : INT64_MAX;
}

void local_alert(struct local *l, const struct threshold *t, const char *reason)
{
	if (l && t->takes_snapshot)
		session_helper_send(l->session_helper, HELPER_SNAPSHOT, reason);
	if (l && l->o->session.exec_on_alert)
		session_helper_send(l->session_helper, HELPER_EXEC, reason);
}

static char *helper_exited(const struct local *l)
{
	return *l->url ? g_strdup_printf("the session helper has ended and will not destroy the session; "
					 "do it by hand: lttng destroy %s", l->session) :
		g_strdup("the session helper has ended: no more snapshots");
}

char *local_next_message(struct local *l, bool *ret_error)
{
	char *text = NULL;
	*ret_error = false;
	while (l) {
		enum session_helper_answer answer = session_helper_take(l->session_helper, &text);
		*ret_error = answer == HELPER_WARNING || answer == HELPER_LOST;
		if (answer == HELPER_LOST)
			return l->ended ? NULL : helper_exited(l);
		if (answer != HELPER_EXITED)
			return text;
		l->exited = true;
		l->exit_code = atoi(text);
		g_clear_pointer(&text, g_free);
	}
	return NULL;
}

char *local_nothing(const struct local *l, bool ended)
{
	return next_steps_silent_here(l->o->session.program ? l->o->session.program[0] : NULL, l->no_kernel, ended);
}

bool local_snapshot(struct local *l, char **ret_message)
{
	if (!l || !*l->snapshot) {
		*ret_message = g_strdup(l && l->kernel ?
					"no snapshot session; the kernel's events are in no session: S saves what is "
					"stored of them and of programs" :
					"no snapshot session: start with --snapshot new, or --snapshot SESSION");
		return false;
	}
	session_helper_send(l->session_helper, HELPER_SNAPSHOT, "by hand");
	*ret_message = g_strdup_printf("taking a snapshot of %s%s", l->snapshot, l->kernel ?
				       ": programs only; S saves the kernel's events, too" : "");
	return true;
}

/* --- asking --- */

/* One key of the terminal, without Enter if possible; -1: end of input. */
static int read_key(void)
{
	struct termios before, raw;
	unsigned char key;
	bool modes = tcgetattr(STDIN_FILENO, &before) == 0;

	if (modes) {
		raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
		raw.c_cc[VMIN] = 1;
		raw.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	}
	ssize_t n = read(STDIN_FILENO, &key, 1);
	if (modes)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return n == 1 ? key : -1;
}

static void print_visible(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && (line[1] || **line); line++) {
		g_autofree char *visible = text_visible(*line);
		fprintf(stderr, "%s\n", visible);
	}
}

/* Destroys what killed runs left, and prints the result. */
static void sweep(struct local *l)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *reply = session_helper_ask(l->session_helper, HELPER_SWEEP, NULL, END_MS, &error);
	print_visible(reply ? reply : error->message);
}

/* Prints where received packets are stored: they stay when the session is destroyed. */
static void print_spool(const struct options *o)
{
	g_autofree char *dir = o->read.spool ? g_strdup(o->read.spool) : spool_default_dir();
	g_autoptr(GString) s = g_string_new(NULL);
	char size[TIMEFMT_LEN];

	if (!o->read.stores)
		return;
	g_autofree char *text = g_strdup_printf("received packets stay in %s, at most %s, as a trace that blktop "
						"opens; --no-spool stores none", dir,
						timefmt_bytes(size, o->read.spool_size));
	plan_line(s, "stored", text);
	print_visible(s->str);
}

/* Prints what will be traced and waits for Enter. false: the user cancelled. */
static bool agree(struct local *l, const char *text)
{
	bool left_over = strstr(text, "\n  left over ") != NULL;

	fprintf(stderr, "blktop makes a live session on this machine, and %s:\n",
		l->o->session.keep ? "leaves it there at the end (--keep)" : "destroys it at the end");
	print_visible(text);
	print_spool(l->o);
	for (;;) {
		fprintf(stderr, "Enter begin%s   Esc, q cancel\n",
			left_over ? "   d destroy what is left over" : "");
		int key = read_key();
		if (key == '\n' || key == '\r')
			return true;
		if (key == 'd' && left_over)
			sweep(l);
		else if (key < 0 || key == 'q' || key == KEY_ESC || key == KEY_CTRL_C ||
			 key == KEY_CTRL_D)
			return false;
	}
}

/* --- making --- */

static char *line_at(char **lines, guint i)
{
	return g_strdup(i < g_strv_length(lines) ? lines[i] : "");
}

static bool begin(struct local *l, GError **error)
{
	g_autofree char *all = session_helper_ask(l->session_helper, HELPER_BEGIN, NULL, BEGIN_MS, error);
	if (!all)
		return false;
	g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
	g_autofree char *domains = line_at(lines, 1);
	l->url = line_at(lines, 0);
	l->domains = (unsigned)atoi(domains);
	l->snapshot = line_at(lines, 2);
	l->no_kernel = line_at(lines, 3);
	l->kernel = session_helper_take_kernel(l->session_helper);
	l->begun_us = g_get_monotonic_time();
	log_note("made session %s: %s, snapshots of '%s'", l->session, l->url, l->snapshot);
	return true;
}

/* Programs' events that presets make spans of (g_strfreev()). */
static char **preset_events(void)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	for (size_t i = 0; i < presets_n(); i++) {
		const struct preset *p = presets_at(i);
		PTR_EACH(const char, event, preset_records(p))
			if (presets_is_on(i) && plan_tracepoint_check(event, NULL))
				g_ptr_array_add(all, g_strdup(event));
	}
	g_ptr_array_add(all, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&all), false);
}

static struct session_helper *start_helper(struct local *l, const struct options *o, GError **error)
{
	size_t n;
	const struct session_options *h = &o->session;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_auto(GStrv) presets = preset_events();
	struct session_helper_options options = {
		.session = l->session, .watch_only = !o->read.local, .timer_us = h->timer_us, .rows = rows,
		.n_rows = n, .calls_only = h->calls_only, .program_only = h->program_only,
		.kernel = h->spans_only ? PLAN_NO_TRACER : (enum plan_tracer)h->kernel,
		.kernel_buffer = h->kernel_buffer, .functions = h->functions, .keep = h->keep, .loglevel = h->loglevel,
		.counters = h->counters, .probes = h->probes,
		.programs = h->programs, .presets = presets, .pid = (int)h->pid, .program = h->program,
		.on_screen = o->command == COMMAND_SCREEN, .state = l->state, .log = o->log,
		.snapshot = h->snapshot, .exec = h->exec_on_alert,
	};
	return session_helper_new(&options, error);
}

static void local_clear(struct local *l)
{
	handover_free(l->kernel);
	session_helper_free(l->session_helper);
	g_free(l->session);
	g_free(l->state);
	g_free(l->url);
	g_free(l->snapshot);
	g_free(l->no_kernel);
}

/* False after a printed error; local_clear() in both cases. */
static bool local_init(struct local *l, const struct options *o)
{
	g_autoptr(GError) error = NULL;

	*l = (struct local){ .o = o };
	/* The name of a session that outlives blktop (--keep) has no pid in the place where the sweep looks for one. */
	l->session = o->session.session ? g_strdup(o->session.session) :
		g_strdup_printf(o->session.keep ? "blktop-kept-%d" : "blktop-%d", (int)getpid());
	l->state = g_build_filename(g_get_user_state_dir(), "blktop", NULL);
	l->session_helper = start_helper(l, o, &error);
	if (!l->session_helper)
		log_error("%s", error->message);
	return l->session_helper != NULL;
}

/* Asks the user. EXIT_FINE: agreed, or *ret_left: cancelled. */
static int ask_first(struct local *l, bool *ret_left)
{
	g_autoptr(GError) error = NULL;

	*ret_left = false;
	if (l->o->session.yes || !l->o->read.local || l->o->command == COMMAND_RECORD)
		return EXIT_FINE;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		log_error("no trace directory and no relay given: blktop asks before it makes a session of this "
			  "machine, and there is no terminal to ask on; -y makes it without asking\n"
			  "Try 'blktop --help', 'blktop --help-here'.");
		return EXIT_USAGE;
	}
	g_autofree char *text = session_helper_ask(l->session_helper, HELPER_DESCRIBE, NULL, LOOK_MS, &error);
	if (!text)
		return log_failure(error);
	*ret_left = !agree(l, text);
	return EXIT_FINE;
}

/* Prints the messages that the screen did not show. */
static void print_rest(struct local *l)
{
	bool is_error;
	for (char *text; (text = local_next_message(l, &is_error)); g_free(text))
		if (is_error || l->o->command == COMMAND_SCREEN)
			log_error("%s", text);
		else
			log_note("%s", text);
}

static int end(struct local *l, int code)
{
	g_assert(!l->ended);
	g_autoptr(GError) error = NULL;
	print_rest(l);
	bool exited = l->exited;	/* by itself, before END ends it */
	l->ended = true;
	g_autofree char *left = session_helper_ask(l->session_helper, HELPER_END, NULL, END_MS, &error);
	print_rest(l);
	if (left && *left)
		print_visible(left);
	if (!left && !l->started)
		log_error("%s", error->message);
	bool lossy = code == EXIT_LOSS || code == EXIT_INCOMPLETE;
	return exited && (code == EXIT_FINE || (lossy && !l->o->fail_if_incomplete)) ? l->exit_code : code;
}

static int run_inside(struct local *l, int (*run)(const struct options *o))
{
	g_autoptr(GError) error = NULL;
	struct options mine = *l->o;

	if (!begin(l, &error))
		return log_failure(error);
	mine.read.running = l;
	if (!l->o->read.local)
		return end(l, run(&mine));
	struct live_url url = { 0 };
	if (*l->url && !live_url_parse(l->url, &url, &error))
		return end(l, log_failure(error));
	mine.read.urls = &url;
	mine.read.n_urls = *l->url ? 1 : 0;
	mine.read.relay.kernel = l->kernel;
	mine.read.relay.from_beginning = true;	/* the session is new: its first event counts */
	int code = run(&mine);
	live_url_clear(&url);
	g_clear_pointer(&l->kernel, handover_free);	/* or the helper could not remove the instance */
	return end(l, code);
}

int local_run(const struct options *o, int (*run)(const struct options *o))
{
	struct local l;
	bool left = false;

	const char *problem = o->read.local && o->command == COMMAND_SCREEN ? term_problem() : NULL;
	if (problem && (o->session.yes || isatty(STDIN_FILENO))) {
		log_error("%s; 'blktop -b --view VIEW' prints without one", problem);
		return EXIT_FAILED;
	}
	int code = local_init(&l, o) ? ask_first(&l, &left) : EXIT_FAILED;
	if (code == EXIT_FINE && !left)
		code = run_inside(&l, run);
	local_clear(&l);
	return code;
}

int local_sweep(const struct options *o)
{
	g_autoptr(GError) error = NULL;
	struct local l;

	g_autofree char *reply = local_init(&l, o) ?
		session_helper_ask(l.session_helper, HELPER_SWEEP, NULL, END_MS, &error) : NULL;
	if (reply)
		fputs(reply, stdout);
	if (error)
		log_error("%s", error->message);
	local_clear(&l);
	return reply ? EXIT_FINE : EXIT_FAILED;
}
