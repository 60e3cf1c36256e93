/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading without a screen: see reading.h. */
#include "app/reading.h"

#include "app/late_events.h"
#include "app/next_steps.h"

#include "app/debug_log.h"
#include "app/messages.h"
#include "app/relay.h"

#include "base/timefmt.h"
#include "app/narrow.h"

#include <signal.h>

#define LOST_SLACK_NS (500 * NS_PER_MS)
#define TICK_MS 100		/* longest delay until a signal or a lost relay is noticed */
#define STOP_PATIENCE_MS 5000	/* for the last publication after a stop */

#define ABOUT_NS (NS_PER_S / 10)
#define SPANS_SHARE 32			/* part of --memory for annotations of open spans, */
#define MOST_SPANS (12 << 20)		/* at most this many bytes */
#define LISTED_EIGHTHS 3		/* eighths of the memory for spans when they are printed: rows need as much */
#define WATCHED_SHARE 16		/* part of --memory for seconds of a watched directory that can be corrected */
#define TAKEN_SHARE 8			/* the same for seconds that are printed as they close */
#define CLOSING_SHARE 64		/* part of --memory for seconds that are closed at once */
#define DAY_NS (24 * 60 * 60 * NS_PER_S)
#define MOST_BESIDE (64 << 20)		/* bytes reserved for everything but the timeline */

G_STATIC_ASSERT(sizeof(sig_atomic_t) == sizeof(int));
static volatile sig_atomic_t caught;
static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static struct sigaction before[G_N_ELEMENTS(signals)];

static void catch_signal(int signal)
{
	caught = signal;
}

void reading_catch_signals(void)
{
	/* SA_RESETHAND: a second Ctrl-C ends the program even if something hangs. */
	struct sigaction action = { .sa_handler = catch_signal, .sa_flags = (int)SA_RESETHAND };
	sigemptyset(&action.sa_mask);
	caught = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)	/* nohup: stays ignored */
			sigaction(signals[i], &action, NULL);
	}
}

void reading_release_signals(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &before[i], NULL);
}

int reading_caught(void)
{
	return caught;
}

const int *reading_caught_by(void)
{
	return (const int *)&caught;
}

size_t reading_timeline_memory(const struct read_options *o)
{
	return o->memory - MIN(o->memory / 2, MOST_BESIDE);
}

/* Instants relative to the end need the whole trace; without it *ret is not changed, and a time of day is that of the
 * first day. */
static bool parse(const char *text, struct time_scope scope, const struct outline *whole, int64_t *ret)
{
	if (!text || (!whole && (strchr(text, '%') || strcmp(text, "end") == 0)))
		return true;
	if (!whole)
		scope.last = MAX(scope.last, scope.first + DAY_NS);
	return timefmt_parse_instant(text, &scope, ret, NULL, NULL);
}

/* Protects the spans of the requested range from eviction, from the first span on. */
static void keep_range(void *data)
{
	struct reading *r = data;
	const struct read_options *o = r->options;
	int64_t first, newest, at = INT64_MIN, from = INT64_MIN, to = INT64_MAX;

	if (!timeline_coverage(r->tl, &first, &newest))
		return;
	struct outline *whole = job_outline(r->job);
	/* The end of the last packet is about that of its events. Without an index the end is unknown. */
	struct time_scope scope = { first, first, whole ? MAX(whole->to_ns, newest) : newest, INT64_MIN };
	bool fine = parse(o->from, scope, whole, &from) && parse(o->at, scope, whole, &at);
	scope.after = MAX(from, first);
	fine = fine && parse(o->to, scope, whole, &to);
	outline_unref(whole);
	if (at != INT64_MIN) {
		from = time_floor(at, read_step(o));
		to = from + read_step(o);
	}
	if (fine && (from != INT64_MIN || to != INT64_MAX))
		timeline_prefer_range(r->tl, MAX(from, first) - ABOUT_NS,
				    to < INT64_MAX - ABOUT_NS ? to + ABOUT_NS : INT64_MAX);
}

/* Exports and reports need all spans: no budget. Printing a recorded trace needs all its seconds, and the traces that
 * --only names. */
