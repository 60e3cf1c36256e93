/* SPDX-License-Identifier: GPL-2.0-only */
/* Printing views and exporting spans: see batch.h. */
#include "cmd/batch.h"

#include "cmd/batch_pieces.h"
#include "app/late_events.h"
#include "cmd/local.h"
#include "cmd/log.h"
#include "app/messages.h"
#include "app/narrow.h"
#include "cmd/output.h"
#include "cmd/sending.h"
#include "cmd/suggest.h"
#include "cmd/thresholds.h"
#include "app/reading.h"

#include "base/limits.h"
#include "base/sanitized.h"
#include "base/timefmt.h"
#include "state/kernel/subscriptions.h"
#include "state/spans/rules.h"
#include "views/alerts.h"
#include "views/metric_calls.h"
#include "views/narrowing.h"
#include "views/needs.h"
#include "views/spans.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* A session whose streams send nothing, not even beacons, closes no second. -n then ends by the wall clock, with this
 * delay. */
#define QUIET_GRACE_S 5
#define SILENT_GRACE_S 1		/* if no event came at all */

struct batch {
	const struct read_options *read;
	const struct shown_options *shown;	/* main()'s, or .mine */
	struct shown_options mine;
	const struct batch_options *o;
	struct reading r;
	struct view view;		/* what is printed: the view with the columns asked for */
	struct column *columns;		/* its columns */
	bool header;			/* must still be printed */
	bool incomplete;		/* what was printed, as spans had been dropped to save memory */
	int broken;			/* errno, once output failed */
	unsigned n_printed;		/* blocks */
	int64_t printed_to;		/* end of the last second printed */
	GHashTable *corrected;		/* beginning of a printed second -> its corrections at that time */
	unsigned n_corrected;		/* corrections in all, at the last check */
	struct late_reported late;
	struct batch_pieces pieces;
	int64_t since_ns;		/* seconds that ended before this are not printed */
	int64_t from_ns, to_ns;		/* recorded: the range of the options; equal: not found yet */
	struct metric_query metric;	/* the options' with instants and calls; .where is theirs */
	struct metric_calls *calls;	/* NULL: the metric needs none */
	struct alerts *alerts;		/* NULL: there are no thresholds */
	struct sending *sending;	/* NULL: nothing is sent */
};

/* --- columns --- */

static struct value get_from_ns(const struct row *row, const struct rows *rows)
{
	(void)row;
	return value_int(VALUE_TIME, rows->query.from_ns);
}

static struct value get_to_ns(const struct row *row, const struct rows *rows)
{
	(void)row;
	return value_int(VALUE_TIME, range_sum_end(rows->tl, rows->query.from_ns, rows->query.to_ns));
}

static struct value get_corrected(const struct row *row, const struct rows *rows)
{
	(void)row;
	return value_int(VALUE_COUNT, rows->completeness.corrected);
}

/* CSV has one header for all blocks, so each row has the range. */
static const struct column range_columns[] = {
	{ .id = "from_ns", .title = "FROM", .kind = VALUE_TIME, .help = "begin of the range",
	  .get = get_from_ns },
	{ .id = "to_ns", .title = "TO", .kind = VALUE_TIME, .help = "end of the range",
	  .get = get_to_ns },
	/* live */
	{ .id = "corrected", .title = "CORRECTED", .kind = VALUE_COUNT,
	  .of_retained = true,
	  .help = "1: the range is printed again, since events came too late", .get = get_corrected },
};

static bool prints_blocks(const struct batch *b)
{
	return b->o->each || b->read->live;
}

static void choose_columns(struct batch *b)
{
	const struct shown_options *o = b->shown;
	bool with_range = prints_blocks(b) && rows_format_info[o->format].range == RANGE_COLUMNS;
	size_t n = o->columns ? o->n_columns : o->view->n_columns, i = 0;

	b->columns = g_new0(struct column, n + G_N_ELEMENTS(range_columns));
	for (size_t k = 0; with_range && k < G_N_ELEMENTS(range_columns) - !b->read->live; k++)
		b->columns[i++] = range_columns[k];
	for (size_t k = 0; k < n; k++)
		b->columns[i++] = o->view->columns[o->columns ? o->columns[k] : k];
	b->view = *o->view;
	b->view.columns = b->columns;
	b->view.n_columns = i;
}

