/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen as a command: see screen.h. A job reads on its own thread; the backend applies what it publishes. */
#include "cmd/screen.h"

#include "cli/config.h"
#include "cli/rule_files.h"
#include "app/debug_log.h"
#include "app/host_clocks.h"
#include "app/input.h"
#include "cmd/isolate.h"
#include "app/late_events.h"
#include "app/next_steps.h"
#include "cmd/local.h"
#include "app/messages.h"
#include "app/reading.h"
#include "app/relay.h"
#include "cmd/save.h"
#include "cmd/thresholds.h"
#include "ui/term.h"

#include "live/spool/spool.h"
#include "run/logjob.h"
#include "run/savejob.h"
#include "run/slice_dir.h"
#include "run/suggestjob.h"
#include "state/spans/presets.h"
#include "state/spans/rules.h"

#include "base/each.h"
#include "base/files.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "base/user.h"
#include "views/alerts.h"

#include <errno.h>
#include <gio/gio.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The screen waits this long for the first events before it opens, so that an error about an unreadable trace is
 * printed to the plain terminal. */
#define FIRST_PATIENCE_MS 400
#define SLICE_MS 10
/* Most bytes of the model for seconds that can be corrected, beside the timeline. */
#define MOST_CORRECTIONS (24 << 20)
#define READ_AT_ONCE (32 * 1024 * 1024)	/* bytes of packets; smaller traces are shown when they were read */

struct screen_run {
	const struct read_options *read;
	const struct shown_options *shown;
	const struct screen_options *o;
	struct input *in;
	struct job *job;
	struct timeline *tl;
	bool live;			/* events come while it is shown: */
	bool session;			/* from a relay daemon, not as slices of a directory */
	struct logjob *log;		/* NULL until the log is opened */
	int64_t log_newest_ns;		/* watched: newest instant when .log was opened */
	struct suggestjob *suggesting;	/* looks for rules, or NULL */
	uint64_t looked_at;		/* number of events when rules were last looked for */
	bool ended;			/* all was read when the screen ended */
	GPtrArray *suggested;		/* struct suggestion *; NULL: not known */
	char *suggestion;		/* visible text about .suggested, or NULL */
	char *suggested_rules;		/* the rules that were suggested and are in use, or NULL */
	struct savejob *saving;		/* of the range that is being saved, or NULL */
	struct late_reported late;
	bool missing_reported;
	/* A preview that was ready before the screen opened. */
	struct timeline *preview;
	struct decoded_range window;	/* range of the preview */
	bool preview_kernel, preview_ust;	/* a preview had such events */
	bool aligned;			/* clocks were moved */
	bool again;			/* clocks were moved, or rules changed just now: the trace must be read again */
	bool switched;			/* presets were chosen just now */
	char *moved;			/* message about that, or NULL */
	unsigned reported;		/* number of unread_message()'s messages that were taken */
	struct presets_used presets;	/* what was reported of them */
	struct alerts *alerts;		/* NULL: there are no thresholds */
	GQueue alert_lines;		/* char *: live, messages about them */
};

/* --- backend: state --- */

static int backend_fd(void *data)
{
	struct screen_run *s = data;
	return job_fd(s->job);
}

static struct job_status status_of(const struct screen_run *s)
{
	struct job_status st;
	job_get_status(s->job, &st);
	return st;
}

static void report_alert(void *data, const struct alert *alert, const char *reason)
{
	struct screen_run *s = data;
	g_queue_push_tail(&s->alert_lines, thresholds_report(s->read->running, alert, reason));
}

static void judge(struct screen_run *s)
{
	size_t n = timeline_n_seconds(s->tl);
	struct job_status st = status_of(s);
	if (s->alerts && n)
		alerts_update(s->alerts, s->tl, st.phase == JOB_DONE ? n : n - 1);
}

/* --- backend: suggested rules --- */

/* Rules are looked for once in a recorded trace. Of a session it is done each time that there are twice as many events,
 * and at its end: a pair may begin to be recorded at any time. */
static bool is_time_to_look(const struct screen_run *s, const struct job_status *st)
{
	if (s->suggesting || rules_n_own() || timeline_facts(s->tl)->has_spans || !timeline_has_events(s->tl))
		return false;
	if (st->phase == JOB_DONE)
		return !s->looked_at || (s->session && st->n_events > s->looked_at);
	return s->session && st->phase == JOB_LOADING && st->n_events > 2 * s->looked_at;
}

/* Where single events are; NULL: nowhere. */
static char **paths_of_events(struct screen_run *s)
{
	const char *const stored[] = { s->session ? input_stored_path(s->in) : NULL, NULL };

	if (s->session)
		return *stored ? g_strdupv((char **)stored) : NULL;
	return input_has_events(s->in, NULL) ? g_strdupv((char **)input_paths(s->in)) : NULL;
}

/* In a trace without spans: looks for events that could be spans. */
static void look_for_rules(struct screen_run *s)
{
	struct job_status st = status_of(s);
	if (!is_time_to_look(s, &st))
		return;
	s->looked_at = st.n_events;
	g_auto(GStrv) paths = paths_of_events(s), names = timeline_event_names(s->tl);
	g_autofree char *by_names = paths || s->session ? NULL : suggest_names_text((const char *const *)names);
	if (by_names) {
		g_autofree char *text = text_visible(by_names);
		g_free(s->suggestion);
		s->suggestion = g_strdup_printf("%s. Slices have no single events to pair: blktop -b --suggest-rules "
						"PACKETS >FILE, then map --spans FILE.", text);
	}
	if (paths)
		s->suggesting = suggestjob_new((const char *const *)paths, s->read->reader == READER_BT2,
					       (const char *const *)names, job_fd(s->job));
}