static struct timeline *new_timeline(const struct read_options *o, const struct reading_purpose *purpose)
{
	bool whole = !o->live && purpose->all_spans;
	size_t memory = reading_timeline_memory(o);
	if (!o->live && purpose->view && purpose->prints && purpose->view->lists_spans)
		memory = memory / 8 * LISTED_EIGHTHS;
	struct timeline *tl = timeline_new(whole ? 0 : memory);

	timeline_set_step(tl, read_step(o));
	if (!o->live && purpose->prints && !purpose->takes_seconds)
		timeline_retain_seconds(tl);
	if (purpose->narrow)
		narrow_keep(purpose->narrow, tl);
	return tl;
}

bool reading_can_count(const struct input *in, const struct view *view, enum view_by by)
{
	g_autoptr(GError) error = NULL;

	if (!view || !(view->by_counted & 1u << by) || input_has_events(in, &error))
		return true;
	log_error("--view %s --by %s needs the trace itself: %s", view->id, view_by_words[by], error->message);
	return false;
}

bool reading_counts_threads(const struct view *view, enum view_by by)
{
	return view && (view->decodes_all || view->by_counted & 1u << by);
}

int reading_start(struct reading *r, const struct read_options *o, const struct reading_purpose *purpose)
{
	g_autoptr(GError) error = NULL;
	struct job_options options = {
		.model.step_ns = o->step_ns,
		.model.live = o->live && !o->watch, .model.at_end = !o->live && !purpose->takes_seconds,
		/* If seconds are printed when they close, few must be there to be corrected. */
		.model.memory_budget = o->memory /
			(o->watch ? WATCHED_SHARE : o->live || purpose->takes_seconds ? TAKEN_SHARE : 1),
		.model.closing_bytes = purpose->takes_seconds ? o->memory / CLOSING_SHARE : 0,
		.model.span_budget = purpose->prints || o->live ? MIN(o->memory / SPANS_SHARE, MOST_SPANS) : 0,
		/* slices have all their seconds in memory */
		.threads = purpose->takes_seconds ? 1 : o->jobs, .slices = purpose->takes_seconds ? 1 : o->slices,
		.memory = o->memory,
		.model.cells = purpose->cells,
		.without_spans = purpose->without_spans,
		.skip_free = purpose->skip_free,
	};

	*r = (struct reading){ .options = o, .skip_free = purpose->skip_free, .live = o->live,
			       .timeout_ms = o->relay.timeout_ms, .waits = o->relay.wait,
			       .ignores_signals = purpose->record_to != NULL };
	if (o->live && !o->watch) {
		int code;
		GArray *urls = relay_choose(o, NULL, &code);
		if (!urls)
			return code;
		r->in = input_new_live(urls, &o->relay);
		if (purpose->record_to && !input_record(r->in, purpose->record_to, purpose->record_last_us,
							!purpose->records_only, &error))
			return log_failure(error);
		if (!purpose->record_to && o->spool && !input_store(r->in, o->spool, o->spool_size, &error)) {
			log_error("--spool: %s", error->message);
			return EXIT_FAILED;
		}
	} else {
		r->in = input_new_paths((const char *const *)o->paths, o->reader, o->watch);
	}
	if (!reading_can_count(r->in, purpose->view, purpose->by))
		return EXIT_FAILED;
	r->tl = new_timeline(o, purpose);
	if (!o->live && (o->at || o->from || o->to))
		timeline_on_beginning(r->tl, keep_range, r);
	if (!o->live)
		options.publish_every_ns = NS_PER_S;
	reading_catch_signals();
	log_note("reading %s", input_label(r->in));
	input_count_threads(r->in, purpose->counts_threads || reading_counts_threads(purpose->view, purpose->by));
	if (o->caches && !purpose->takes_seconds)
		input_cache(r->in, o->cache_size, o->cache_after_ns);
	r->job = input_start(r->in, &options);
	return EXIT_FINE;
}

bool reading_skips_free(const struct reading *r)
{
	return r->whole && r->skip_free;
}

void reading_free(struct reading *r)
{
	if (r->job)
		reading_release_signals();
	job_free(r->job);
	if (reading_skips_free(r))
		return;
	timeline_free(r->tl);
	input_unref(r->in);
	g_free(r->reported);
	g_free(r->reported_warning);
	presets_used_clear(&r->presets);
	*r = (struct reading){ 0 };
}

