/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session helper's process: carries out the client's requests, and at the end destroys what it made (helper.h).
 *
 * However the client ends, the connection closes. The process must not exit before it destroyed what it made. SIGTERM
 * has the same effect as a closed connection. Signals of the terminal do not arrive (setsid()).
 */
#include "live/session/helper_private.h"

#include "live/session/control.h"
#include "live/session/proc.h"
#include "live/tracefs/instance.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TICK_MS 100		/* between two checks for new children and for the program's end */
#define DAEMON_PATIENCE_MS 5000

static volatile sig_atomic_t terminated;

static void on_term(int signal)
{
	terminated = signal;
}

void helper_send(struct helper_state *w, char word, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *packet = g_strdup_printf("%c%s", word, text);
	send(w->fd, packet, MIN(strlen(packet), HELPER_PACKET), MSG_NOSIGNAL);
}

static void answer(struct helper_state *w, bool ok, const char *text, const GError *error)
{
	helper_send(w, ok ? HELPER_MSG_DONE : HELPER_MSG_FAILED, "%s",
			ok ? text : error ? error->message : "it failed");
}

/* --- progress --- */

static void report_progress(void *helper_state, const char *what)
{
	helper_send(helper_state, HELPER_MSG_PROGRESS, "%s", what);
}

/* --- describing --- */

static unsigned n_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	return n > 0 ? (unsigned)n : 1;
}

/* Probes and counters are LTTng's. */
static bool can_use_tracefs(const struct session_helper_options *o, GError **error)
{
	if (o->kernel != PLAN_ANY_TRACER && o->kernel != PLAN_TRACEFS)
		return false;
	if (o->probes)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
			    "not traced: --kprobe needs the modules of LTTng");
	return tracefs_is_usable(error);
}

/* Makes the plans from the options and from the events that the kernel tracer has. */
static void make_plan(struct helper_state *w, bool daemon_runs)
{
	const struct session_helper_options *o = w->o;
	g_autoptr(GError) why = NULL, why_no_tracefs = NULL;

	report_progress(w, "asking the session daemon what the kernel has");
	bool may_be_lttng = o->kernel == PLAN_ANY_TRACER || o->kernel == PLAN_LTTNG;
	GHashTable *tracepoints = daemon_runs && may_be_lttng ? control_kernel(&why) : NULL;
	/* until a session daemon of root runs, only files tell whether there is a kernel tracer */
	bool root = !daemon_runs && geteuid() == 0;
	struct utsname kernel;
	g_autofree char *missing = root && uname(&kernel) == 0 ? proc_no_tracer("", kernel.release) : NULL;
	bool is_lttng = may_be_lttng && (tracepoints || (root && !missing));
	bool by_tracefs = !is_lttng && can_use_tracefs(o, &why_no_tracefs);
	struct tracefs_texts texts = by_tracefs ? tracefs_instance_expected() : (struct tracefs_texts){ 0 };
	g_autofree char *known = tracefs_texts_known(&texts), *unknown = tracefs_texts_unknown(&texts);
	struct plan_wish wish = {
		.session = o->session,
		.timer_us = o->timer_us,
		.rows = o->rows,
		.n_rows = o->n_rows,
		.kernel = is_lttng || by_tracefs,
		.by_tracefs = by_tracefs,
		.known = known,
		.unknown = unknown,
		.spans_only = o->kernel == PLAN_NO_TRACER,
		.tracepoints = tracepoints,
		.no_programs = w->no_programs,
		.no_kernel = o->kernel == PLAN_TRACEFS && why_no_tracefs ? why_no_tracefs->message
			     : why                                       ? why->message
			     : missing                                   ? missing
				       : "not traced: it needs root, or the group tracing and a session daemon of "
					 "root: sudo blktop",
		.calls_only = o->calls_only,
		.kernel_buffer = o->kernel_buffer,
		.functions = o->functions,
		.loglevel = o->loglevel,
		.counters = o->counters,
		.probes = o->probes,
		.programs = o->programs,
		.presets = o->presets,
	};
	bool own_snapshots = g_strcmp0(o->snapshot, "new") == 0;
	g_autofree char *name = g_strconcat(o->session, HELPER_SNAPSHOT_SUFFIX, NULL);

	plan_free(w->plan);
	plan_free(w->snapshot_plan);
	w->plan = plan_new(&wish);
	w->snapshot_plan = own_snapshots ? plan_new_snapshot(&wish, name) : NULL;
	g_free(w->snapshot);
	w->snapshot = own_snapshots ? g_steal_pointer(&name) : g_strdup(o->snapshot);
	if (tracepoints)
		g_hash_table_unref(tracepoints);
}