/* True: something is suggested now, or with newer counts. */
static bool take_rules(struct screen_run *s)
{
	g_autoptr(GPtrArray) found = NULL;
	bool done = s->suggesting && suggestjob_take(s->suggesting, &found);

	if (s->session && (done || (s->suggesting && suggestjob_failed(s->suggesting))))
		g_clear_pointer(&s->suggesting, suggestjob_free);
	if (!done || (s->suggested && !found->len))
		return false;
	g_clear_pointer(&s->suggested, g_ptr_array_unref);
	s->suggested = g_steal_pointer(&found);
	if (!s->suggested->len)
		return false;
	g_autofree char *text = suggest_text(s->suggested);
	g_free(s->suggestion);
	s->suggestion = text_visible(text);
	log_note("%s", s->suggestion);
	return true;
}

/* Of a session, what was suggested while the first spans of a preset were not complete is no longer true. */
static const char *backend_suggestion(void *data)
{
	const struct screen_run *s = data;
	return timeline_facts(s->tl)->has_spans && !rules_n_own() ? NULL : s->suggestion;
}

static bool backend_suggested_spans(void *data, char **ret_rules, char **ret_message)
{
	struct screen_run *s = data;

	if (s->suggested && s->suggested->len) {
		s->suggested_rules = suggest_rules(s->suggested);
		s->again = true;
		return true;
	}
	*ret_rules = g_strdup(s->suggested_rules);
	*ret_message = g_strdup(timeline_facts(s->tl)->has_spans ? "this trace has spans" :
				s->session && !input_stored_path(s->in) ?
				"pairs are found in stored packets, and none are stored" :
				!s->session && !input_has_events(s->in, NULL) ?
				"slices have no single events: blktop -b --suggest-rules PACKETS, map --spans FILE" :
				s->suggesting && !s->suggested ? "not known yet: events are still being paired" :
				"no events look like the beginning and end of a span: --spans FILE takes rules");
	return false;
}

/* --- backend: presets --- */

/* What the user can switch to: "none" if some are used, else those that fit. NULL: none fits. */
static char *other_presets(const struct screen_run *s, char **ret_now)
{
	g_auto(GStrv) events = timeline_event_names(s->tl);
	g_autoptr(GPtrArray) used = presets_in_use((const char *const *)events);
	g_autoptr(GPtrArray) offered = presets_on_offer((const char *const *)events);
	g_autofree char *names = presets_names(offered, ",");

	*ret_now = presets_names(used, ",");
	if (used->len)
		return g_strdup(PRESETS_NONE);
	return offered->len ? g_strdup_printf(PRESETS_AUTO ",%s", names) : NULL;
}

static char *backend_presets(void *data)
{
	g_autofree char *now = NULL, *other = other_presets(data, &now);

	return !other ? NULL : *now ? g_strdup_printf("%s: used; Enter reads again without presets", now) :
		g_strdup_printf("%s: not used; Enter reads again with it", other + strlen(PRESETS_AUTO ","));
}

static bool backend_switch_presets(void *data, char **ret_message)
{
	struct screen_run *s = data;
	g_autoptr(GError) error = NULL;
	g_autofree char *now = NULL, *other = other_presets(s, &now);

	if (!other || !presets_choose(other, &error)) {
		*ret_message = g_strdup(error ? error->message : "no preset fits this trace");
		return false;
	}
	if (s->o->prefs) {
		g_free(s->o->prefs->presets);
		s->o->prefs->presets = g_strdup(other);
	}
	s->again = s->switched = true;
	return true;
}

/* Before the trace is read again. */
static bool use_rules(struct screen_run *s)
{
	g_autoptr(GError) error = NULL;
	bool suggested = s->suggested_rules && !rules_n_own();

	if (!suggested && !s->switched)
		return true;
	s->switched = false;
	if (!rule_files_install(s->suggested_rules, &error)) {
		log_error("%s", error->message);
		return false;
	}
	size_t n = rules_n_own();
	g_free(s->moved);
	s->moved = suggested ? g_strdup_printf("spans by %zu suggested rule%s: Y saves %s for --spans", n,
					       n == 1 ? "" : "s", n == 1 ? "it" : "them") :
		   g_strdup_printf("presets: %s", presets_chosen());
	return true;
}

static bool backend_pump(void *data)
{
	struct screen_run *s = data;
	bool changed = job_collect(s->job, s->tl);
	look_for_rules(s);
	changed |= take_rules(s);
	judge(s);
	debug_reading(s->job, s->in, s->tl);
	return changed;
}

static void backend_cancel(void *data)
{
	struct screen_run *s = data;
	log_note("loading stopped by the user");
	job_cancel(s->job);
}

