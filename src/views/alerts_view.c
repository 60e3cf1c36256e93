/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Alerts: the times in which a threshold was reached. One row for each; and one for each threshold that was not reached
 * in the range, which is OK, or unknown if the range has no value of its metric.
 */
#include "base/sort.h"
#include "views/alerts.h"
#include "views/common.h"
#include "views/explanations.h"
#include "views/registry.h"

struct alert_row {
	struct common c;
	const struct threshold *threshold;
	bool reached;
	struct alert alert;		/* a copy, if it was reached; its texts are the rows' */
	const char *sentence;
	bool judged;
	const char *cause, *changed;	/* made at first use */
	bool has_cause, has_changed;
};

#define ROW(row) ((const struct alert_row *)(row))

static bool overlaps(const struct view_query *q, const struct alert *a)
{
	bool all = !q->from_ns && !q->to_ns;
	return all || alert_overlaps(a, q->from_ns, q->to_ns);
}

static struct alert_row *add_row(struct rows *rows, const struct threshold *t, const struct alert *a)
{
	struct alert_row *r = common_new(rows, sizeof *r);
	r->threshold = t;
	const struct view_query *q = &rows->query;
	r->judged = a || alerts_have_judged(q->alerts, t, q->to_ns ? q->from_ns : INT64_MIN,
					    q->to_ns ? q->to_ns : INT64_MAX);
	r->c.row.state = !a ? r->judged ? ROW_GOOD : ROW_PLAIN : a->state == ALERT_RED ? ROW_BAD : ROW_WARN;
	r->c.row.key[0] = key_text(key_text(a ? (uint64_t)a->begin_ns : 0, t->text), a ? a->of : "");
	if (!a)
		return r;
	g_autofree char *sentence = alert_sentence(a);
	r->reached = true;
	r->alert = *a;
	r->alert.of = (char *)rows_text(rows, a->of);
	r->alert.where = a->where ? (char *)rows_text(rows, a->where) : NULL;
	r->sentence = rows_text(rows, sentence);
	r->c.row.marked = a->state == ALERT_RED;
	r->c.row.open = a->open;
	query_set_trace(&r->c.row.drill, a->worst_trace);
	r->c.row.drill.trace_zero = false;
	r->c.row.drill.from_ns = a->worst_begin_ns;
	r->c.row.drill.to_ns = a->worst_end_ns;
	return r;
}

/* Red ones first, then the newest. */
static int compare(const void *a, const void *b)
{
	const struct alert_row *x = *(void *const *)a, *y = *(void *const *)b;
	return ORDER(y->alert.state, x->alert.state) ?: ORDER(y->alert.begin_ns, x->alert.begin_ns) ?:
	       g_strcmp0(x->threshold->text, y->threshold->text) ?: g_strcmp0(x->alert.of, y->alert.of);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	const struct alerts *all = query->alerts;
	if (!all) {
		rows->about = rows->omitted = "there are no thresholds: --threshold RULE or --thresholds FILE";
		return rows;
	}
	g_autoptr(GHashTable) reached = g_hash_table_new(NULL, NULL);
	for (size_t i = 0; i < alerts_n(all); i++) {
		const struct alert *a = alerts_at(all, i);
		if (!overlaps(query, a))
			continue;
		add_row(rows, a->threshold, a);
		g_hash_table_add(reached, (gpointer)a->threshold);
	}
	const GPtrArray *thresholds = alerts_thresholds(all);
	for (guint i = 0; i < thresholds->len; i++)
		if (!g_hash_table_contains(reached, thresholds->pdata[i]))
			add_row(rows, thresholds->pdata[i], NULL);
	common_finish(rows, compare);
	g_autofree char *missing = alerts_describe_missing(all);
	if (missing)
		rows->about = rows->omitted = rows_text(rows, missing);
	return rows;
}

static struct value if_reached(const struct row *row, enum value_kind kind, int64_t n)
{
	return ROW(row)->reached ? value_int(kind, n) : value_none();
}

static GETTER(get_until)
{
	return row->open ? value_none() : if_reached(row, VALUE_TIME, ROW(row)->alert.end_ns);
}

static struct value in_unit(const struct row *row, double figure)
{
	return if_reached(row, threshold_unit(ROW(row)->threshold), (int64_t)(figure + 0.5));
}

