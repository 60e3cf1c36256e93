/* SPDX-License-Identifier: GPL-2.0-only */
/* Thresholds held against seconds, and what came of it: see alerts.h. */
#include "views/alerts.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/explanations.h"

#include <string.h>

const char *const alert_state_words[] = { "OK", "WARN", "ALERT" };

/* A value of the threshold's fields. */
struct watched {
	char *of, *where;		/* as in struct alert */
	struct hist values;		/* of the seconds so far */
	double sum;			/* the figure of threshold_counts(), summed over */
	uint64_t n_seconds;		/* so many seconds */
	double baseline;		/* the usual; 0: that of the seconds so far */
	unsigned so_far;		/* seconds in a row that reached the threshold */
	int64_t seen_ns;		/* beginning of the last second that was judged */
	struct alert *alert;		/* the one that has not ended; NULL */
};

struct alert_period { int64_t from_ns, to_ns; };

struct judge {
	const struct threshold *threshold;
	struct alerts *alerts;
	const struct timeline *tl;	/* while seconds are judged */
	GHashTable *watched;		/* key of metric_value -> struct watched */
	uint64_t n_left_out;
	bool any;			/* a value of alerts.note_* was judged; the worst one: */
	double worst;
	GArray *judged;			/* struct alert_period: where something was judged */
	int64_t reported_ns;		/* end of the second that was reported last; or TIME_UNKNOWN */
	struct alert *report;		/* of the current second: the worst one to report; NULL */
	double report_figure, report_usual;
};

struct alerts {
	const GPtrArray *thresholds;
	GPtrArray *judges, *list;	/* struct judge *, struct alert * */
	GKeyFile *baseline;		/* NULL: none */
	int64_t judged_to_ns;
	int64_t note_from_ns, note_to_ns;	/* of judge.worst */
	uint64_t n_dropped;
	bool spans_were_evicted;
	alerts_call call;
	void *data;
};

static void watched_free(void *data)
{
	struct watched *w = data;
	hist_clear(&w->values);
	g_free(w->of);
	g_free(w->where);
	g_free(w);
}

static void judge_free(void *data)
{
	struct judge *j = data;
	g_hash_table_unref(j->watched);
	g_array_unref(j->judged);
	g_free(j);
}

static void alert_free(void *data)
{
	struct alert *a = data;
	g_free(a->of);
	g_free(a->where);
	g_free(a);
}

struct alerts *alerts_new(const GPtrArray *thresholds)
{
	struct alerts *a = g_new0(struct alerts, 1);
	a->thresholds = thresholds;
	a->judges = g_ptr_array_new_with_free_func(judge_free);
	a->list = g_ptr_array_new_with_free_func(alert_free);
	a->judged_to_ns = a->note_from_ns = INT64_MIN;
	a->note_to_ns = INT64_MAX;
	for (guint i = 0; i < thresholds->len; i++) {
		struct judge *j = g_new0(struct judge, 1);
		j->threshold = thresholds->pdata[i];
		j->alerts = a;
		j->judged = g_array_new(false, false, sizeof(struct alert_period));
		j->reported_ns = TIME_UNKNOWN;
		j->watched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, watched_free);
		g_ptr_array_add(a->judges, j);
	}
	return a;
}

void alerts_free(struct alerts *a)
{
	if (!a)
		return;
	g_ptr_array_unref(a->judges);
	g_ptr_array_unref(a->list);
	g_clear_pointer(&a->baseline, g_key_file_unref);
	g_free(a);
}

void alerts_on_alert(struct alerts *a, alerts_call call, void *data)
{
	a->call = call;
	a->data = data;
}

/* ---- values ---- */

static void append_word(GString *text, struct value v)
{
	g_string_append(text, text->len ? " " : "");
	if (v.kind == VALUE_TEXT)
		g_string_append(text, v.s);
	else if (v.kind == VALUE_NONE)
		g_string_append(text, "(unknown)");
	else
		g_string_append_printf(text, "%" G_GINT64_FORMAT, v.i);
}