/* Prints a new message of the connection. true: the relay has been unreachable for too long. */
static bool relay_is_lost(struct reading *r)
{
	struct live_status st;
	if (!r->live || !input_live_status(r->in, &st))
		return false;
	if (st.message[0] && g_strcmp0(st.message, r->reported) != 0) {
		log_error("%s", st.message);
		g_free(r->reported);
		r->reported = g_strdup(st.message);
	}
	/* LOST_SLACK_NS: a request in progress has the same limit, and its error says more */
	return !r->waits && !st.connected && st.message[0] &&
	       g_get_real_time() * NS_PER_US - st.since_ns > r->timeout_ms * NS_PER_MS + LOST_SLACK_NS;
}

static void report_left_out(struct reading *r)
{
	struct job_status st;

	for (char *line; (line = job_take_message(r->job)); g_free(line)) {
		log_error("%s", line);
		r->left_out = true;
	}

	job_get_status(r->job, &st);
	if (st.remark && !r->remarked)
		log_error("%s", st.remark);
	r->remarked |= st.remark != NULL;
	g_autofree char *left_out = reading_left_out(&st);
	if (left_out && g_strcmp0(st.warning, r->reported_warning) != 0)
		log_error("%s", left_out);
	g_free(r->reported_warning);
	r->reported_warning = g_strdup(st.warning);
}

void reading_stop(struct reading *r)
{
	job_cancel(r->job);
	gint64 until = g_get_monotonic_time() + STOP_PATIENCE_MS * 1000;
	while (!job_wait(r->job, r->tl, TICK_MS))
		if (g_get_monotonic_time() > until)
			return;		/* it hangs: what was published so far must do */
}

static void report_presets(struct reading *r)
{
	g_autofree char *line = r->without_spans ? NULL : presets_used_next(&r->presets, r->tl);

	if (line)
		log_error("%s", line);
}

bool reading_wait(struct reading *r, int ms)
{
	gint64 until = g_get_monotonic_time() + (gint64)ms * 1000;

	for (;;) {
		bool ended = job_wait(r->job, r->tl, ms >= 0 && ms < TICK_MS ? ms : TICK_MS);
		debug_reading(r->job, r->in, r->tl);
		r->whole |= ended;
		if (ended || r->live)
			report_presets(r);
		if (ended)
			return true;
		if (r->live)
			report_left_out(r);
		if (caught && !r->ignores_signals)
			r->signal = r->signal ? r->signal : caught;
		else if (relay_is_lost(r))
			r->lost_relay = true;
		if (r->signal || r->lost_relay) {
			reading_stop(r);
			return true;
		}
		if (ms >= 0 && g_get_monotonic_time() >= until)
			return false;
	}
}

int reading_code(struct reading *r)
{
	struct job_status st;
	int64_t from, to;
	bool some = reading_range(r, &from, &to);
	job_get_status(r->job, &st);
	if (st.phase == JOB_FAILED)
		log_error("%s%s", st.message, r->live && !some && !r->options->stream ? next_steps_no_session : "");
	if (r->lost_relay)
		log_error("gave up on the relay after %d s", r->timeout_ms / 1000);
	if (r->signal)
		return EXIT_SIGNAL + r->signal;
	if (st.phase != JOB_FAILED && !r->lost_relay)
		return EXIT_FINE;
	return r->live && some ? EXIT_INCOMPLETE : EXIT_FAILED;
}

bool reading_range(const struct reading *r, int64_t *ret_from, int64_t *ret_to)
{
	if (!timeline_coverage(r->tl, ret_from, ret_to))
		return false;
	*ret_to += 1;		/* half-open: includes the last event */
	return true;
}

/* --- ranges --- */

/* Of several instants the first one after `after` is meant, which is printed. */
static bool instant(const char *option, const char *text, int64_t first, int64_t last, int64_t after, int64_t *ret)
{
	const struct time_scope scope = { first, first, last, after };
	g_autoptr(GError) error = NULL;
	g_autofree char *choice = NULL;

	if (!text)
		return true;
	if (!timefmt_parse_instant(text, &scope, ret, &choice, &error)) {
		log_error("%s: %s", option, error->message);
		return false;
	}
	if (choice)
		log_error("%s: %s", option, choice);
	return true;
}

