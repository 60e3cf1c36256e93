/* SPDX-License-Identifier: GPL-2.0-only */
/* Controls the session daemon of this machine: see control.h. */
#include "live/session/control.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "trace/reader.h"

#include <lttng/lttng.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSION BLK_TRACE_ERROR, BLK_TRACE_ERROR_SESSION

static char *user_name(void)
{
	const struct passwd *pw = getpwuid(geteuid());
	return pw ? g_strdup(pw->pw_name) : g_strdup_printf("#%u", (unsigned)geteuid());
}

/* The remedy of an LTTng error (g_free()); NULL: none is known. `about`: name of the session. */
static char *remedy(int code, const char *about)
{
	g_autofree char *user = user_name();
	g_autofree char *name = text_shell_quote(about ? about : "SESSION");

	switch (code) {
	case LTTNG_ERR_NO_SESSIOND:
		return geteuid() ? g_strdup("start one: lttng-sessiond --daemonize") :
			g_strdup("start one: systemctl start lttng-sessiond, or lttng-sessiond --daemonize");
	case LTTNG_ERR_NEED_ROOT_SESSIOND:
		return g_strdup_printf("run blktop as root, or join the group tracing (usermod -aG "
				       "tracing %s) and log in again", user);
	case LTTNG_ERR_KERN_NA:
	case LTTNG_ERR_FATAL:
		return g_strdup("install its modules (apt install lttng-modules-dkms), load them "
				"(modprobe lttng-tracer), and restart lttng-sessiond");
	case LTTNG_ERR_EXIST_SESS:
		return g_strdup_printf("take another name with --session, or destroy it: "
				       "lttng destroy %s", name);
	case LTTNG_ERR_RELAYD_CONNECT_FAIL:
		return g_strdup("is it the relay daemon's control port? start one: lttng-relayd --daemonize");
	default:
		return NULL;
	}
}

/* The library's message, or a shorter one. */
static const char *message_of(int code)
{
	return code == LTTNG_ERR_NEED_ROOT_SESSIOND ? "it needs a session daemon of root" :
	       code == LTTNG_ERR_KERN_NA || code == LTTNG_ERR_FATAL ? "there is no kernel tracer" :
	       lttng_strerror(-code);
}

/* `code`: lttng's, positive or negative. The rest: what failed. */
static bool fail_code(GError **error, int code, const char *about, const char *format, ...) G_GNUC_PRINTF(4, 5);
static bool fail_code(GError **error, int code, const char *about, const char *format, ...)
{
	int positive = code < 0 ? -code : code;
	g_autofree char *mend = remedy(positive, about);
	va_list args;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	return fail(error, SESSION, "%s: %s%s%s", what, message_of(positive), mend ? "; " : "",
		    mend ? mend : "");
}

bool control_alive(void)
{
	return lttng_session_daemon_alive() == 1;
}

/* --- queries --- */

static void domain_init(struct lttng_domain *ret, enum plan_domain domain)
{
	memset(ret, 0, sizeof *ret);
	ret->type = domain == PLAN_KERNEL ? LTTNG_DOMAIN_KERNEL : LTTNG_DOMAIN_UST;
	ret->buf_type = domain == PLAN_KERNEL ? LTTNG_BUFFER_GLOBAL : LTTNG_BUFFER_PER_UID;
}

static int list_tracepoints(enum plan_domain which, struct lttng_event **ret)
{
	struct lttng_domain domain;
	domain_init(&domain, which);
	struct lttng_handle *handle = lttng_create_handle(NULL, &domain);
	int n = handle ? lttng_list_tracepoints(handle, ret) : -LTTNG_ERR_NOMEM;
	if (handle)
		lttng_destroy_handle(handle);
	return n;
}