/* Does the part that was read have kernel events? */
static bool has_kernel(const struct timeline *tl)
{
	static const char *const kernel_events[] = {
		"sched_switch", "syscall_entry_read", "sys_read", "sched_waking",
		"lttng_statedump_start", "block_rq_issue",
	};
	bool kernel = false;
	for (size_t i = 0; i < G_N_ELEMENTS(kernel_events); i++)
		kernel = kernel || timeline_has_event(tl, kernel_events[i]);
	return kernel;
}

static const char *domains(const struct screen_run *s)
{
	bool kernel = s->preview_kernel || has_kernel(s->tl);
	bool ust = s->preview_ust || timeline_facts(s->tl)->has_spans;
	if (!kernel && timeline_facts(s->tl)->has_spans && !timeline_has_events(s->tl))
		return " spans";	/* from a file of spans */
	return kernel && ust ? " kernel+ust" : kernel ? " kernel" : ust ? " ust" : "";
}

/* A stream that is no longer waited for. Its age is rounded to 10 s, since each change is a new message. */
static char *stalled_text(const struct live_status *st)
{
	int64_t behind = st->stalled_ns == INT64_MIN ? 0 :
		(g_get_real_time() * NS_PER_US - st->stalled_ns) / (10 * NS_PER_S) * 10;
	g_autofree char *more = st->stalled > 1 ? g_strdup_printf(" and %u more", st->stalled - 1) : NULL;
	g_autofree char *since = behind > 0 ?
		g_strdup_printf("for more than %" G_GINT64_FORMAT " s", behind) : NULL;

	return g_strdup_printf("stream %s%s is silent%s%s: the others go on without it",
			       st->stalled_name, more ? more : "", since ? " " : "", since ? since : "");
}

/* The last part of its name identifies it. */
static void fill_stalled(const struct live_status *st, struct ui_status *ret)
{
	g_autofree char *visible = text_visible(st->stalled_name);
	const char *slash = strrchr(visible, '/');

	ret->stalled_ns = st->stalled_ns;
	g_strlcpy(ret->stalled, slash && slash[1] ? slash + 1 : *visible ? visible : "a stream",
		  sizeof ret->stalled);
}

static void fill_live_status(struct screen_run *s, const struct job_status *job, struct ui_status *ret)
{
	struct live_status st;
	if (!input_live_status(s->in, &st))
		return;
	ret->lag_ns = st.lag_ns;
	ret->late = st.late;
	if (st.stalled)
		fill_stalled(&st, ret);
	char clock[TIMEFMT_LEN];
	g_autofree char *stalled = st.stalled ? stalled_text(&st) : NULL;
	g_autofree char *trouble = input_store_trouble(s->in);
	g_autofree char *left_out = reading_left_out(job);
	g_autofree char *visible = text_visible(st.message[0] ? st.message : left_out ? left_out :
						stalled ? stalled : trouble);
	if (st.message[0] && !st.connected)
		g_snprintf(ret->banner, sizeof ret->banner, "since %s: %s",
			   timefmt_clock(clock, st.since_ns), visible);
	else
		g_strlcpy(ret->banner, visible, sizeof ret->banner);
	ret->calm = !*ret->banner && st.quiet_ns != INT64_MIN;
	if (ret->calm)
		g_snprintf(ret->banner, sizeof ret->banner,
			   "no event since %s: nothing happens, or tracing is stopped (lttng start)",
			   timefmt_clock(clock, st.quiet_ns));
}

static void fill_end(const struct job_status *st, struct ui_status *ret)
{
	g_autofree char *missing = st->has_missing ? missing_text(&st->missing) : NULL;
	g_autofree char *text = missing ? g_strdup_printf("the session has ended, %s", missing) : NULL;

	g_strlcpy(ret->banner, text ? text : "the session has ended", sizeof ret->banner);
}

static void backend_status(void *data, struct ui_status *ret)
{
	static const enum ui_phase phases[] = {
		[JOB_OPENING] = UI_OPENING, [JOB_LOADING] = UI_LOADING, [JOB_DONE] = UI_DONE,
		[JOB_CANCELLED] = UI_CANCELLED, [JOB_FAILED] = UI_FAILED,
	};
	struct screen_run *s = data;
	local_tick(s->read->running, s->in);
	struct job_status st = status_of(s);
	*ret = (struct ui_status){
		.phase = s->live && st.phase == JOB_LOADING ? UI_LIVE : phases[st.phase],
		.progress = st.progress, .n_events = st.n_events,
		.events_per_s = st.events_per_s, .lag_ns = -1,
		.pieces_done = st.pieces_done, .pieces = st.pieces,
		.final_to_ns = st.final_to_ns, .index_progress = st.index_progress,
	};
	if (st.reader) {
		g_autofree char *visible = text_visible(st.reader);
		g_strlcpy(ret->reader, visible, sizeof ret->reader);
	}
	g_snprintf(ret->source, sizeof ret->source, "%s%s%s", input_label(s->in), domains(s),
		   s->aligned ? " aligned" : "");
	ret->stored = s->session && input_stored_from(s->in, &ret->stored_from_ns);
	if (s->live && st.phase <= JOB_LOADING)
		fill_live_status(s, &st, ret);
	else if (s->session && st.phase == JOB_DONE)
		fill_end(&st, ret);
	if (st.phase == JOB_FAILED) {
		g_autofree char *visible = text_visible(st.message);
		g_strlcpy(ret->banner, visible, sizeof ret->banner);
	}
}