/* The expression that selects the value among those that the threshold is about. NULL: none can. */
static char *where_of(const struct threshold *t, const struct value *by)
{
	GString *where = g_string_new(NULL);
	if (t->where && t->query.n_by)
		g_string_append_printf(where, "(%s)", t->where);
	else if (t->where)
		g_string_append(where, t->where);
	for (unsigned i = 0; i < t->query.n_by; i++) {
		g_autofree char *one = metric_where_text(t->query.by[i], by[i]);
		if (!one) {
			g_string_free(where, true);
			return NULL;
		}
		g_string_append_printf(where, "%s%s", where->len ? " && " : "", one);
	}
	return g_string_free(where, false);
}

/* Groups and keys of a GKeyFile hold no '=' and no brackets. */
static char *baseline_word(const char *word)
{
	return *word ? g_uri_escape_bytes((const guint8 *)word, strlen(word), " ><.,()'") : g_strdup("all");
}

static double baseline_of(GKeyFile *file, const struct threshold *t, const char *of)
{
	g_autofree char *group = baseline_word(t->subject), *key = baseline_word(of);
	return file ? g_key_file_get_double(file, group, key, NULL) : 0;
}

/* NULL: there are too many. `by` is not read if there are no fields. */
static struct watched *watch(struct judge *j, const char *key, const struct value *by)
{
	const struct threshold *t = j->threshold;
	struct watched *w = g_hash_table_lookup(j->watched, key);
	if (w)
		return w;
	if (g_hash_table_size(j->watched) >= LIMIT_ALERT_VALUES) {
		j->n_left_out++;
		return NULL;
	}
	GString *of = g_string_new(t->operation);
	for (unsigned i = 0; i < t->query.n_by; i++)
		append_word(of, by[i]);
	w = g_new0(struct watched, 1);
	w->of = g_string_free(of, false);
	w->where = where_of(t, by);
	w->seen_ns = TIME_UNKNOWN;
	w->baseline = baseline_of(j->alerts->baseline, t, w->of);
	g_hash_table_insert(j->watched, g_strdup(key), w);
	return w;
}

/* 0: unknown. */
static double learnt_usual(const struct threshold *t, const struct watched *w)
{
	if (threshold_counts(t))
		return w->n_seconds >= ALERTS_LEAST_USUAL ? w->sum / (double)w->n_seconds : 0;
	return hist_count(&w->values) >= ALERTS_LEAST_USUAL ? (double)hist_quantile(&w->values, 0.5) : 0;
}

static double usual_of(const struct judge *j, const struct watched *w)
{
	return j->alerts->baseline ? w->baseline : learnt_usual(j->threshold, w);
}

/* ---- words ---- */

static void append_figure(GString *text, enum value_kind unit, double figure)
{
	char buf[TIMEFMT_LEN];
	uint64_t n = figure > 0 ? (uint64_t)figure : 0;
	if (unit == VALUE_NS)
		g_string_append(text, timefmt_duration(buf, (int64_t)figure));
	else if (unit == VALUE_BYTES)
		g_string_append(text, timefmt_bytes(buf, n));
	else
		g_string_append(text, timefmt_count(buf, n));
}

static char *sentence_of(const struct alert *a, double figure, double usual)
{
	const struct threshold *t = a->threshold;
	enum value_kind unit = threshold_unit(t);
	GString *text = g_string_new(threshold_figure_word(t->figure));
	if (!t->of_operation)
		g_string_append_printf(text, " of %s", t->query.metric->id);
	if (*a->of)
		g_string_append_printf(text, "%s%s", t->of_operation ? " of " : " for ", a->of);
	g_string_append(text, " is ");
	append_figure(text, unit, figure);
	if (t->value.times_usual && usual > 0) {
		g_string_append_printf(text, ", %.1f times the usual ", figure / usual);
		append_figure(text, unit, usual);
	}
	return g_string_free(text, false);
}

char *alert_sentence(const struct alert *a)
{
	return sentence_of(a, a->worst, a->usual);
}

/* ---- alerts ---- */