/* Sessions of blktop processes that have ended, struct control_session *. */
static GPtrArray *leftovers(void)
{
	GPtrArray *sessions = control_sessions();
	for (guint i = sessions->len; i > 0; i--) {
		const struct control_session *c = sessions->pdata[i - 1];
		int pid = session_helper_pid_of(c->name);
		if (!pid || !proc_has_ended(pid))
			g_ptr_array_remove_index(sessions, i - 1);
	}
	return sessions;
}

static char *leftover_text(const struct control_session *c)
{
	return g_strdup_printf("%s, of a blktop that has ended; destroy it: lttng destroy %s", c->name,
			       c->name);
}

/* "sh (process 17), sleep (process 18), of a blktop ..."; NULL: none remains. */
static char *programs_text(const struct helper_state *w)
{
	g_autoptr(GPtrArray) programs = sweep_programs(w->o->state);
	g_autoptr(GString) s = g_string_new(NULL);

	PTR_EACH(const struct sweep_program, p, programs)
		g_string_append_printf(s, "%s (process %d), ", p->name, p->pid);
	return s->len ? g_strdup_printf("%sof a blktop that has ended; end it: blktop --sweep", s->str) : NULL;
}

static void describe_leftovers(const struct helper_state *w, GString *s, bool daemon_runs)
{
	g_autoptr(GPtrArray) sessions = daemon_runs ? leftovers() : g_ptr_array_new();
	g_autofree char *programs = programs_text(w);

	for (guint i = 0; i < sessions->len; i++) {
		g_autofree char *text = leftover_text(sessions->pdata[i]);
		plan_line(s, "left over", text);
	}
	if (programs)
		plan_line(s, "left over", programs);
}

static void describe_place(struct helper_state *w, GString *s, bool daemon_runs)
{
	struct relay_place place;

	if (!daemon_runs)
		plan_line(s, "daemons", "none runs: lttng-sessiond is started, and stopped at the end");
	g_autofree char *why = NULL;
	bool found = daemons_find_relay(&place, &why);
	g_autofree char *text = found ?
		g_strdup_printf("the daemon on 127.0.0.1:%u, which runs already", place.live) :
		g_strdup_printf("%s: lttng-relayd is started on free ports of 127.0.0.1, writes to "
				"%s, and %s", why ? why : "none runs", w->o->state,
				w->o->keep ? "stays" : "is stopped and its files removed at the end");
	plan_line(s, "relay", text);
	relay_place_clear(&place);
}

static void describe_followed(const struct helper_state *w, GString *s)
{
	const struct session_helper_options *o = w->o;
	g_autofree char *program = o->program ? text_visible(o->program[0]) :
		g_strdup_printf("process %d", o->pid);
	const struct plan_channel *kernel = &w->plan->channel[PLAN_KERNEL];
	const char *extent = !kernel->used ? "" : o->calls_only ? ": their spans and system calls, nothing else" :
		o->program_only && kernel->by_tracefs ?
		": their spans; of the kernel the events of their threads and what wakes these; not known: what ran "
		"instead, and what interrupts do meanwhile" :
		o->program_only ?
		": their spans; of the kernel the events of their threads; not known: what woke them and what ran "
		"instead" :
		": their spans; of the kernel all events, to show what woke them and what ran instead";
	g_autofree char *text = g_strdup_printf("%s and its children%s", program, extent);

	if (o->program || o->pid)
		plan_line(s, "follows", text);
}

static void describe_snapshots(const struct helper_state *w, GString *s)
{
	char memory[TIMEFMT_LEN];
	g_autofree char *text = !w->snapshot_plan ? g_strdup_printf("of session %s", w->snapshot) :
		g_strdup_printf("a second session, %s: the same events%s in buffers that are overwritten, "
				"%s of memory", w->snapshot,
				w->plan->channel[PLAN_KERNEL].by_tracefs ? " of programs, none of the kernel," : "",
				timefmt_bytes(memory, plan_memory(w->snapshot_plan, n_cpus())));
	plan_line(s, "snapshots", text);
}