static char *backend_nothing(void *data)
{
	struct screen_run *s = data;
	struct job_status st = status_of(s);
	if (s->read->watch && st.phase == JOB_LOADING)
		return next_steps_watched(s->read->paths[0]);
	if (!s->session || (st.phase != JOB_LOADING && st.phase != JOB_DONE))
		return NULL;
	return s->read->local ? local_nothing(s->read->running, st.phase == JOB_DONE) :
		next_steps_silent_session(input_label(s->in), st.phase == JOB_DONE);
}

static bool backend_align(void *data, char **ret_message)
{
	struct screen_run *s = data;
	if (!hosts_can_align(s->read, ret_message))
		return false;
	struct job_status st = status_of(s);
	if (!s->live && st.phase <= JOB_LOADING) {
		*ret_message = g_strdup("cannot align clocks yet: not all calls between hosts were read");
		return false;
	}
	g_autofree char *message = NULL;
	s->again = hosts_move(s->tl, &message);
	log_note("%s", message);
	*ret_message = text_visible(message);
	if (s->again) {
		g_free(s->moved);
		s->moved = g_strdup(*ret_message);
		s->aligned = true;
	}
	return s->again;
}

/* --- backend: a session of this machine --- */

/* After a recorded trace was read: the next message about what could not be read; NULL: none. */
static char *unread_message(struct screen_run *s, bool *ret_error)
{
	struct job_status st;
	char *text = NULL;

	job_get_status(s->job, &st);
	if (s->live || st.phase <= JOB_LOADING)
		return NULL;
	struct completeness completeness = timeline_facts(s->tl)->completeness;
	for (; s->reported < 2 && !text; s->reported++) {
		g_autofree char *line = s->reported ? reading_left_out(&st) : reading_damaged(&completeness);
		text = line ? text_visible(line) : NULL;
	}
	*ret_error = text != NULL;
	return text;
}

/* A slice that was left out; NULL: none. */
static char *left_out_message(struct screen_run *s, bool *ret_error)
{
	g_autofree char *line = job_take_message(s->job);

	if (!line)
		return NULL;
	log_note("%s", line);
	*ret_error = true;
	return text_visible(line);
}

static char *backend_next_message(void *data, bool *ret_error)
{
	struct screen_run *s = data;
	struct job_status st;
	char *text = local_next_message(s->read->running, ret_error);

	if (!text && (text = g_queue_pop_head(&s->alert_lines))) {
		*ret_error = true;
		return text;
	}
	if (!text && (text = presets_used_next(&s->presets, s->tl))) {
		log_note("%s", text);
		*ret_error = false;
	}
	if (text || !s->session)
		return text ? text : s->live ? left_out_message(s, ret_error) : unread_message(s, ret_error);
	job_get_status(s->job, &st);
	*ret_error = false;
	text = late_report(&s->late, &st, g_get_monotonic_time());
	struct live_status live;
	/* While the connection has a problem, the banner describes it. */
	bool troubled = input_live_status(s->in, &live) && live.message[0];
	if (text || troubled || !st.has_missing || !st.missing.gave_up || s->missing_reported)
		return text;
	s->missing_reported = true;
	return missing_text(&st.missing);
}

static bool backend_snapshot(void *data, char **ret_message)
{
	struct screen_run *s = data;
	return local_snapshot(s->read->running, ret_message);
}

/* --- backend: a trace before it is read --- */

static struct outline *backend_outline(void *data)
{
	struct screen_run *s = data;
	return s->live ? NULL : job_outline(s->job);
}

static bool fetch_preview(struct screen_run *s)
{
	struct decoded_range window;
	struct timeline *fresh = job_take_preview(s->job, &window);
	if (!fresh)
		return false;
	if (s->preview)
		timeline_free(s->preview);
	s->preview = fresh;
	s->window = window;
	s->preview_kernel |= has_kernel(fresh);
	s->preview_ust |= timeline_facts(fresh)->has_spans;
	return true;
}

static struct timeline *backend_preview(void *data, struct decoded_range *ret)
{
	struct screen_run *s = data;
	fetch_preview(s);
	*ret = s->window;
	return g_steal_pointer(&s->preview);
}

static void backend_show_range(void *data, const struct view_range *range)
{
	struct screen_run *s = data;
	job_show_range(s->job, range);
}

/* --- backend: the log --- */

/* What the log is read from. Without packets these are slice files: its error says which are missing. */
static char **log_paths(const struct screen_run *s)
{
	const char *const stored[] = { s->session ? input_stored_path(s->in) : NULL, NULL };
	char **paths = s->session ? g_strdupv((char **)stored) : input_packets(s->in, INT64_MIN, INT64_MAX, NULL);

	if (!paths && s->read->watch)
		paths = slice_dir_files(s->read->paths[0]);
	return paths ? paths : g_strdupv((char **)input_paths(s->in));
}

/* There are more chunks now. */
static void renew_log(struct screen_run *s)
{
	struct job_status st = status_of(s);
	if (!s->read->watch || s->log_newest_ns == st.newest_ns)
		return;
	s->log_newest_ns = st.newest_ns;
	g_clear_pointer(&s->log, logjob_free);
}