/* Drops the oldest alert that has ended. False: none has. */
static bool drop_one(struct alerts *a)
{
	for (guint i = 0; i < a->list->len; i++) {
		if (((const struct alert *)a->list->pdata[i])->open)
			continue;
		g_ptr_array_remove_index(a->list, i);
		return true;
	}
	return false;
}

static struct alert *begin_alert(struct judge *j, const struct watched *w, const struct second *s)
{
	struct alerts *all = j->alerts;
	if (all->list->len >= LIMIT_ALERTS) {
		all->n_dropped++;
		if (!drop_one(all))
			return NULL;
	}
	struct alert *a = g_new0(struct alert, 1);
	a->threshold = j->threshold;
	a->of = g_strdup(w->of);
	a->where = g_strdup(w->where);
	a->open = true;
	a->begin_ns = s->begin_ns;
	a->red_ns = TIME_UNKNOWN;
	g_ptr_array_add(all->list, a);
	return a;
}

static void end_alert(struct watched *w)
{
	w->so_far = 0;
	if (w->alert)
		w->alert->open = false;
	w->alert = NULL;
}

static void note_worst(struct alert *a, const struct second *s, double figure, double usual, const struct span *slowest)
{
	a->worst = figure;
	a->usual = usual;
	a->worst_begin_ns = s->begin_ns;
	a->worst_end_ns = s->end_ns;
	a->worst_trace = slowest ? slowest->trace_id : 0;
	a->worst_span = slowest ? slowest->span_id : 0;
	a->worst_kind = slowest ? (int)slowest->kind : -1;
}

/* Is what was counted in the second perhaps not all? */
static bool may_miss(const struct timeline *tl, const struct second *s)
{
	const struct completeness *c = &s->completeness;
	int64_t first = 0, last = 0;
	bool inside = timeline_coverage(tl, &first, &last) && s->begin_ns > first && s->end_ns <= last;
	return c->touched || c->lost_events || c->lost_packets || c->damaged || !inside;
}

static void note_judged(struct judge *j, const struct second *s, double figure)
{
	const guint n = j->judged->len;
	struct alert_period *last = n ? &g_array_index(j->judged, struct alert_period, n - 1) : NULL;
	struct alert_period now = { s->begin_ns, s->end_ns };
	if (last && last->to_ns >= s->begin_ns)
		last->to_ns = s->end_ns;
	else
		g_array_append_val(j->judged, now);
	if (s->begin_ns >= j->alerts->note_to_ns || s->end_ns <= j->alerts->note_from_ns)
		return;
	j->worst = !j->any || threshold_is_worse(j->threshold, figure, j->worst) ? figure : j->worst;
	j->any = true;
}

static void judge_value(struct judge *j, struct watched *w, const struct second *s, double figure,
			const struct span *slowest)
{
	const struct threshold *t = j->threshold;
	double usual = usual_of(j, w);
	if (threshold_counts(t) && t->comparison >= THRESHOLD_LT && may_miss(j->tl, s))
		return;
	note_judged(j, s, figure);
	bool red = threshold_reached(t, &t->value, figure, usual);
	if (!red && !threshold_reached(t, &t->warn, figure, usual)) {
		end_alert(w);
		return;
	}
	w->so_far = red ? w->so_far + 1 : 0;
	struct alert *a = w->alert = w->alert ? w->alert : begin_alert(j, w, s);
	if (!a)
		return;
	bool is_red = w->so_far >= t->seconds;
	if (!a->seconds++ || threshold_is_worse(t, figure, a->worst))
		note_worst(a, s, figure, usual, slowest);
	a->end_ns = s->end_ns;
	a->state = MAX(a->state, is_red ? ALERT_RED : ALERT_WARN);
	if (is_red && a->red_ns == TIME_UNKNOWN)
		a->red_ns = s->end_ns;
	bool is_worst = !j->report || threshold_is_worse(t, figure, j->report_figure) ||
			(figure == j->report_figure && strcmp(a->of, j->report->of) < 0);
	if (is_red && is_worst) {
		j->report = a;
		j->report_figure = figure;
		j->report_usual = usual;
	}
}