static void print_block_title(struct batch *b, const struct rows *rows)
{
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	timefmt_date(from, rows->query.from_ns);
	if (read_step(b->read) < NS_PER_S)
		timefmt_date_ms(from, rows->query.from_ns);
	timefmt_clock_ms(to, rows->query.to_ns);
	printf("%s# %s  %s to %s", b->header ? "" : "\n", b->view.id, from, to);
	if (rows->completeness.lost_events || rows->completeness.lost_packets)
		printf("  lost %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT " packets",
		       rows->completeness.lost_events, rows->completeness.lost_packets);
	if (rows->completeness.damaged)
		printf("  damaged %" G_GUINT64_FORMAT " packets", rows->completeness.damaged);
	puts(rows->completeness.corrected ? "  corrected" : "");
}

static void print_range(struct batch *b, int64_t from_ns, int64_t to_ns)
{
	const struct shown_options *o = b->shown;
	struct view_query query = o->narrow;
	if (b->o->check || b->o->send.only)
		return;
	if (o->narrowed)
		narrow_resolve(&query, b->r.tl);
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	query.by = o->by;
	query.metric = o->metric_view ? &b->metric : NULL;
	query.alerts = b->alerts;
	struct rows *rows = o->view->build(b->r.tl, &query);

	rows_filter(rows, o->view, o->expr);
	if (o->sort >= 0)
		rows_sort(rows, o->view, o->sort, o->sort_descending);
	bool titled = rows_format_info[o->format].range == RANGE_TITLE;
	if (prints_blocks(b) && titled)
		print_block_title(b, rows);
	if (o->view->kind == VIEW_DISTRIBUTION && titled && rows->about)
		printf("# %s\n", rows->about);
	bool header = b->header || titled;
	if (!rows_print(stdout, &b->view, rows, o->format, header) || fflush(stdout) != 0)
		b->broken = errno ? errno : EIO;
	if (rows->dropped)
		log_error("%s: %s%s", o->view->id, rows->dropped,
			  timeline_facts(b->r.tl)->n_thinned ? "" : " (--memory)");
	b->incomplete |= rows->incomplete;
	if (rows->omitted && !prints_blocks(b))		/* of a block, the JSON has it */
		log_error("%s: %s", o->view->id, rows->omitted);
	if (prints_blocks(b) || !reading_skips_free(&b->r))
		rows_free(rows);
	b->header = false;
}

/* Are there events newer than the last second? Spans that ended among them are published before their second, and
 * must not be counted twice. */
static bool is_ahead(const struct timeline *tl, const struct second *last)
{
	int64_t first, newest;
	return timeline_coverage(tl, &first, &newest) && newest >= last->end_ns;
}

static gboolean is_gone(gpointer begin_ns, gpointer corrected, gpointer timeline)
{
	const struct second *s = timeline_second(timeline, timeline_find(timeline, *(const int64_t *)begin_ns));
	return !s || s->begin_ns != *(const int64_t *)begin_ns;
}

#define FEW_PRINTED 1000

static void note_printed(struct batch *b, const struct second *s)
{
	if (b->corrected && g_hash_table_size(b->corrected) > FEW_PRINTED + 2 * timeline_n_seconds(b->r.tl))
		g_hash_table_foreach_remove(b->corrected, is_gone, b->r.tl);
	if (!b->corrected)
		b->corrected = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_hash_table_insert(b->corrected, g_memdup2(&s->begin_ns, sizeof s->begin_ns),
			    GUINT_TO_POINTER(s->completeness.corrected));
}

/* Prints seconds without events up to `until`. false: no more seconds are wanted. */
static bool print_empty(struct batch *b, int64_t until)
{
	int64_t step = read_step(b->read);

	if (!b->n_printed || until == TIME_UNKNOWN || until == INT64_MAX)
		return true;
	if (until - b->printed_to > LIMIT_EMPTY_SECONDS * step)
		return true;
	for (int64_t at = b->printed_to; at + step <= until && !b->broken; at += step) {
		if (b->o->n_seconds && b->n_printed >= b->o->n_seconds)
			return false;
		print_range(b, at, at + step);
		b->n_printed++;
		b->printed_to = at + step;
	}
	return !b->broken && !(b->o->n_seconds && b->n_printed >= b->o->n_seconds);
}