static void backend_log_ask(void *data, const struct calllog_want *want)
{
	struct screen_run *s = data;
	renew_log(s);
	g_auto(GStrv) paths = s->log ? NULL : log_paths(s);
	if (!s->log)
		s->log = logjob_new((const char *const *)paths, s->read->reader == READER_BT2, job_fd(s->job));
	struct calllog_want now = *want;
	struct job_status st;

	if (s->live) {
		job_get_status(s->job, &st);
		/* While reading continues, the log is complete up to what the merge has passed. */
		now.until_ns = st.phase == JOB_LOADING && st.newest_ns != TIME_UNKNOWN ? st.newest_ns : 0;
		if (s->session)
			logjob_refresh(s->log);
	}
	logjob_ask(s->log, &now);
}

static struct calllog_window *backend_log_take(void *data)
{
	struct screen_run *s = data;
	return s->log ? logjob_take(s->log) : NULL;
}

/* --- backend: files --- */

static char *scp_hint(const char *absolute)
{
	char host[HOST_NAME_MAX + 1] = "";
	if (gethostname(host, sizeof host - 1) < 0 || !host[0])
		g_strlcpy(host, "HOST", sizeof host);
	g_autofree char *from = g_strdup_printf("%s:%s", host, absolute);
	g_autofree char *quoted = text_shell_quote(from);
	return g_strdup_printf("scp %s .", quoted);
}

static char *wrote(const char *absolute, const char *what, size_t bytes)
{
	g_autofree char *visible = text_visible(absolute);
	g_autofree char *scp = scp_hint(absolute);
	g_autofree char *scp_visible = text_visible(scp);
	g_autofree char *size = bytes < 1024 ? g_strdup_printf("%zu B", bytes)
			      : bytes < 1 << 20 ? g_strdup_printf("%.1f KiB", (double)bytes / 1024)
			      : g_strdup_printf("%.1f MiB", (double)bytes / (1 << 20));
	return g_strdup_printf("wrote %s: %s%s   %s", visible, what, size, scp_visible);
}

static bool give_up(char **ret_message, const GError *error)
{
	*ret_message = text_visible(error->message);
	log_note("%s", error->message);
	return false;
}

static bool backend_export_span(void *data, const struct ui_export *what, char **ret_message)
{
	struct screen_run *s = data;
	struct span_selection selection = { .trace_id = what->trace_id, .span_id = what->span_id,
					    .trace_zero = what->trace_zero,
					    .with_kernel = what->with_kernel };
	enum span_format format = (enum span_format)0;
	g_autoptr(GError) error = NULL;
	g_autofree char *absolute = NULL;
	unsigned n = 0;

	if (what->format)
		span_format_parse(what->format, &format);
	g_autofree char *text = span_export(what->tl ? what->tl : s->tl, &selection,
					    format, &n, &error);
	if (!text)
		return give_up(ret_message, error);
	g_autofree char *name = what->path ? g_strdup(what->path) : span_export_name(&selection);
	size_t len = strlen(text);
	if (!export_write_file(name, text, len, false, &absolute, &error))
		return give_up(ret_message, error);
	g_autofree char *spans = g_strdup_printf("%u span%s, ", n, n == 1 ? "" : "s");
	*ret_message = wrote(absolute, spans, len);
	log_note("%s", *ret_message);
	return true;
}

/* By suffix, as .csv; else, or if the view has no such rows, aligned text. */
static enum rows_format format_of(bool csv_safe, const struct view *v, const char *path)
{
	enum rows_format format = rows_format_of_path(path);

	if (rows_format_info[format].use == ROWS_PATHS && !rows_can_fold(v))
		format = FORMAT_TEXT;
	return format == FORMAT_CSV && csv_safe ? FORMAT_CSV_SAFE : format;
}

/* Expands ~/ as shells do. */
static char *place_of(const char *path)
{
	return g_str_has_prefix(path, "~/") ? g_build_filename(g_get_home_dir(), path + 2, NULL) :
		g_strdup(path);
}

static enum ui_saved backend_save_text(void *data, const struct ui_save_text *what, char **ret_message)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *absolute = NULL, *path = place_of(what->path);
	size_t len = strlen(what->text);

	(void)data;
	if (export_write_file(path, what->text, len, what->force, &absolute, &error)) {
		*ret_message = wrote(absolute, "", len);
		return UI_SAVED;
	}
	*ret_message = text_visible(error->message);
	return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_EXISTS) ? UI_SAVE_EXISTS : UI_SAVE_FAILED;
}

static enum ui_saved backend_save_view(void *data, const struct ui_save *what, char **ret_message)
{
	const struct screen_run *s = data;
	enum rows_format format = format_of(s->o->csv_safe, what->view, what->path);
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	bool ok = memory && rows_print(memory, what->view, what->rows, format, true);
	enum ui_saved saved = UI_SAVE_FAILED;

	ok = memory && fclose(memory) == 0 && ok;
	if (ok)
		saved = backend_save_text(data, &(struct ui_save_text){ text, what->path, what->force }, ret_message);
	else
		*ret_message = text_visible(g_strerror(errno));
	free(text);
	return saved;
}