static char *reason_of(const struct judge *j, const struct alert *a, const struct second *s)
{
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	g_autofree char *sentence = sentence_of(a, j->report_figure, j->report_usual), *cause = alert_cause(j->tl, a);
	g_autofree char *changed = alert_changed(j->tl, a);
	return g_strdup_printf("%s\nthreshold: %s\nsecond: %s to %s (%" G_GINT64_FORMAT ")%s%s%s%s", sentence,
			       a->threshold->text, timefmt_date_ms(from, s->begin_ns), timefmt_clock_ms(to, s->end_ns),
			       s->begin_ns, cause ? "\ncause: " : "", cause ? cause : "",
			       changed ? "\nchanged: " : "", changed ? changed : "");
}

static void report(struct judge *j, const struct second *s)
{
	struct alerts *all = j->alerts;
	struct alert *a = j->report;
	bool early = j->reported_ns != TIME_UNKNOWN && s->end_ns - j->reported_ns < j->threshold->every_ns;
	j->report = NULL;
	if (!a || early || !all->call)
		return;
	j->reported_ns = s->end_ns;
	g_autofree char *reason = reason_of(j, a, s);
	all->call(all->data, a, reason);
}

/* A number or sum of values that the second does not have is 0. */
static void judge_absent(struct judge *j, const struct second *s)
{
	const struct threshold *t = j->threshold;
	if (!threshold_counts(t) || !metric_is_recorded(t->query.metric, j->tl))
		return;
	if (!t->query.n_by)
		watch(j, "", NULL);
	else if (t->comparison <= THRESHOLD_GE)
		note_judged(j, s, 0);		/* of every value that it does not have */
	TABLE_EACH(each, j->watched) {
		struct watched *w = each.value;
		if (w->seen_ns == s->begin_ns)
			continue;
		judge_value(j, w, s, 0, NULL);
		w->n_seconds++;
	}
}

static void visit(void *data, const struct second *s, const struct metric_value *v)
{
	struct judge *j = data;
	bool is_whole = !v->left_out && (!v->without_values || j->threshold->figure == FIGURE_SUM);
	j->alerts->spans_were_evicted |= !is_whole;
	if (!v->key) {
		if (is_whole)
			judge_absent(j, s);
		report(j, s);
		return;
	}
	if (!is_whole)
		return;
	struct watched *w = watch(j, v->key, v->by);
	if (!w)
		return;
	double figure = threshold_figure_of(j->threshold, v->values, v->sum);
	judge_value(j, w, s, figure, v->slowest);
	w->seen_ns = s->begin_ns;
	w->n_seconds++;
	w->sum += figure;
	if (!threshold_counts(j->threshold))
		hist_merge(&w->values, v->values);
}

static int compare_alerts(const void *a, const void *b)
{
	const struct alert *x = *(void *const *)a, *y = *(void *const *)b;
	return ORDER(x->begin_ns, y->begin_ns) ?: strcmp(x->threshold->text, y->threshold->text) ?:
	       strcmp(x->of, y->of);
}

void alerts_begin_at(struct alerts *a, int64_t ns)
{
	a->judged_to_ns = MAX(a->judged_to_ns, ns);
}

void alerts_note_range(struct alerts *a, int64_t from_ns, int64_t to_ns)
{
	a->note_from_ns = from_ns;
	a->note_to_ns = to_ns;
}

void alerts_update(struct alerts *a, const struct timeline *tl, size_t end)
{
	size_t first = timeline_find(tl, a->judged_to_ns);
	while (first < end && timeline_outline(tl, first)->begin_ns < a->judged_to_ns)
		first++;			/* a folded second that was judged in part */
	if (first >= end)
		return;
	int64_t to_ns = timeline_outline(tl, end - 1)->end_ns;
	PTR_EACH(struct judge, j, a->judges) {
		j->tl = tl;
		metric_each_second(tl, &j->threshold->query, first, end, visit, j);
	}
	a->judged_to_ns = to_ns;
	g_ptr_array_sort(a->list, compare_alerts);
}