/* Prints the seconds in the range that were closed since the last call. Unless this is the end, the last second is
 * printed once the next one exists. */
static void print_closed(struct batch *b, int64_t from_ns, int64_t to_ns, bool is_end)
{
	const struct timeline *tl = b->r.tl;
	unsigned most = b->o->n_seconds;
	int64_t since = MAX(from_ns, b->printed_to);
	size_t n = timeline_n_seconds(tl);
	struct job_status st;

	job_get_status(b->r.job, &st);
	if (!is_end && n > 0 && is_ahead(tl, timeline_second(tl, n - 1)) &&
	    st.closed_to_ns <= timeline_outline(tl, n - 1)->end_ns)
		n--;
	if (b->alerts && b->read->live)
		alerts_update(b->alerts, tl, n);
	if (b->sending && b->read->live)
		sending_update(b->sending, tl, n, is_end);
	for (size_t i = timeline_find(tl, since); i < n; i++) {
		const struct second *s = timeline_second(tl, i);
		if (b->broken || (most && b->n_printed >= most) || s->begin_ns >= to_ns)
			return;
		if (s->begin_ns < b->printed_to || s->end_ns <= b->since_ns)
			continue;	/* a new version of a printed second, or before the program began */
		if (b->read->live && !print_empty(b, s->begin_ns))
			return;
		print_range(b, s->begin_ns, s->end_ns);
		b->n_printed++;
		b->printed_to = s->end_ns;
		if (b->read->live)
			note_printed(b, s);
		timeline_unload(b->r.tl);
	}
	if (b->read->live) {
		timeline_retain_sums(b->r.tl, b->printed_to);
		timeline_retain_seconds_from(b->r.tl, b->printed_to);
	}
	if (b->read->live && !is_end && n == timeline_n_seconds(tl))
		print_empty(b, st.closed_to_ns);
}

/* Prints corrected versions of seconds that were printed. -n does not count them. */
static void print_corrected(struct batch *b)
{
	const struct timeline *tl = b->r.tl;
	struct job_status st;

	job_get_status(b->r.job, &st);
	if (st.corrected == b->n_corrected)
		return;
	b->n_corrected = st.corrected;
	for (size_t i = 0; i < timeline_n_seconds(tl) && !b->broken; i++) {
		const struct second *s = timeline_second(tl, i);
		gpointer was = g_hash_table_lookup(b->corrected, &s->begin_ns);
		if (s->begin_ns >= b->printed_to || s->end_ns <= b->since_ns ||
		    GPOINTER_TO_UINT(was) == s->completeness.corrected)
			continue;	/* a second that was missing in the table counts as never corrected */
		print_range(b, s->begin_ns, s->end_ns);
		note_printed(b, s);
	}
}

/* --- the two ways of printing --- */

static void report_missing(const struct batch *b)
{
	int64_t first, end;
	if (b->o->send.only || !reading_range(&b->r, &first, &end))
		return;
	const char *where = b->read->live ? "received from this session" : "in this trace";
	g_autofree char *missing = view_missing_text(b->shown->view, b->r.tl);
	if (missing) {
		g_autoptr(GPtrArray) commands = needs_commands(b->shown->view, b->r.tl);
		g_ptr_array_add(commands, NULL);
		g_autofree char *all = g_strjoinv(" && ", (char **)commands->pdata);
		log_error("not %s: %s; %s %s has no figures from them; to have them: %s", where, missing,
			  b->shown->metric_view ? "metric" : "view", b->shown->view->id,
			  *all ? all : "blktop --recipe says how");
	}
	for (size_t i = 0; !b->shown->view->reads && i < rules_n_installed(); i++) {
		g_autofree char *rule = rules_missing_text(i, b->r.tl);
		if (rule)
			log_error("%s %s", rule, where);
	}
	g_autofree char *left_out = b->shown->view->reads ? NULL : span_notes_left_out(b->r.tl);
	if (left_out)
		log_error("%s", left_out);
}