static bool backend_save_trace(void *data, const struct ui_save_trace *what, char **ret_message)
{
	struct screen_run *s = data;
	g_autofree char *path = place_of(what->path);
	const char *const stored[] = { s->session ? input_stored_path(s->in) : NULL, NULL };
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) packets = s->session ? NULL : input_packets(s->in, what->from_ns, what->to_ns, &error);
	struct trace_cut cut = {
		.paths = s->session ? stored : (const char *const *)packets,
		.from_ns = what->from_ns, .to_ns = what->to_ns, .statedump = what->statedump, .to = path,
	};

	if (s->saving) {
		*ret_message = g_strdup("the range before is still being saved");
		return false;
	}
	if (files_exists(path)) {
		*ret_message = g_strdup("it already exists");
		return false;
	}
	if (error) {
		*ret_message = text_visible(error->message);
		return false;
	}
	s->saving = savejob_new(&cut, job_fd(s->job));
	return true;
}

static char *backend_saved_trace(void *data, bool *ret_done)
{
	struct screen_run *s = data;
	struct trace_cut_result r;
	g_autoptr(GError) error = NULL;
	char *message = NULL;

	if (!s->saving || !savejob_take(s->saving, &r, &error))
		return NULL;
	*ret_done = !error;
	if (error) {
		give_up(&message, error);
	} else {
		g_autofree char *what = save_describe(savejob_cut(s->saving), &r);
		config_copy_bookmarks(s->in, r.path, r.from_ns, r.to_ns);
		g_autofree char *visible = text_visible(r.path);
		message = g_strdup_printf("wrote %s: %s", visible, what);
		log_note("%s", message);
		g_free(r.path);
	}
	g_clear_pointer(&s->saving, savejob_free);
	return message;
}

static bool backend_save_prefs(void *data, char **ret_message)
{
	struct screen_run *s = data;
	return config_save(s->o->prefs, ret_message);
}

static bool backend_read_bookmarks(void *data, char **ret_text, size_t *ret_len, char **ret_message)
{
	struct screen_run *s = data;
	g_autoptr(GError) error = NULL;

	if (!config_read_bookmarks(s->in, ret_text, ret_len, &error))
		*ret_message = text_visible(error->message);
	return !error;
}

static bool backend_write_bookmarks(void *data, const char *text, char **ret_message)
{
	struct screen_run *s = data;
	g_autoptr(GError) error = NULL;

	if (!config_write_bookmarks(s->in, text, &error))
		*ret_message = text_visible(error->message);
	return !error;
}

static void backend_note(void *data, const char *text)
{
	(void)data;
	log_note("screen: %s", text);
}

static void backend_debug(void *data, const char *text)
{
	(void)data;
	log_debug("screen: %s", text);
}

/* --columns and --sort set what could be chosen on the screen. */
static void take_columns(const struct shown_options *o, struct prefs *prefs)
{
	if (!o->view || !prefs)
		return;
	if (o->n_columns) {
		g_autoptr(GString) ids = g_string_new(NULL);

		for (size_t i = 0; i < o->n_columns; i++)
			g_string_append_printf(ids, "%s%s", i ? "," : "",
					       o->view->columns[o->columns[i]].id);
		prefs_view_set_columns(prefs, o->view->id, ids->str);
	}
	if (o->sort >= 0) {
		const struct column *c = &o->view->columns[o->sort];
		g_autofree char *sort = g_strconcat(o->sort_descending == c->descending ? "" : "-",
						    c->id, NULL);

		prefs_view_set_sort(prefs, o->view->id, sort);
	}
}

/* --- start and end --- */

/* Starts storing packets on disk. If that fails, the session continues without a log, with a warning; with --spool it
 * is an error. */
static int keep_packets(struct screen_run *s)
{
	const struct read_options *read = s->read;
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = read->spool ? g_strdup(read->spool) : spool_default_dir();

	if (!read->stores || input_store(s->in, dir, read->spool_size, &error))
		return EXIT_FINE;
	if (!read->spool) {
		g_autofree char *visible = text_visible(error->message);
		log_note("packets are not stored: %s", error->message);
		g_ptr_array_add(s->o->prefs->warnings, g_strdup_printf("packets are not stored: %s", visible));
		return EXIT_FINE;
	}
	log_error("--spool: %s", error->message);
	return EXIT_FAILED;
}

static int open_input(struct screen_run *s, bool *ret_left)
{
	const struct read_options *read = s->read;

	*ret_left = false;
	if (s->session) {
		int code;
		const struct ui_options ui = { .live = true, .ascii = s->shown->ascii, .color = s->o->color,
					       .prefs = s->o->prefs, .at_ns = TIME_UNKNOWN };
		GArray *urls = relay_choose(read, term_problem() ? NULL : &ui, &code);
		if (urls)
			s->in = input_new_live(urls, &read->relay);
		*ret_left = !urls && code == EXIT_FINE;
		return urls && !term_problem() ? keep_packets(s) : code;
	}
	s->in = input_new_paths((const char *const *)read->paths, read->reader, read->watch);
	return EXIT_FINE;
}

static bool has_outline(struct screen_run *s)
{
	struct outline *o = job_outline(s->job);
	outline_unref(o);
	return o != NULL;
}

/* A small trace is shown when it was read, at its worst second. A large one is shown with a preview of its end. */
static bool is_shown_early(struct screen_run *s)
{
	struct outline *o = job_outline(s->job);
	bool early = o && o->bytes > READ_AT_ONCE && fetch_preview(s);
	outline_unref(o);
	return early;
}