static void on_describe(struct helper_state *w, G_GNUC_UNUSED const char *text)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	bool runs = control_alive();

	if (!follow_check(w, &error)) {
		answer(w, false, NULL, error);
		return;
	}
	make_plan(w, runs);
	g_autofree char *what = plan_describe(w->plan, n_cpus());
	g_string_append(s, what);
	describe_followed(w, s);
	describe_place(w, s, runs);
	if (w->snapshot)
		describe_snapshots(w, s);
	if (runs && !w->o->program) {
		unsigned n = control_programs("zipkin:");
		g_autofree char *now = g_strdup_printf("%u program%s with spans %s running", n,
						       n == 1 ? "" : "s", n == 1 ? "is" : "are");
		plan_line(s, "now", now);
	}
	describe_leftovers(w, s, runs);
	answer(w, true, s->str, NULL);
}

/* --- making --- */

static bool find_or_start_relay(struct helper_state *w, const struct control_watch *watch, GError **error)
{
	g_autofree char *name = g_strdup_printf("relay-%s", w->o->session), *why = NULL;

	report_progress(w, "looking for a relay daemon");
	if (daemons_find_relay(&w->relay, &why))
		return true;
	if (!daemons_start_relay(&w->relay, w->o->state, name, w->o->keep, watch, error))
		return false;
	if (why)
		helper_send(w, HELPER_MSG_MESSAGE, "%s: lttng-relayd was started on 127.0.0.1:%u", why, w->relay.live);
	return true;
}

static bool make_live(struct helper_state *w, GError **error)
{
	const struct control_watch watch = { report_progress, w };

	if (w->o->watch_only)
		return true;
	if (!plan_is_lttng(&w->plan->channel[PLAN_KERNEL]) && !w->plan->channel[PLAN_UST].used)
		return true;
	if (!find_or_start_relay(w, &watch, error))
		return false;
	g_autofree char *ctrl = g_strdup_printf("tcp://127.0.0.1:%u", w->relay.control);
	g_autofree char *data = g_strdup_printf("tcp://127.0.0.1:%u", w->relay.data);
	w->made = control_make(w->plan, ctrl, data, NULL, &watch, error);
	/* The session daemon is connected to the relay daemon now, and nothing is traced yet. */
	return w->made && daemons_check_relay(&w->relay, error);
}

static bool make_snapshots(struct helper_state *w, GError **error)
{
	g_autofree char *name = g_strdup_printf("snapshots-%s", w->o->session);
	const struct control_watch watch = { report_progress, w };

	if (!w->snapshot)
		return true;
	w->snapshots_dir = daemons_make_dir(w->o->state, name, error);
	if (!w->snapshots_dir)
		return false;
	w->made_snapshot = w->snapshot_plan &&
		control_make(w->snapshot_plan, NULL, NULL, w->snapshots_dir, &watch, error);
	return w->made_snapshot || !w->snapshot_plan;
}

/* Tracks the followed processes in both sessions, which exist by now. */
static bool follow(struct helper_state *w, GError **error)
{
	if (w->o->watch_only)
		return true;
	if (w->o->program && !follow_hold(w, error))
		return false;
	return !(w->o->pid || w->o->program) || follow_track(w, error);
}

/* The snapshot session first: a threshold may be reached in the first second that is read. */
static bool start(struct helper_state *w, GError **error)
{
	report_progress(w, "starting the session");
	if (w->plan->channel[PLAN_KERNEL].by_tracefs && !w->o->watch_only && !kernel_begin(w, error))
		return false;
	return (!w->made_snapshot || control_start(w->snapshot, error)) &&
	       (!w->made || (control_start(w->o->session, error) && daemons_check_relay(&w->relay, error)));
}

static bool check_snapshot(struct helper_state *w, GError **error)
{
	if (!w->snapshot || w->snapshot_plan)
		return true;
	g_autoptr(GPtrArray) sessions = control_sessions();
	PTR_EACH(const struct control_session, c, sessions)
		if (g_str_equal(c->name, w->snapshot) && c->snapshot)
			return true;
	g_autofree char *quoted = text_shell_quote(w->snapshot);
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION,
		    "there is no snapshot session '%s' on this machine; make one (lttng create %s --snapshot), or "
		    "use --snapshot new", w->snapshot, quoted);
}