/* Whole seconds (or steps) are stored and summed. The printed range is that of the seconds that were counted. */
static void widen_range(const struct batch *b, int64_t *from, int64_t *to)
{
	const struct timeline *tl = b->r.tl;
	const int64_t asked_from = *from, asked_to = *to;
	size_t first = timeline_find(tl, *from), end = first;
	char a[TIMEFMT_LEN], z[TIMEFMT_LEN], step[TIMEFMT_LEN];

	if (b->shown->view->at_instant)
		return;
	while (end < timeline_n_seconds(tl) && timeline_outline(tl, end)->begin_ns < asked_to)
		end++;
	if (end == first)
		return;
	*from = MIN(asked_from, timeline_outline(tl, first)->begin_ns);
	*to = MAX(asked_to, timeline_outline(tl, end - 1)->end_ns);
	if (!b->read->step_ns && (*from < asked_from || *to > asked_to))
		log_error("counted in steps of %s: from %s to %s; --step chooses a finer one",
			  timefmt_step(step, read_step(b->read)), timefmt_date_ms(a, *from),
			  timefmt_clock_ms(z, *to));
}

static void add_call(void *data, struct calllog_line *l)
{
	metric_calls_add(data, l);
	calllog_line_unref(l);
}

static bool has_range(const struct read_options *o)
{
	return o->from || o->to || o->at;
}

/* Holds the thresholds against what was read so far: as long as it does not matter what the range is. */
static void judge(struct batch *b, bool ended)
{
	size_t n = timeline_n_seconds(b->r.tl);
	if (b->alerts && n && (ended || !has_range(b->read)))
		alerts_update(b->alerts, b->r.tl, ended ? n : n - 1);
	if (b->sending && n && !ended && !has_range(b->read))
		sending_update(b->sending, b->r.tl, n - 1, false);
}

/* The beginning of the step that the instant is in. After the last step that has events it is the instant. */
static int64_t step_begin(const struct timeline *tl, int64_t ns)
{
	size_t i = timeline_find(tl, ns);
	return i < timeline_n_seconds(tl) ? timeline_outline(tl, i)->begin_ns : ns;
}

/* Sends what is left of the range, or all of it. */
static void send_recorded(struct batch *b, int64_t from_ns, int64_t to_ns)
{
	if (!b->sending)
		return;
	if (has_range(b->read))
		sending_limit(b->sending, step_begin(b->r.tl, from_ns), to_ns);
	sending_update(b->sending, b->r.tl, timeline_n_seconds(b->r.tl), true);
}

static void judge_recorded(struct batch *b, int64_t from_ns, int64_t to_ns)
{
	if (b->alerts && has_range(b->read))
		alerts_note_range(b->alerts, from_ns, to_ns);
	if (!b->alerts || !b->o->save_baseline) {
		judge(b, true);
		return;
	}
	size_t end = timeline_find(b->r.tl, to_ns - 1);
	alerts_begin_at(b->alerts, step_begin(b->r.tl, from_ns));
	alerts_update(b->alerts, b->r.tl, MIN(end + 1, timeline_n_seconds(b->r.tl)));
}

/* What the metric needs beside the timeline. Returns the exit status. */
static int prepare_metric(struct batch *b)
{
	if (!b->metric.metric)
		return EXIT_FINE;
	if (!reading_find_against(&b->r, b->read, &b->metric))
		return EXIT_USAGE;
	if (!metric_query_needs_calls(&b->metric))
		return EXIT_FINE;
	b->metric.calls = b->calls = metric_calls_new(&b->metric, read_step(b->read));
	return log_each_line(b->read, add_call, b->calls) ? EXIT_FINE : EXIT_FAILED;
}

/* Prints what was not printed while it was read. */
static void print_all(struct batch *b, int64_t from, int64_t to)
{
	if (!b->o->each && !(b->pieces.pieces.begun && b->pieces.of_steps))
		widen_range(b, &from, &to);
	if (b->o->each)
		print_closed(b, from, to, true);
	else if (b->pieces.pieces.begun)
		batch_pieces_finish(&b->pieces, from, to);
	else
		print_range(b, from, to);
	b->broken = b->broken ? b->broken : b->pieces.broken;
}