bool alert_overlaps(const struct alert *a, int64_t from_ns, int64_t to_ns)
{
	return a->begin_ns < to_ns && (a->open || a->end_ns > from_ns);
}

size_t alerts_n(const struct alerts *a)
{
	return a->list->len;
}

const struct alert *alerts_at(const struct alerts *a, size_t i)
{
	return a->list->pdata[i];
}

const GPtrArray *alerts_thresholds(const struct alerts *a)
{
	return a->thresholds;
}

static const struct judge *judge_of(const struct alerts *a, const struct threshold *t)
{
	PTR_EACH(const struct judge, j, a->judges)
		if (j->threshold == t)
			return j;
	return NULL;
}

bool alerts_have_judged(const struct alerts *a, const struct threshold *t, int64_t from_ns, int64_t to_ns)
{
	const struct judge *j = judge_of(a, t);
	for (guint i = 0; j && i < j->judged->len; i++) {
		const struct alert_period *p = &g_array_index(j->judged, struct alert_period, i);
		if (p->from_ns < to_ns && p->to_ns > from_ns)
			return true;
	}
	return false;
}

bool alerts_worst(const struct alerts *a, const struct threshold *t, double *ret)
{
	const struct judge *j = judge_of(a, t);
	*ret = j ? j->worst : 0;
	return j && j->any;
}

bool alerts_left_out(const struct alerts *a)
{
	return a->spans_were_evicted;
}

char *alerts_describe_missing(const struct alerts *a)
{
	GString *text = g_string_new(NULL);
	uint64_t n_left_out = 0;
	for (guint i = 0; i < a->judges->len; i++)
		n_left_out += ((const struct judge *)a->judges->pdata[i])->n_left_out;
	if (n_left_out)
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " figures of more than %d values were not judged",
				       n_left_out, LIMIT_ALERT_VALUES);
	if (a->n_dropped)
		g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " alerts are not listed", text->len ? "; " : "",
				       a->n_dropped);
	if (a->spans_were_evicted)
		g_string_append_printf(text, "%sseconds of which spans were dropped to save memory were not judged",
				       text->len ? "; " : "");
	return text->len ? g_string_free(text, false) : (g_string_free(text, true), NULL);
}

/* ---- causes ---- */

static const struct span *worst_span(const struct timeline *tl, const struct alert *a)
{
	const GArray *spans = timeline_trace_spans(tl, a->worst_trace);
	for (guint i = 0; spans && i < spans->len; i++) {
		const struct span *s = timeline_span(tl, g_array_index(spans, uint32_t, i));
		if (s->span_id == a->worst_span && (int)s->kind == a->worst_kind && s->state != SPAN_OPEN)
			return s;
	}
	return NULL;
}

/* The field that says most about a metric that is not split by it. METRIC_FIELD_N: none. */
static enum metric_field telling_field(const struct metric_query *q)
{
	static const enum metric_field fields[] = {
		METRIC_BY_process, METRIC_BY_waker, METRIC_BY_device, METRIC_BY_event, METRIC_BY_interrupt,
		METRIC_BY_call, METRIC_BY_thread,
	};
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		enum metric_field f = fields[i];
		bool split = q->n_by && (q->by[0] == f || (q->n_by > 1 && q->by[1] == f));
		if (!split && q->metric->fields & 1u << f && !(q->metric->call_fields & 1u << f))
			return f;
	}
	return METRIC_FIELD_N;
}

#define BEFORE_NS (10 * NS_PER_S)	/* so much time before an alert is what it is compared with */

/* The first row of a metric split by a field, in the worst second: what has most of it; or, compared with the seconds
 * before the alert, what changed most. */