#if __has_include(<lttng/kernel.h>)	/* LTTng 2.14 and later */
/* Why there is no kernel tracer, and the remedy; NULL: the error says all that is known. */
static const char *tracer_trouble(void)
{
	static const struct { enum lttng_kernel_tracer_status status; const char *words; } known[] = {
		{ LTTNG_KERNEL_TRACER_STATUS_ERR_MODULES_MISSING,
		  "the running kernel has no modules of LTTng; install them (apt install lttng-modules-dkms), "
		  "and restart lttng-sessiond" },
		{ LTTNG_KERNEL_TRACER_STATUS_ERR_MODULES_SIGNATURE,
		  "the kernel refuses the signature of LTTng's modules; sign them with a key that it knows "
		  "(mokutil --import), and restart lttng-sessiond" },
		{ LTTNG_KERNEL_TRACER_STATUS_ERR_VERSION_MISMATCH,
		  "LTTng's modules are of another version than its session daemon; install those of one "
		  "release, and restart lttng-sessiond" },
		{ LTTNG_KERNEL_TRACER_STATUS_ERR_MODULES_UNKNOWN,
		  "LTTng's modules cannot be loaded; dmesg says why" },
		{ LTTNG_KERNEL_TRACER_STATUS_ERR_OPEN_PROC_LTTNG,
		  "/proc/lttng cannot be opened; load the modules (modprobe lttng-tracer), and restart "
		  "lttng-sessiond" },
	};
	enum lttng_kernel_tracer_status status;

	if (lttng_get_kernel_tracer_status(&status) != LTTNG_OK)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (known[i].status == status)
			return known[i].words;
	return NULL;
}
#else
static const char *tracer_trouble(void)
{
	return NULL;
}
#endif

GHashTable *control_kernel(GError **error)
{
	struct lttng_event *events = NULL;
	int n = list_tracepoints(PLAN_KERNEL, &events);

	/* a root daemon without a kernel tracer closes the first connection, and reports the error on the second */
	if (n == -LTTNG_ERR_FATAL)
		n = list_tracepoints(PLAN_KERNEL, &events);
	if (n <= 0) {
		const char *trouble = n == -LTTNG_ERR_NEED_ROOT_SESSIOND ? NULL : tracer_trouble();
		if (trouble)
			fail(error, SESSION, "the kernel is not traced: %s", trouble);
		else
			fail_code(error, n ? n : LTTNG_ERR_KERN_NA, NULL, "the kernel is not traced");
		return NULL;
	}
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (int i = 0; i < n; i++)
		g_hash_table_add(names, g_strndup(events[i].name, sizeof events[i].name));
	free(events);
	return names;
}

unsigned control_programs(const char *prefix)
{
	struct lttng_event *events = NULL;
	int n = list_tracepoints(PLAN_UST, &events);
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);

	for (int i = 0; i < n; i++)
		if (strncmp(events[i].name, prefix, strlen(prefix)) == 0)
			g_hash_table_add(pids, GINT_TO_POINTER(events[i].pid));
	if (n > 0)
		free(events);
	return g_hash_table_size(pids);
}

static void session_free(void *data)
{
	struct control_session *s = data;
	g_free(s->name);
	g_free(s->path);
	g_free(s);
}

GPtrArray *control_sessions(void)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(session_free);
	struct lttng_session *sessions = NULL;
	int n = lttng_list_sessions(&sessions);

	for (int i = 0; i < n; i++) {
		struct control_session *s = g_new0(struct control_session, 1);
		s->name = g_strndup(sessions[i].name, sizeof sessions[i].name);
		s->path = g_strndup(sessions[i].path, sizeof sessions[i].path);
		s->snapshot = sessions[i].snapshot_mode != 0;
		g_ptr_array_add(all, s);
	}
	if (n > 0)
		free(sessions);
	return all;
}

/* --- making --- */