/* Finds the range of the options, unless batch_pieces_choose() did. Returns the exit status. */
static int find_range(struct batch *b)
{
	return b->from_ns < b->to_ns ? EXIT_FINE : reading_find_range(&b->r, b->read, &b->from_ns, &b->to_ns);
}

static bool has_event(const void *tl, const char *event)
{
	return timeline_has_event(tl, event);
}

/* No view was chosen: has the trace events, but none that spans are made of, and no figures of threads? */
static bool prints_otherwise(const struct batch *b)
{
	const unsigned both = MISSING_SWITCHES | MISSING_CALLS;
	g_auto(GStrv) events = timeline_event_names(b->r.tl);
	bool spans = rules_any_met((const char *const *)events) || slice_any_makes_spans(has_event, b->r.tl);

	return b->shown->otherwise && !spans && (view_missing(b->r.tl) & both) == both;
}

/* Events by name are what the screen begins with then, too. */
static void print_otherwise(struct batch *b)
{
	b->mine = *b->shown;
	b->mine.view = b->mine.otherwise;
	b->mine.by = b->mine.view->default_by;
	b->shown = &b->mine;
	g_free(b->columns);
	choose_columns(b);
}

/* A recorded trace: read first, then print. */
static int print_recorded(struct batch *b)
{
	int64_t first, end;

	while (!b->pieces.broken && !reading_wait(&b->r, 100))
		judge(b, false);
	if (b->pieces.broken) {
		reading_stop(&b->r);
		b->broken = b->pieces.broken;
		return EXIT_FAILED;
	}
	int code = reading_code(&b->r);
	if (code != EXIT_FINE && !reading_range(&b->r, &first, &end))
		return code;		/* nothing was read */
	if (!b->sending)
		reading_release_signals();	/* from here on a signal ends the process */
	int range_code = find_range(b);
	if (range_code != EXIT_FINE)
		return code != EXIT_FINE ? code : range_code;
	judge_recorded(b, b->from_ns, b->to_ns);
	send_recorded(b, b->from_ns, b->to_ns);
	if (prints_otherwise(b))
		print_otherwise(b);
	int metric_code = prepare_metric(b);
	if (metric_code != EXIT_FINE)
		return metric_code;
	report_missing(b);
	g_autoptr(GError) error = NULL;
	if (b->shown->narrowed && !narrow_is_there(&b->shown->narrow, b->r.tl, &error))
		return log_failure(error);
	print_all(b, b->from_ns, b->to_ns);
	if (b->sending && !b->broken)
		sending_wait(b->sending);
	return code != EXIT_FINE ? code : reading_loss_code(&b->r);
}

/* A session of this machine: its program and its messages. */
static void serve_local(struct batch *b)
{
	struct local *l = b->read->running;
	bool is_error;

	local_tick(l, b->r.in);
	b->since_ns = local_program_ns(l);
	for (char *text; (text = local_next_message(l, &is_error)); g_free(text))
		log_error("%s", text);
}

static gint64 grace_us(const struct batch *b)
{
	return (timeline_n_seconds(b->r.tl) ? QUIET_GRACE_S : SILENT_GRACE_S) * G_USEC_PER_SEC;
}

static void report_late_and_lost(struct batch *b)
{
	struct job_status st;

	job_get_status(b->r.job, &st);
	g_autofree char *unknown = st.has_missing ? missing_unknown_text(&st.missing) : NULL;
	g_autofree char *late = late_report(&b->late, &st, INT64_MAX), *lost = losses_report(b->r.tl);
	if (late)
		log_error("%s", late);
	if (lost)
		log_error("%s", lost);
	if (unknown)
		log_error("%s", unknown);
}

/* No event came: an error, unless a program was run to its end. */
static int report_no_events(struct batch *b, int code)
{
	struct job_status st;

	job_get_status(b->r.job, &st);
	if (st.phase == JOB_FAILED)
		return code;
	log_error(st.warning ? "nothing that '%s' sent can be read" :
		  "no events came from '%s'; 'lttng list' says what its session records, 'lttng list --userspace' "
		  "which tracepoints running programs have (spans: zipkin:*, or those of blktop --list-presets)",
		  input_label(b->r.in));
	return b->read->running && !st.warning ? code : EXIT_FAILED;
}