/* Waits for the first events, or until it is clear that none will come. */
static bool wait_first(struct screen_run *s)
{
	struct job_status st;
	gint64 opened = 0;

	for (;;) {
		struct pollfd rings = { .fd = job_fd(s->job), .events = POLLIN };
		poll(&rings, 1, SLICE_MS);
		bool ended = job_wait(s->job, s->tl, 0);
		judge(s);
		local_tick(s->read->running, s->in);
		debug_reading(s->job, s->in, s->tl);
		job_get_status(s->job, &st);
		if (ended || is_shown_early(s) || (!has_outline(s) && timeline_n_seconds(s->tl) > 0))
			break;
		/* Connecting to a relay daemon has its own time limit. */
		if (!opened && (st.phase == JOB_LOADING || !s->live))
			opened = g_get_monotonic_time();
		if (opened && g_get_monotonic_time() - opened > FIRST_PATIENCE_MS * 1000)
			break;
	}
	if (st.phase == JOB_FAILED && st.n_events == 0)
		log_error("%s%s", st.message, s->session ? next_steps_no_session : "");
	else if (st.phase == JOB_DONE && st.n_events == 0)
		log_error("no events in '%s'%s", input_label(s->in), next_steps_no_events);
	else
		return true;
	return false;
}

/* First and last instant of the trace, as far as they are known. */
static bool known_bounds(struct screen_run *s, int64_t *ret_first, int64_t *ret_last, bool *ret_all)
{
	struct outline *o = job_outline(s->job);
	*ret_all = o && o->complete;
	bool known = o != NULL;
	if (known) {
		*ret_first = o->from_ns;
		*ret_last = o->to_ns - 1;
	}
	outline_unref(o);
	return known || timeline_coverage(s->tl, ret_first, ret_last);
}

/* --at: waits until the beginning of the trace is known, for "end", "5%" and a time of day also its end. *ret_choice:
 * see timefmt_parse_instant(). */
static bool find_start(struct screen_run *s, int64_t *ret_at, char **ret_choice)
{
	const char *at = s->read->at;
	g_autoptr(GError) error = NULL;
	int64_t first, last;

	*ret_at = TIME_UNKNOWN;
	if (!at)
		return true;
	bool whole = strpbrk(at, "%:") || g_str_equal(at, "end");
	bool all;
	while (!job_wait(s->job, s->tl, SLICE_MS))
		if (known_bounds(s, &first, &last, &all) && (all || (!whole && !has_outline(s))))
			break;
	if (!known_bounds(s, &first, &last, &all))
		return true;
	const struct time_scope scope = { first, first, last, INT64_MIN };
	if (timefmt_parse_instant(at, &scope, ret_at, ret_choice, &error))
		return true;
	log_error("--at: %s", error->message);
	return false;
}

/* --screenshot, of a trace that is read whole first. */
static int write_screenshot(struct screen_run *s, struct ui_options *options, const struct ui_backend *backend)
{
	const struct screen_options *o = s->o;
	g_autoptr(GError) error = NULL;
	g_autofree char *svg = NULL, *absolute = NULL, *visible = NULL, *choice = NULL;
	struct job_status st;

	if (!find_start(s, &options->at_ns, &choice))
		return EXIT_USAGE;
	if (choice)
		log_error("--at: %s", choice);
	while (!job_wait(s->job, s->tl, SLICE_MS))
		;
	judge(s);
	look_for_rules(s);
	while (s->suggesting && !take_rules(s) && !s->suggested && !suggestjob_failed(s->suggesting))
		poll(&(struct pollfd){ .fd = job_fd(s->job), .events = POLLIN }, 1, SLICE_MS);
	debug_reading(s->job, s->in, s->tl);
	job_get_status(s->job, &st);
	if (st.phase == JOB_FAILED) {
		log_error("%s", st.message);
		return EXIT_FAILED;
	}
	svg = ui_screenshot(options, backend, s->tl, o->size.rows, o->size.cols);
	if (!export_write_file(o->screenshot, svg, strlen(svg), o->force, &absolute, &error)) {
		log_error("--screenshot: %s", error->message);
		return EXIT_FAILED;
	}
	visible = text_visible(absolute);
	fprintf(stderr, "wrote %s\n", visible);
	return EXIT_FINE;
}

static bool counts_threads(const struct shown_options *o)
{
	return reading_counts_threads(o->view, o->by) || thresholds_count_threads(o->thresholds);
}