/* False: there is none; *error, unless the kernel can be recorded without: then .no_programs says why. */
static bool start_session_daemon(struct helper_state *w, const struct control_watch *watch, GError **error)
{
	g_autoptr(GError) why = NULL, no_kernel = NULL;
	w->sessiond = daemons_start_session(w->o->keep, watch, &why);
	if (w->sessiond)
		return true;
	if (!w->snapshot && can_use_tracefs(w->o, &no_kernel)) {
		w->no_programs = g_strdup_printf("not traced: %s", why->message);
		helper_send(w, HELPER_MSG_MESSAGE, "programs are %s", w->no_programs);
		return false;
	}
	if (no_kernel)
		g_set_error(error, why->domain, why->code, "%s; %s", why->message, no_kernel->message);
	else
		g_propagate_error(error, g_steal_pointer(&why));
	return false;
}

static bool begin_locked(struct helper_state *w, int *lock, GError **error)
{
	const struct control_watch watch = { report_progress, w };

	report_progress(w, "looking for a session daemon");
	bool has_daemon = control_alive() || w->o->watch_only || start_session_daemon(w, &watch, error);
	if (*lock < 0)
		*lock = daemons_lock();
	if (!has_daemon && !w->no_programs)
		return false;
	make_plan(w, has_daemon);
	if (!check_snapshot(w, error))
		return false;
	return make_live(w, error) && make_snapshots(w, error) && follow(w, error) && start(w, error);
}

static bool begin(struct helper_state *w, GError **error)
{
	if (!follow_check(w, error))
		return false;
	int lock = daemons_lock();
	bool done = begin_locked(w, &lock, error);
	daemons_unlock(lock);
	return done;
}

static char *live_url(const struct helper_state *w)
{
	char host[HOST_NAME_MAX + 1] = "localhost";
	gethostname(host, sizeof host - 1);
	return g_strdup_printf("net://127.0.0.1:%u/host/%s/%s", w->relay.live, host, w->o->session);
}

static void clean_up(struct helper_state *w);

static void on_begin(struct helper_state *w, G_GNUC_UNUSED const char *text)
{
	g_autoptr(GError) error = NULL;
	if (w->o->watch_only && !w->o->snapshot) {
		answer(w, true, "\n0\n\n\n", NULL);
		return;
	}
	if (!begin(w, &error)) {
		clean_up(w);
		answer(w, false, NULL, error);
		return;
	}
	if (!w->o->watch_only && w->o->kernel != PLAN_NO_TRACER && !w->plan->channel[PLAN_KERNEL].used)
		helper_send(w, HELPER_MSG_MESSAGE, "%s", w->plan->channel[PLAN_KERNEL].why_not);
	g_autoptr(GPtrArray) old = leftovers();
	for (guint i = 0; i < old->len; i++) {
		g_autofree char *words = leftover_text(old->pdata[i]);
		helper_send(w, HELPER_MSG_MESSAGE, "left over: %s", words);
	}
	g_autofree char *programs = programs_text(w);
	if (programs)
		helper_send(w, HELPER_MSG_MESSAGE, "left over: %s", programs);
	g_autoptr(GString) instances = g_string_new(NULL);
	tracefs_sweep(HELPER_SESSION_PREFIX, proc_has_ended, instances);	/* it would cost time for nothing */
	if (instances->len)
		helper_send(w, HELPER_MSG_MESSAGE, "%s", g_strchomp(instances->str));
	g_autofree char *url = w->made ? live_url(w) : g_strdup("");
	unsigned domains = plan_is_lttng(&w->plan->channel[PLAN_KERNEL]) + w->plan->channel[PLAN_UST].used;
	const char *why_not = w->plan->channel[PLAN_KERNEL].why_not;
	g_autofree char *all = g_strdup_printf("%s\n%u\n%s\n%s\n", url, domains,
					       w->snapshot ? w->snapshot : "", why_not ? why_not : "");
	answer(w, true, all, NULL);
}

static void on_go(struct helper_state *w, G_GNUC_UNUSED const char *text)
{
	follow_go(w);
}