/* A session: print each second as it closes. */
static int print_live(struct batch *b)
{
	unsigned most = b->o->n_seconds;
	gint64 patience = (gint64)most * (read_step(b->read) / NS_PER_US);
	gint64 attached = 0;
	bool ended = false;

	while (!ended && !b->broken && !(most && b->n_printed >= most)) {
		struct live_status st;
		ended = reading_wait(&b->r, 50);
		serve_local(b);
		print_closed(b, INT64_MIN, INT64_MAX, ended);
		if (b->corrected)
			print_corrected(b);
		if (!attached && b->since_ns < INT64_MAX && input_live_status(b->r.in, &st) &&
		    st.connected)
			attached = g_get_monotonic_time();
		if (most && attached && g_get_monotonic_time() - attached > patience + grace_us(b))
			break;
	}
	if (!ended)
		reading_stop(&b->r);
	int code = reading_code(&b->r);
	if (b->broken)
		return code;
	print_closed(b, INT64_MIN, INT64_MAX, true);
	report_late_and_lost(b);
	report_missing(b);
	if (code == EXIT_FINE || code == EXIT_INCOMPLETE) {
		int loss = reading_loss_code(&b->r);
		code = code == EXIT_FINE ? loss : code;
	}
	bool ended_well = code == EXIT_FINE || code == EXIT_LOSS || code == EXIT_INCOMPLETE;
	return b->n_printed == 0 && ended_well ? report_no_events(b, code) : code;
}

static void report_alert(void *data, const struct alert *alert, const char *reason)
{
	const struct batch *b = data;
	g_autofree char *line = thresholds_report(b->read->running, alert, reason);
	log_error("%s", line);
}

/* The baseline, and the line of --check. Returns the exit status. */
static int end_alerts(struct batch *b, int code)
{
	if (!b->alerts)
		return code;
	if (!thresholds_save_baseline(b->o->save_baseline, b->alerts))
		code = EXIT_FAILED;
	if (!b->o->check)
		return code;
	bool failed = code == EXIT_FAILED || code == EXIT_USAGE || code >= EXIT_SIGNAL;
	if (!failed && b->read->live)
		return thresholds_check(stdout, b->alerts, INT64_MIN, INT64_MAX);
	if (failed || b->from_ns >= b->to_ns)
		return CHECK_UNKNOWN;
	return thresholds_check(stdout, b->alerts, b->from_ns, b->to_ns);
}

static void on_evicting(void *data, const uint64_t *trace_ids, size_t n)
{
	struct batch *b = data;
	if (b->pieces.view)
		batch_pieces_evicting(&b->pieces, trace_ids, n);
	if (!b->sending)
		return;
	sending_evicting(b->sending, b->r.tl, trace_ids, n);
	size_t seconds = timeline_n_seconds(b->r.tl);
	if (b->read->live && seconds)
		sending_update(b->sending, b->r.tl, seconds - 1, false);
}

/* What the view, thresholds, and what is sent must have read. */
static struct reading_purpose purpose_of(const struct batch *b)
{
	const struct shown_options *s = b->shown;
	const struct send_options *send = &b->o->send;
	bool sends_spans = false, live = b->read->live;
	uint32_t sends = send->metrics ? send_metrics_read(send->metrics, &sends_spans) : 0;
	bool needs_all = !s->view->reads || s->thresholds || sends_spans || send->forward.path ||
			 (s->narrowed && query_needs_spans(&s->narrow));

	return (struct reading_purpose){
		.prints = true, .view = s->view, .by = s->by, .narrow = s->narrowed ? &s->narrow : NULL,
		.counts_threads = sends & READS(count) || (s->thresholds && thresholds_count_threads(s->thresholds)),
		.without_spans = !needs_all && !s->view->reads_spans,
		.cells = live || needs_all ? 0 : s->view->reads | sends | (s->otherwise ? s->otherwise->reads : 0),
		.skip_free = !live && !SANITIZED,
	};
}

/* Is something printed or counted second by second, or of a range? Live, until it was: print_closed(). */
static bool needs_seconds(const struct batch *b)
{
	return b->read->live || b->o->each || has_range(b->read) || b->shown->thresholds || b->o->send.metrics;
}