static int context_type(const char *name)
{
	static const struct { const char *name; int type; } types[] = {
		{ "pid", LTTNG_EVENT_CONTEXT_PID }, { "tid", LTTNG_EVENT_CONTEXT_TID },
		{ "vpid", LTTNG_EVENT_CONTEXT_VPID }, { "vtid", LTTNG_EVENT_CONTEXT_VTID },
		{ "procname", LTTNG_EVENT_CONTEXT_PROCNAME },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		if (g_str_equal(types[i].name, name))
			return types[i].type;
	return -1;
}

struct making {
	const struct plan *p;
	enum plan_domain domain;
	const struct plan_channel *c;
	struct lttng_handle *handle;
	const struct control_watch *watch;
};

static void report(const struct control_watch *w, const char *step, const char *name)
{
	g_autofree char *what = g_strdup_printf("%s '%s'", step, name);
	w->doing(w->data, what);
}

static bool add_channel(const struct making *m, GError **error)
{
	struct lttng_domain domain;
	report(m->watch, "making the channel", m->c->name);
	domain_init(&domain, m->domain);
	struct lttng_channel *channel = lttng_channel_create(&domain);
	if (!channel)
		return fail(error, SESSION, "cannot describe channel '%s'", m->c->name);
	g_strlcpy(channel->name, m->c->name, sizeof channel->name);
	channel->enabled = 1;		/* from LTTng 2.15 on, a channel is disabled unless this is set */
	channel->attr.subbuf_size = m->c->subbuf_bytes;
	channel->attr.num_subbuf = m->c->n_subbufs;
	channel->attr.tracefile_size = m->p->file_bytes;
	channel->attr.tracefile_count = m->p->n_files;
	if (!m->p->timer_us) {		/* a flight recorder */
		channel->attr.overwrite = 1;
		channel->attr.output = LTTNG_EVENT_MMAP;
	}
	int code = lttng_enable_channel(m->handle, channel);
	lttng_channel_destroy(channel);
	return code >= 0 || fail_code(error, code, m->p->session, "cannot make channel '%s'", m->c->name);
}

static bool add_context(const struct making *m, struct lttng_event_context *context,
			const char *name, GError **error)
{
	report(m->watch, "adding the context", name);
	int code = lttng_add_context(m->handle, context, NULL, m->c->name);
	return code >= 0 || fail_code(error, code, m->p->session, "cannot add the context '%s'", name);
}

static bool add_counter(const struct making *m, const struct plan_counter *counter, GError **error)
{
	bool kernel = m->domain == PLAN_KERNEL;
	struct lttng_event_context context = {
		.ctx = kernel ? LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER :
			LTTNG_EVENT_CONTEXT_PERF_THREAD_COUNTER,
	};
	char *name = context.u.perf_counter.name;

	if (!kernel && !counter->thread)
		return true;
	context.u.perf_counter.type = 1;	/* PERF_TYPE_SOFTWARE */
	context.u.perf_counter.config = counter->config;
	g_snprintf(name, sizeof context.u.perf_counter.name, "perf_%s_%s",
		   kernel ? "cpu" : "thread", counter->name);
	g_strdelimit(name, "-", '_');
	return add_context(m, &context, counter->name, error);
}

static bool add_contexts(const struct making *m, GError **error)
{
	for (unsigned i = 0; i < m->c->n_contexts; i++) {
		const char *name = m->c->contexts[i];
		struct lttng_event_context context = { .ctx = context_type(name) };
		if (!add_context(m, &context, name, error))
			return false;
	}
	for (unsigned i = 0; i < m->p->n_counters; i++)
		if (!add_counter(m, m->p->counters[i], error))
			return false;
	return true;
}

static void describe_event(const struct making *m, const struct plan_event *e,
			   struct lttng_event *ev)
{
	static const enum lttng_event_type types[] = {
		[PLAN_KIND_TRACEPOINT] = LTTNG_EVENT_TRACEPOINT,
		[PLAN_KIND_SYSCALLS] = LTTNG_EVENT_SYSCALL,
		[PLAN_KIND_KPROBE] = LTTNG_EVENT_PROBE,
	};
	ev->type = types[e->kind];
	g_strlcpy(ev->name, e->name, sizeof ev->name);
	ev->enabled = 1;
	ev->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	ev->loglevel = -1;
	if (m->domain == PLAN_UST && m->p->loglevel >= 0) {
		ev->loglevel_type = LTTNG_EVENT_LOGLEVEL_RANGE;
		ev->loglevel = m->p->loglevel;
	}
	if (e->kind != PLAN_KIND_KPROBE)
		return;
	g_strlcpy(ev->attr.probe.symbol_name, e->symbol, sizeof ev->attr.probe.symbol_name);
	ev->attr.probe.offset = e->offset;
}

/* Is the probe at the requested offset? Asks the daemon for probes with an offset only. */
static bool check_probe(const struct making *m, const struct plan_event *e, GError **error)
{
	struct lttng_event *events = NULL;
	uint64_t offset = 0;

	if (e->kind != PLAN_KIND_KPROBE || !e->offset)
		return true;
	int n = lttng_list_events(m->handle, m->c->name, &events);
	for (int i = 0; i < n; i++)
		if (strncmp(events[i].name, e->name, sizeof events[i].name) == 0)
			offset = events[i].attr.probe.offset;
	if (n > 0)
		free(events);
	return plan_probe_check(e, offset, error);
}

static bool add_event(const struct making *m, const struct plan_event *e, GError **error)
{
	struct lttng_event *ev = lttng_event_create();
	if (!ev)
		return fail(error, SESSION, "cannot describe the event '%s'", e->name);
	describe_event(m, e, ev);
	report(m->watch, "enabling the event", e->name);
	int code = lttng_enable_event(m->handle, ev, m->c->name);
	lttng_event_destroy(ev);
	if (code >= 0 || code == -LTTNG_ERR_KERN_EVENT_EXIST || code == -LTTNG_ERR_UST_EVENT_EXIST)
		return check_probe(m, e, error);
	if (e->kind == PLAN_KIND_KPROBE)
		return fail(error, SESSION, "cannot probe '%s': %s; is it in /proc/kallsyms, and may it be probed?",
			    e->symbol, lttng_strerror(code));
	return fail_code(error, code, m->p->session, "cannot enable the event '%s'", e->name);
}

static bool add_domain(const struct plan *p, enum plan_domain which,
		       const struct control_watch *watch, GError **error)
{
	struct lttng_domain domain;
	domain_init(&domain, which);
	struct making m = {
		p, which, &p->channel[which], lttng_create_handle(p->session, &domain), watch,
	};
	if (!m.handle)
		return fail(error, SESSION, "cannot describe the session '%s'", p->session);
	bool ok = add_channel(&m, error) && add_contexts(&m, error);
	for (guint i = 0; ok && i < m.c->events->len; i++)
		ok = add_event(&m, m.c->events->pdata[i], error);
	lttng_destroy_handle(m.handle);
	return ok;
}

bool control_make(const struct plan *p, const char *ctrl, const char *data, const char *output,
		  const struct control_watch *watch, GError **error)
{
	report(watch, "making the session", p->session);
	struct lttng_session_descriptor *d = p->timer_us ?
		lttng_session_descriptor_live_network_create(p->session, ctrl, data, p->timer_us) :
		lttng_session_descriptor_snapshot_local_create(p->session, output);
	if (!d)
		return fail(error, SESSION, "'%s' is not a valid session name, or '%s' not a valid place for it",
			    p->session,
			    p->timer_us ? ctrl : output);
	int code = lttng_create_session_ext(d);
	lttng_session_descriptor_destroy(d);
	if (code != LTTNG_OK)
		return fail_code(error, code, p->session, "cannot make the session '%s'", p->session);
	for (int i = 0; i < PLAN_DOMAINS; i++) {
		if (!plan_is_lttng(&p->channel[i]) || add_domain(p, i, watch, error))
			continue;
		lttng_destroy_session_no_wait(p->session);
		return false;
	}
	return true;
}

bool control_start(const char *session, GError **error)
{
	int code = lttng_start_tracing(session);
	return code >= 0 || fail_code(error, code, session, "cannot start the session '%s'", session);
}

static bool is_there(const char *session)
{
	g_autoptr(GPtrArray) all = control_sessions();
	for (guint i = 0; i < all->len; i++)
		if (g_str_equal(((const struct control_session *)all->pdata[i])->name, session))
			return true;
	return false;
}

bool control_destroy(const char *session, GError **error)
{
	int code = lttng_destroy_session(session);
	/* without its relay daemon, the session daemon reports an error but destroys the session */
	if (code >= 0 || !is_there(session))
		return true;
	return fail_code(error, code, session, "cannot destroy the session '%s'", session);
}

/* --- trackers --- */

static bool track_domain(const struct plan *p, enum plan_domain which, int pid, GError **error)
{
	struct lttng_process_attr_tracker_handle *handle = NULL;
	bool kernel = which == PLAN_KERNEL;
	int code = lttng_session_get_tracker_handle(p->session,
		kernel ? LTTNG_DOMAIN_KERNEL : LTTNG_DOMAIN_UST,
		kernel ? LTTNG_PROCESS_ATTR_PROCESS_ID : LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID, &handle);
	if (code != LTTNG_OK)
		return fail_code(error, code, p->session, "cannot follow process %d", pid);

	enum lttng_tracking_policy policy;
	int st = lttng_process_attr_tracker_handle_get_tracking_policy(handle, &policy);
	if (st == 0 && policy != LTTNG_TRACKING_POLICY_INCLUDE_SET)
		st = lttng_process_attr_tracker_handle_set_tracking_policy(
			handle, LTTNG_TRACKING_POLICY_INCLUDE_SET);
	if (st == 0)
		st = kernel ? lttng_process_attr_process_id_tracker_handle_add_pid(handle, pid) :
			lttng_process_attr_virtual_process_id_tracker_handle_add_pid(handle, pid);
	lttng_process_attr_tracker_handle_destroy(handle);
	return st == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ||
	       st == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS ||
	       fail(error, SESSION, "cannot follow process %d: the session daemon's tracker returned the error %d", pid,
		    st);
}

bool control_track(const struct plan *p, bool kernel_too, int pid, GError **error)
{
	if (kernel_too && plan_is_lttng(&p->channel[PLAN_KERNEL]) && !track_domain(p, PLAN_KERNEL, pid, error))
		return false;
	return track_domain(p, PLAN_UST, pid, error);
}

/* --- snapshots --- */

/* The directory on this machine that a snapshot session writes to; NULL: it has no output, or one on another machine
 * (*ret_elsewhere). */
static char *snapshot_output(const char *session, bool *ret_elsewhere)
{
	struct lttng_snapshot_output_list *list = NULL;
	char *path = NULL;

	*ret_elsewhere = false;
	if (lttng_snapshot_list_output(session, &list) < 0)
		return NULL;
	struct lttng_snapshot_output *out = lttng_snapshot_output_list_get_next(list);
	const char *url = out ? lttng_snapshot_output_get_ctrl_url(out) : NULL;
	if (url && g_str_has_prefix(url, "file://"))
		url += strlen("file://");
	if (url && url[0] == '/')
		path = g_strdup(url);
	else
		*ret_elsewhere = url != NULL && *url;
	lttng_snapshot_output_list_destroy(list);
	return path;
}

/* The first of the names in the directory that was not there before (NULL: none was). */
static char *new_name_in(const char *dir, GPtrArray *before)
{
	g_autoptr(GPtrArray) now = files_list(dir, SIZE_MAX);

	for (guint i = 0; now && i < now->len; i++)
		if (!before || !g_ptr_array_find_with_equal_func(before, now->pdata[i], g_str_equal, NULL))
			return g_build_filename(dir, now->pdata[i], NULL);
	return NULL;
}

#define SNAPSHOT_FAILS "cannot take a snapshot of '%s'"

static bool record(const char *session, const char *path, GError **error)
{
	struct lttng_snapshot_output *out = NULL;

	if (path) {
		out = lttng_snapshot_output_create();
		int set = out ? lttng_snapshot_output_set_local_path(path, out) : -LTTNG_ERR_NOMEM;
		if (set < 0) {
			lttng_snapshot_output_destroy(out);
			return fail_code(error, set, session, SNAPSHOT_FAILS, session);
		}
	}
	int code = lttng_snapshot_record(session, out, 1);
	if (out)
		lttng_snapshot_output_destroy(out);
	return code >= 0 || fail_code(error, code, session, SNAPSHOT_FAILS, session);
}

bool control_snapshot(const char *session, const char *fallback, char **ret_dir, GError **error)
{
	bool elsewhere;
	g_autofree char *output = snapshot_output(session, &elsewhere);
	const char *dir = output ? output : elsewhere ? NULL : fallback;
	g_autoptr(GPtrArray) before = dir ? files_list(dir, SIZE_MAX) : NULL;

	*ret_dir = NULL;
	if (!record(session, output || elsewhere ? NULL : fallback, error))
		return false;
	if (dir)
		*ret_dir = new_name_in(dir, before);
	return true;
}