static GETTER(get_worst)
{
	return in_unit(row, ROW(row)->alert.worst);
}

static GETTER(get_usual)
{
	double usual = ROW(row)->alert.usual;
	return usual > 0 ? in_unit(row, usual) : value_none();
}

static GETTER(get_unit)
{
	return value_text(value_unit(threshold_unit(ROW(row)->threshold)));
}

/* A text about an alert, made at first use. *is_made: it was made, or there is none. */
static struct value text_of(const struct row *row, const struct rows *rows, const char **text, bool *is_made,
			    char *(*make)(const struct timeline *tl, const struct alert *a))
{
	if (!*is_made && ROW(row)->reached) {
		g_autofree char *made = make(rows->tl, &ROW(row)->alert);
		*text = rows_text((struct rows *)rows, made);
	}
	*is_made = true;
	return value_text(*text);
}

static GETTER(get_cause)
{
	struct alert_row *r = (struct alert_row *)row;
	return text_of(row, rows, &r->cause, &r->has_cause, alert_cause);
}

static GETTER(get_changed)
{
	struct alert_row *r = (struct alert_row *)row;
	return text_of(row, rows, &r->changed, &r->has_changed, alert_changed);
}

#define IF_REACHED(name) MEMBER(struct alert_row, name, .known = offsetof(struct alert_row, reached))

static const struct column columns[] = {
	COLUMN_T("state", "STATE", 5, 0, "OK; WARN: reached, but not yet for as long as the threshold says, or only "
		    "its warn value; ALERT; -: there was nothing to judge",
		 MEMBER(struct alert_row, alert.state, .known = offsetof(struct alert_row, judged),
			.words = alert_state_words)),
	COLUMN_N("begin_ns", "SINCE", VALUE_TIME, 12, 0, "beginning of the first second in which it was reached",
		 IF_REACHED(alert.begin_ns)),
	COLUMN_N("end_ns", "UNTIL", VALUE_TIME, 12, 5, "end of the last one; -: it goes on", get_until),
	COLUMN_N("alert_ns", "ALERT AT", VALUE_TIME, 0, 0, "end of the second in which it became an alert",
		 IF_REACHED(alert.red_ns)),
	COLUMN_N("seconds", "SECS", VALUE_COUNT, 5, 4, "seconds in which it was reached", IF_REACHED(alert.seconds)),
	COLUMN_N("worst", "WORST", VALUE_COUNT, 7, 1, "the worst figure of a second", get_worst),
	COLUMN_N("usual", "USUAL", VALUE_COUNT, 7, 2, "the usual one at that time, of the seconds before it or of the "
		 "baseline", get_usual),
	COLUMN_T("unit", "UNIT", 0, 0, "unit of worst and usual: ns, bytes, count", get_unit),
	COLUMN_N("worst_ns", "WORST AT", VALUE_TIME, 12, 6, "beginning of the worst second",
		 IF_REACHED(alert.worst_begin_ns)),
	COLUMN_T("of", "OF", 20, 0, "the operation, or the values of the fields",
		 MEMBER(struct alert_row, alert.of, .none = IF_ZERO)),
	COLUMN_T("threshold", "THRESHOLD", 32, 3, "the threshold, as it was written",
		 MEMBER_OF(struct alert_row, threshold, text)),
	COLUMN_T("sentence", "WHAT", 0, 0, "the worst figure in words", MEMBER(struct alert_row, sentence)),
	COLUMN_T("changed", "CHANGED", 36, 7, "what is different in the worst second from the ten seconds before the "
		 "alert", get_changed),
	COLUMN_FLEX("cause", "CAUSE", 24, "why: the cause of the slowest request of the worst second, or what has "
			"most of it", get_cause),
};

const struct view view_alerts = {
	.id = "alerts", .title = "Alerts", .kind = VIEW_TABLE, .columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.help = "When a threshold was reached: since when, how far, and why. --threshold 'p99 of any > 3 x usual' and "
		"--thresholds FILE say what must not be reached.",
	.default_sort = "begin_ns",
	.nothing = "no thresholds: start with --threshold 'p99 of any > 3 x usual', or --thresholds FILE",
 .drill = "waterfall", .on_screen = true, .build = build,
};