/* Starts to read. Returns the exit status. */
static int begin(struct batch *b)
{
	struct reading_purpose purpose = purpose_of(b);
	const struct view *view = b->shown->view;
	int code = EXIT_FINE;

	if (b->shown->thresholds && !thresholds_begin(b->shown, &b->alerts))
		return EXIT_FAILED;
	if (batch_pieces_can_be(view))
		code = batch_pieces_choose(&b->pieces, b->read, b->shown, b->o, &purpose);
	b->from_ns = b->pieces.from_ns;
	b->to_ns = b->pieces.to_ns;
	if (code == EXIT_FINE)
		code = reading_start(&b->r, b->read, &purpose);
	if (b->alerts && b->read->live)
		alerts_on_alert(b->alerts, report_alert, b);
	if (code == EXIT_FINE && b->o->send.any &&
	    !sending_start(&b->o->send, b->read->live, &b->sending))
		code = EXIT_FAILED;
	if (code != EXIT_FINE)
		return code;
	if (needs_seconds(b))
		timeline_retain_sums(b->r.tl, INT64_MIN);
	if (needs_seconds(b) && b->read->live)
		timeline_retain_seconds_from(b->r.tl, INT64_MIN);
	choose_columns(b);
	if (batch_pieces_can_be(view))
		batch_pieces_begin(&b->pieces, &b->view, b->r.tl);
	timeline_on_evicting(b->r.tl, on_evicting, b);
	return EXIT_FINE;
}

/* Reads and prints. Returns the exit status. */
static int print(struct batch *b)
{
	int code = b->read->live ? print_live(b) : print_recorded(b);
	code = b->broken ? output_code(b->broken) : end_alerts(b, code);
	int sent = b->sending ? sending_finish(b->sending) : EXIT_FINE;
	bool ended_well = code == EXIT_FINE || code == EXIT_LOSS || code == EXIT_INCOMPLETE;
	b->incomplete |= b->alerts && !b->o->check && alerts_left_out(b->alerts);
	if (b->incomplete && (code == EXIT_FINE || code == EXIT_LOSS))
		code = EXIT_INCOMPLETE;
	return code == EXIT_FINE || (ended_well && sent == EXIT_FAILED) ? sent : code;
}

int batch_print(const struct read_options *read, const struct shown_options *shown, const struct batch_options *o)
{
	struct batch b = {
		.read = read, .shown = shown, .o = o, .header = true, .printed_to = INT64_MIN, .since_ns = INT64_MIN,
		.metric = shown->metric,
	};

	if (o->suggest_rules)
		return suggest_print(read, o->n_seconds);
	int code = begin(&b);
	if (code == EXIT_FINE)
		code = print(&b);
	else if (o->check)
		code = CHECK_UNKNOWN;
	g_free(b.columns);
	metric_calls_free(b.calls);
	alerts_free(b.alerts);
	sending_free(b.sending);
	batch_pieces_clear(&b.pieces);
	g_clear_pointer(&b.corrected, g_hash_table_unref);
	reading_free(&b.r);
	return code;
}

/* --- export --- */

static int export_spans(struct reading *r, const struct output_options *output, const struct export_options *o)
{
	g_autoptr(GError) error = NULL;
	unsigned n_spans = 0;

	reading_wait(r, -1);
	int code = reading_code(r);
	if (r->signal || (code != EXIT_FINE && timeline_n_spans(r->tl) == 0))
		return code;
	g_autofree char *text = span_export(r->tl, &o->selection, o->format, &n_spans, &error);
	if (!text)
		return log_failure(error);
	if (reading_loss_code(r) != EXIT_FINE)
		log_error("events were lost or cannot be read: spans may be incomplete");
	g_autofree char *what = g_strdup_printf("%u span%s", n_spans, n_spans == 1 ? "" : "s");
	int written = output_write(output, text, what);
	return written != EXIT_FINE ? written : code;
}

int batch_export(const struct read_options *read, const struct output_options *output, const struct export_options *o)
{
	const struct reading_purpose purpose = { .all_spans = true };
	struct reading r;
	int code = reading_start(&r, read, &purpose);
	if (code == EXIT_FINE)
		code = export_spans(&r, output, o);
	reading_free(&r);
	return code;
}