static int report_outside(const char *option, int64_t at, int64_t first, int64_t last)
{
	char a[TIMEFMT_LEN], f[TIMEFMT_LEN], l[TIMEFMT_LEN];
	log_error("%s: %s is outside the trace, which lasts from %s to %s", option,
		  timefmt_date_ms(a, at), timefmt_date_ms(f, first), timefmt_date_ms(l, last));
	return EXIT_FAILED;
}

bool reading_find_against(const struct reading *r, const struct read_options *o, struct metric_query *metric)
{
	int64_t first, end;
	if (!o->against_from || !reading_range(r, &first, &end))
		return true;
	metric->against_from_ns = first;
	metric->against_to_ns = end;
	const char *from = *o->against_from ? o->against_from : NULL, *to = *o->against_to ? o->against_to : NULL;
	if (!instant("--against", from, first, end - 1, INT64_MIN, &metric->against_from_ns) ||
	    !instant("--against", to, first, end - 1, metric->against_from_ns, &metric->against_to_ns))
		return false;
	if (metric->against_from_ns < metric->against_to_ns)
		return true;
	log_error("--against: '%s' is not before '%s'", o->against_from, o->against_to);
	return false;
}

int reading_find_range(const struct reading *r, const struct read_options *o, int64_t *ret_from,
		       int64_t *ret_to)
{
	int64_t first, end;

	if (reading_range(r, &first, &end))
		return reading_place_range(o, first, end, ret_from, ret_to);
	log_error("no events in '%s'%s", input_label(r->in), next_steps_no_events);
	return EXIT_FAILED;
}

int reading_place_ends(const struct read_options *o, int64_t first, int64_t end, int64_t *ret_from, int64_t *ret_to)
{
	if (!instant("--from", o->from, first, end - 1, INT64_MIN, ret_from) ||
	    !instant("--to", o->to, first, end - 1, *ret_from, ret_to))
		return EXIT_USAGE;
	if (o->to && *ret_to == end - 1)
		*ret_to = end;		/* the range includes the last event */
	if (*ret_from < *ret_to)
		return EXIT_FINE;
	log_error("--from must be before --to");
	return EXIT_USAGE;
}

int reading_place_range(const struct read_options *o, int64_t first, int64_t end, int64_t *ret_from,
			int64_t *ret_to)
{
	*ret_from = first;
	*ret_to = end;
	if (o->at) {
		int64_t at;
		if (!instant("--at", o->at, first, end - 1, INT64_MIN, &at))
			return EXIT_USAGE;
		*ret_from = time_floor(at, read_step(o));
		*ret_to = *ret_from + read_step(o);
		if (*ret_to <= first || *ret_from >= end)
			return report_outside("--at", at, first, end - 1);
	}
	int code = reading_place_ends(o, first, end, ret_from, ret_to);
	if (code != EXIT_FINE)
		return code;
	if (*ret_to <= first || *ret_from >= end)
		return report_outside("--from", *ret_from, first, end - 1);
	return EXIT_FINE;
}

/* --- losses --- */

char *reading_left_out(const struct job_status *st)
{
	return st->warning ? g_strdup_printf("%s: left out", st->warning) : NULL;
}

char *reading_damaged(const struct completeness *t)
{
	if (!t->touched || t->lost_events || t->lost_packets)
		return NULL;
	return g_strdup_printf("%u %s of the trace cannot be read, or lost an unknown number of events "
			       "before the trace begins; the rest was read ('blktop --doctor' says more)", t->touched,
			       t->touched == 1 ? "part" : "parts");
}

int reading_loss_code(struct reading *r)
{
	struct completeness completeness = timeline_facts(r->tl)->completeness;
	struct job_status st;

	job_get_status(r->job, &st);
	g_autofree char *damaged = reading_damaged(&completeness);
	g_autofree char *missing = st.has_missing ? missing_text(&st.missing) : NULL;
	g_autofree char *back = clocks_back_report(r->tl);
	report_left_out(r);
	if (back)
		log_error("%s", back);
	if (missing)
		log_error("%s", missing);
	if (missing)
		return EXIT_INCOMPLETE;
	if (completeness.lost_events || completeness.lost_packets)
		return EXIT_LOSS;
	if (r->live)
		return st.warning || r->left_out ? EXIT_LOSS : EXIT_FINE;
	if (damaged)
		log_error("%s", damaged);
	return completeness.touched || st.warning ? EXIT_LOSS : EXIT_FINE;
}