static void on_sweep(struct helper_state *w, G_GNUC_UNUSED const char *text)
{
	g_autoptr(GPtrArray) sessions = leftovers();
	g_autoptr(GString) s = g_string_new(NULL);
	sweep_end_programs(w->o->state, s);
	PTR_EACH(const struct control_session, c, sessions) {
		g_autoptr(GError) error = NULL;
		if (control_destroy(c->name, &error))
			g_string_append_printf(s, "destroyed %s\n", c->name);
		else
			g_string_append_printf(s, "%s\n", error->message);
	}
	tracefs_sweep(HELPER_SESSION_PREFIX, proc_has_ended, s);
	sweep_files(w->o->state, s);
	answer(w, true, s->len ? s->str : "nothing is left of a blktop that has ended\n", NULL);
}

/* --- destroying --- */

static void destroy(struct helper_state *w, bool *made, const char *session)
{
	g_autoptr(GError) error = NULL;
	if (*made && !control_destroy(session, &error))
		helper_send(w, HELPER_MSG_WARNING, "%s", error->message);
	*made = false;
}

/* Stops the session daemon that the helper started, unless it has other sessions. */
static void end_session_daemon(struct helper_state *w)
{
	if (!w->sessiond)
		return;
	int lock = daemons_lock();
	g_autoptr(GPtrArray) others = control_sessions();
	if (others->len == 0)
		daemons_end(w->sessiond, DAEMON_PATIENCE_MS);
	daemons_unlock(lock);
	if (others->len == 0) {
		w->sessiond = 0;
		return;
	}
	helper_send(w, HELPER_MSG_MESSAGE, "lttng-sessiond (process %d) keeps running until its other sessions have "
		    "ended", (int)w->sessiond);
	helper_send(w, HELPER_MSG_STAYS, "%s", "");
}

#define LOOK_FOR_SESSIONS_US (G_USEC_PER_SEC / 2)

/* The daemon that this process started would end with it (daemons.h), and others use it: waits until none does. */
static void wait_for_others(struct helper_state *w)
{
	close(w->fd);
	w->fd = -1;
	for (int fd = 0; fd < 3; fd++)
		close(w->std[fd]);	/* what reads blktop's output sees its end */
	while (w->sessiond && !terminated) {
		g_usleep(LOOK_FOR_SESSIONS_US);
		int lock = daemons_lock();
		g_autoptr(GPtrArray) others = control_sessions();
		if (others->len == 0) {
			daemons_end(w->sessiond, DAEMON_PATIENCE_MS);
			w->sessiond = 0;
		}
		daemons_unlock(lock);
	}
}

static void clean_up(struct helper_state *w)
{
	exec_end(w);
	follow_end(w);
	kernel_end(w);
	destroy(w, &w->made, w->o->session);
	destroy(w, &w->made_snapshot, w->snapshot);
	daemons_end(w->relay.pid, DAEMON_PATIENCE_MS);
	daemons_remove(w->relay.dir);
	relay_place_clear(&w->relay);
	end_session_daemon(w);
	if (w->snapshots_dir && w->n_snapshots == 0)
		rmdir(w->snapshots_dir);
}

/* For --keep: marks everything as no longer the helper's; returns the commands to attach to the session and to
 * destroy it. */
static char *keep_session(struct helper_state *w)
{
	g_autofree char *url = live_url(w);
	GString *s = g_string_new(NULL);

	g_string_append_printf(s, "session %s keeps running. Attach:   blktop -r %s\n"
			       "Destroy:  lttng destroy %s", w->o->session, url, w->o->session);
	if (w->made_snapshot)
		g_string_append_printf(s, " && lttng destroy %s", w->snapshot);
	if (w->relay.pid) {
		g_autofree char *dir = text_shell_quote(w->relay.dir);
		g_string_append_printf(s, " && kill %d && rm -r %s", (int)w->relay.pid, dir);
	}
	if (w->sessiond)
		g_string_append_printf(s, " && kill %d", (int)w->sessiond);
	g_string_append_c(s, '\n');
	w->made = w->made_snapshot = false;
	w->sessiond = 0;
	relay_place_clear(&w->relay);
	return g_string_free(s, FALSE);
}

static char *end(struct helper_state *w)
{
	g_autoptr(GString) s = g_string_new(NULL);
	if (w->o->keep && w->made) {
		g_autofree char *left = keep_session(w);
		g_string_append(s, left);
	}
	if (w->n_snapshots)
		g_string_append_printf(s, "%u snapshot%s in %s\n", w->n_snapshots,
				       w->n_snapshots == 1 ? "" : "s", w->snapshots_dir);
	clean_up(w);
	g_autofree char *output = w->follow.output ?
		program_output_text(w->follow.output, w->o->program[0]) : NULL;
	if (output)
		g_string_append(s, output);
	return g_strdup(s->str);
}