static int run_ui(struct screen_run *s)
{
	const struct read_options *read = s->read;
	const struct shown_options *shown = s->shown;
	g_autofree char *filters = isolate_describe(), *user = user_describe(), *choice = NULL;
	g_autofree char *isolation = g_strdup_printf("%s; %s", filters, user);
	bool has_packets = !s->session || input_stored_path(s->in);
	struct ui_backend backend = {
		.data = s, .fd = backend_fd, .pump = backend_pump, .status = backend_status,
		.nothing = backend_nothing,
		.cancel = backend_cancel, .export_span = backend_export_span, .export_formats = span_format_ids,
		.save_view = backend_save_view, .save_text = backend_save_text, .outline = backend_outline,
		.preview = backend_preview, .show_range = backend_show_range,
		.log_ask = has_packets ? backend_log_ask : NULL,
		.log_take = has_packets ? backend_log_take : NULL,
		.save_trace = has_packets ? backend_save_trace : NULL,
		.saved_trace = has_packets ? backend_saved_trace : NULL,
		.read_bookmarks = backend_read_bookmarks, .write_bookmarks = backend_write_bookmarks,
		.save_prefs = backend_save_prefs, .note = backend_note, .debug = backend_debug,
		.next_message = backend_next_message, .snapshot = backend_snapshot,
		/* This machine has one clock, and so have slices. */
		.suggestion = backend_suggestion, .suggested_spans = backend_suggested_spans,
		.presets = backend_presets, .switch_presets = backend_switch_presets,
		.align = read->local || read->watch ? NULL : backend_align,
	};
	take_columns(shown, s->o->prefs);
	struct ui_options options = {
		.live = s->live, .watched = read->watch, .ascii = shown->ascii, .coach = read->demo,
		.color = s->o->color, .step_ns = read->step_ns,
		.start_view = shown->view ? shown->view->id : NULL,
		.start_by = shown->view ? view_by_words[shown->by] : NULL, .start_metric = &shown->metric,
		.counts_threads = counts_threads(shown), .filter = shown->filter,
		.prefs = s->o->prefs, .message = s->moved, .alerts = s->alerts, .isolation = isolation,
	};
	if (s->o->screenshot)
		return write_screenshot(s, &options, &backend);
	/* Checked late, so that errors about the trace come first. */
	const char *problem = term_problem();
	if (problem) {
		log_error("%s; 'blktop -b --view VIEW' prints without one", problem);
		return EXIT_FAILED;
	}
	if (!find_start(s, &options.at_ns, &choice))
		return EXIT_USAGE;
	if (!s->moved)
		options.message = choice;
	debug_reading(s->job, s->in, s->tl);	/* reading may have ended in find_start() */
	look_for_rules(s);

	int code = ui_run(&options, &backend, s->tl);
	struct job_status st = status_of(s);
	if (code != EXIT_FINE || st.phase != JOB_FAILED)
		return code;
	log_error("%s", st.message);
	return EXIT_FAILED;
}

/* Reads and shows once, and frees everything. */
static int run_once(struct screen_run *s)
{
	const struct read_options *read = s->read;
	const struct shown_options *shown = s->shown;
	struct job_options options = {
		.model.live = s->session, .model.provisional = s->session,
		.model.memory_budget = MIN(read->memory / 16, MOST_CORRECTIONS),
		.memory = read->memory, .preview = true, .threads = read->jobs, .slices = read->slices,
	};
	if (!reading_can_count(s->in, shown->view, shown->by))
		return EXIT_FAILED;
	log_note("reading %s", input_label(s->in));
	s->tl = timeline_new(reading_timeline_memory(read));
	input_count_threads(s->in, counts_threads(shown));
	if (read->chunks)
		input_chunks(s->in, (const char *const *)read->chunks);
	if (read->caches)
		input_cache(s->in, read->cache_size, read->cache_after_ns);
	s->job = input_start(s->in, &options);
	bool begun = thresholds_begin(shown, &s->alerts);
	if (s->alerts && s->live)
		alerts_on_alert(s->alerts, report_alert, s);
	int code = begun && wait_first(s) ? run_ui(s) : EXIT_FAILED;
	struct job_status st = status_of(s);
	s->ended = st.phase == JOB_DONE;
	s->looked_at = 0;
	g_clear_pointer(&s->log, logjob_free);		/* these signal the job's fd, so they end first */
	g_clear_pointer(&s->suggesting, suggestjob_free);
	g_clear_pointer(&s->suggested, g_ptr_array_unref);
	g_clear_pointer(&s->suggestion, g_free);
	presets_used_clear(&s->presets);
	g_clear_pointer(&s->saving, savejob_free);
	g_clear_pointer(&s->job, job_free);
	g_clear_pointer(&s->alerts, alerts_free);
	g_queue_clear_full(&s->alert_lines, g_free);
	g_clear_pointer(&s->tl, timeline_free);
	g_clear_pointer(&s->preview, timeline_free);
	return code;
}

static int prepare_again(struct screen_run *s)
{
	s->late = (struct late_reported){ 0 };
	/* What came of a stream does not come again. */
	if (s->session && (s->ended || s->read->stream) && input_again_stored(s->in))
		s->live = s->session = false;
	else
		input_again(s->in);
	return !use_rules(s) ? EXIT_FAILED : s->session ? keep_packets(s) : EXIT_FINE;
}

int screen_run(const struct read_options *read, const struct shown_options *shown, const struct screen_options *o)
{
	struct screen_run s = {
		.read = read, .shown = shown, .o = o, .live = read->live, .session = read->live && !read->watch,
		.aligned = read->align_hosts,
	};
	bool left;

	int code = open_input(&s, &left);
	if (code == EXIT_FINE && !left)
		code = run_once(&s);
	while (code == EXIT_FINE && s.again) {
		s.again = false;
		code = prepare_again(&s);
		if (code == EXIT_FINE)
			code = run_once(&s);
	}
	input_unref(s.in);
	g_free(s.suggested_rules);
	g_free(s.moved);
	return code;
}