static char *first_row(const struct timeline *tl, const struct alert *a, const struct metric *metric,
		       enum metric_field field, bool compared)
{
	struct metric_query q = {
		.metric = metric, .by = { field }, .n_by = 1, .against = compared ? METRIC_RANGE : METRIC_ALONE,
		.against_from_ns = a->begin_ns - BEFORE_NS, .against_to_ns = a->begin_ns,
	};
	struct view_query query = VIEW_QUERY_INIT;
	char *text = NULL;
	if (field == METRIC_FIELD_N || !a->where || (*a->where && !metric_query_where(&q, a->where, NULL)))
		return NULL;
	query.metric = &q;
	query.from_ns = a->worst_begin_ns;
	query.to_ns = a->worst_end_ns;
	struct view *v = metric_view_new(&q);
	struct rows *rows = v->build(tl, &query);
	if (rows->rows->len > 1 || (rows->rows->len && (compared || !a->threshold->query.n_by))) {
		const struct row *first = rows->rows->pdata[0];
		struct value of = column_value(&v->columns[0], first, rows);
		struct value share = view_value(v, rows, first, "share_ratio");
		struct value more = !compared ? share : view_value(v, rows, first, "difference");
		g_autoptr(GString) words = g_string_new(metric_field_words[field]);
		append_word(words, of);
		bool less = compared && more.kind != VALUE_NONE && more.i < 0;
		g_string_append(words, less ? ": -" : compared ? ": +" : ": ");
		if (compared && more.kind != VALUE_NONE)
			append_figure(words, more.kind, (double)ABS(more.i));
		if (of.kind != VALUE_NONE && share.kind != VALUE_NONE && more.kind != VALUE_NONE)
			text = g_strdup_printf("%s%s%.0f %% of %s", words->str, compared ? ", " : "",
					       100 * ABS(share.d), compared ? "what changed" : "the total");
	}
	rows_free(rows);
	metric_view_free(v);
	metric_query_clear(&q);
	return text;
}

char *alert_cause(const struct timeline *tl, const struct alert *a)
{
	const struct span *s = worst_span(tl, a);
	if (!s)
		return a->worst_trace || a->threshold->comparison >= THRESHOLD_LT ? NULL :
			first_row(tl, a, a->threshold->query.metric, telling_field(&a->threshold->query), false);
	struct explanations *e = explanations_new(tl);
	char *cause = explanations_of(e, s);
	explanations_free(e);
	return cause;
}

char *alert_changed(const struct timeline *tl, const struct alert *a)
{
	const struct metric_query *q = &a->threshold->query;
	bool of_request = g_str_has_prefix(q->metric->id, "request.");
	bool of_span = g_str_has_prefix(q->metric->id, "span.");
	if (!of_request && !of_span)
		return first_row(tl, a, q->metric, telling_field(q), true);
	return first_row(tl, a, metric_find(of_request ? "request.time" : "span.time", NULL), METRIC_BY_part, true);
}

/* ---- baselines ---- */

bool alerts_load_baseline(struct alerts *a, const char *path, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) why = NULL;
	g_autofree char *bytes = NULL;
	size_t n;
	if (!files_read_input(path, LIMIT_BASELINE_BYTES, &bytes, &n, error))
		return false;
	if (!g_key_file_load_from_data(file, bytes, n, G_KEY_FILE_NONE, &why))
		return fail(error, why->domain, why->code, "%s: %s", path, why->message);
	g_clear_pointer(&a->baseline, g_key_file_unref);
	a->baseline = g_steal_pointer(&file);
	return true;
}

bool alerts_save_baseline(const struct alerts *a, const char *path, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	bool any = false;
	PTR_EACH(const struct judge, j, a->judges) {
		g_autofree char *group = baseline_word(j->threshold->subject);
		TABLE_EACH(each, j->watched) {
			const struct watched *w = each.value;
			g_autofree char *key = baseline_word(w->of);
			double usual = learnt_usual(j->threshold, w);
			if (usual > 0)
				g_key_file_set_double(file, group, key, usual);
			any |= usual > 0;
		}
	}
	if (!any)
		return fail(error, g_quark_from_static_string("blk-baseline"), 0,
			    "nothing is stored: no value had %d seconds, or %d single values", ALERTS_LEAST_USUAL,
			    ALERTS_LEAST_USUAL);
	gsize n;
	g_autofree char *text = g_key_file_to_data(file, &n, NULL);
	return files_set_contents(path, text, n, 0666, error);
}