static void on_end(struct helper_state *w, G_GNUC_UNUSED const char *text)
{
	g_autofree char *report = end(w);
	answer(w, true, report, NULL);
	w->ended = true;
}

/* Nothing is recorded from now on. Destroys the session, which delivers the last events; then the viewer sees that the
 * session has ended. */
static void stop_recording(struct helper_state *w)
{
	kernel_stop(w);
	if (!w->o->keep)
		destroy(w, &w->made, w->o->session);
}

static void on_stop(struct helper_state *w, G_GNUC_UNUSED const char *text)
{
	follow_end(w);
	stop_recording(w);
}

/* --- the process --- */

static void serve(struct helper_state *w, const char *packet)
{
	static void (*const on[])(struct helper_state *w, const char *text) = {
		[HELPER_DESCRIBE] = on_describe, [HELPER_BEGIN] = on_begin, [HELPER_GO] = on_go,
		[HELPER_SNAPSHOT] = snapshot_take, [HELPER_SWEEP] = on_sweep, [HELPER_END] = on_end,
		[HELPER_EXEC] = exec_run, [HELPER_STOP] = on_stop,
	};
	unsigned what = (unsigned)(packet[0] - 'A');
	if (what < G_N_ELEMENTS(on))
		on[what](w, packet + 1);
}

#define ALIVE_US (2 * G_USEC_PER_SEC)

/* A session daemon that another blktop started ends with that one's helper, if it is killed. */
static void watch_session_daemon(struct helper_state *w)
{
	gint64 now = g_get_monotonic_time();
	if (!w->made || w->daemon_lost || now - w->looked_us < ALIVE_US)
		return;
	w->looked_us = now;
	w->daemon_lost = !control_alive();
	if (w->daemon_lost)
		helper_send(w, HELPER_MSG_WARNING, "the session daemon has ended, and the session with it: nothing of "
			    "programs is recorded any more; start blktop again");
}

static void tick(struct helper_state *w)
{
	g_autoptr(GError) error = NULL;
	kernel_tick(w);
	watch_session_daemon(w);
	if (!w->follow.pids || (!w->made && !w->kernel))
		return;
	if (!follow_track(w, &error))
		helper_send(w, HELPER_MSG_WARNING, "%s", error->message);
	if (follow_ended(w))
		stop_recording(w);
}

static void run(struct helper_state *w)
{
	char packet[HELPER_PACKET + 1];

	while (!terminated && !w->ended) {
		struct pollfd p[] = { { .fd = w->fd, .events = POLLIN }, { .fd = kernel_fd(w), .events = POLLIN } };
		bool follows = w->follow.pids != NULL || w->kernel;
		int ready = poll(p, G_N_ELEMENTS(p), follows || w->exec.pid ? TICK_MS : -1);
		exec_reap(w);
		if (follows)
			tick(w);
		if (ready > 0 && p[1].revents && p[1].fd == kernel_fd(w))
			kernel_answer(w);
		if (ready <= 0 || !p[0].revents)
			continue;
		ssize_t n = recv(w->fd, packet, sizeof packet - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		packet[n] = '\0';
		serve(w, packet);
	}
}

/* Saves the standard files for the program, and replaces its own: stderr by the log, the others by /dev/null. */
static void replace_standard_files(struct helper_state *w)
{
	const char *log = w->o->log ? w->o->log : "/dev/null";
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int words = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++) {
		w->std[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		dup2(fd == 2 && words >= 0 ? words : null, fd);
	}
}

void session_helper_work(const struct session_helper_options *o, int fd)
{
	static const int ignored[] = { SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU };
	struct helper_state w = { .o = o, .fd = fd, .client = getppid(), .follow.go_fd = -1 };
	struct sigaction term = { .sa_handler = on_term };

	setsid();
	prctl(PR_SET_NAME, "blktop-helper");
	sigaction(SIGTERM, &term, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	replace_standard_files(&w);
	run(&w);
	if (!w.ended)
		g_free(end(&w));	/* the client has ended: the text is not needed */
	if (w.sessiond)
		wait_for_others(&w);
	_exit(0);
}
