/* SPDX-License-Identifier: GPL-2.0-only */
/* View distribution: see distribution.h. */
#include "views/distribution.h"

#include "base/timefmt.h"
#include "views/common.h"
#include "views/registry.h"

#include <string.h>

#define NOW DISTRIBUTION_NOW
#define BEFORE DISTRIBUTION_BEFORE
#define SIDES DISTRIBUTION_SIDES

static void merge_values(void *data, const struct second *s, const struct metric_value *value)
{
	(void)s;
	if (value->key)
		hist_merge(data, value->values);
}

static void add_before(struct hist *h, const struct timeline *tl, const struct metric_query *q,
		       const struct range *now, bool *ret_known)
{
	struct view_query other = VIEW_QUERY_INIT;	/* of all time */
	if (q->against == METRIC_BEFORE) {
		int64_t length;
		bool ages = __builtin_sub_overflow(now->to_ns, now->from_ns, &length) ||
			    __builtin_sub_overflow(now->from_ns, length, &other.from_ns);
		other.from_ns = ages ? INT64_MIN : other.from_ns;
		other.to_ns = now->from_ns;
	} else if (q->against == METRIC_RANGE) {
		other.from_ns = q->against_from_ns;
		other.to_ns = q->against_to_ns;
	}
	struct range r = range_of(tl, &other);
	if (q->against != METRIC_HISTORY) {
		*ret_known = r.end > r.first && !metric_left_out(tl, q, r.from_ns, r.to_ns);
		metric_each_second(tl, q, r.first, r.end, merge_values, h);
		return;
	}
	*ret_known = (now->first > r.first || now->end < r.end) && !metric_left_out(tl, q, r.from_ns, r.to_ns);
	metric_each_second(tl, q, r.first, now->first, merge_values, h);
	metric_each_second(tl, q, now->end, r.end, merge_values, h);
}

static struct distribution_side side_of(const struct hist *h, bool known)
{
	struct stat s = stat_of(h);
	return (struct distribution_side){
		.known = known, .count = s.count, .mean_ns = s.avg, .max_ns = s.max, .p50_ns = hist_quantile(h, 0.5),
		.p90_ns = hist_quantile(h, 0.9), .p99_ns = hist_quantile(h, 0.99),
		.p999_ns = hist_quantile(h, 0.999),
	};
}

struct crossing {
	int64_t line_ns;
	uint64_t over, over_most;
};

static void count_crossing(void *data, unsigned bucket, uint64_t n)
{
	struct crossing *c = data;
	c->over += hist_bucket_low(bucket) > c->line_ns ? n : 0;
	c->over_most += hist_bucket_high(bucket) > c->line_ns ? n : 0;
}

static void count_over(struct distribution_side *s, const struct hist *h, int64_t line_ns)
{
	struct crossing c = { .line_ns = line_ns };
	hist_foreach(h, count_crossing, &c);
	s->over = s->max_ns > line_ns ? MAX(c.over, 1) : 0;
	s->over_most = s->max_ns > line_ns ? c.over_most : 0;
}

char *distribution_line_text(const struct distribution_side *s, int64_t line_ns)
{
	char ns[TIMEFMT_LEN];
	double part = s->count ? 100.0 / (double)s->count : 0;
	GString *text = g_string_new(NULL);
	g_string_printf(text, "over %s: %" G_GUINT64_FORMAT, timefmt_duration(ns, line_ns), s->over);
	if (s->over_most != s->over)
		g_string_append_printf(text, "-%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " (%.1f-%.1f%%)",
				       s->over_most, s->count, (double)s->over * part, (double)s->over_most * part);
	else
		g_string_append_printf(text, " of %" G_GUINT64_FORMAT " (%.1f%%)", s->count, (double)s->over * part);
	return g_string_free(text, false);
}

const struct distribution *distribution_of(const struct rows *rows)
{
	return rows->extra;
}

char *distribution_text(const struct distribution_side *s, bool brief)
{
	const struct { const char *name; int64_t ns; } figures[] = {
		{ "mean", s->mean_ns }, { "p50", s->p50_ns }, { "p90", s->p90_ns }, { "p99", s->p99_ns },
		{ "p99.9", s->p999_ns }, { "max", s->max_ns },
	};
	if (!s->known)
		return g_strdup("no such time");
	GString *text = g_string_new(NULL);
	g_string_printf(text, brief ? "%" G_GUINT64_FORMAT ":" : "count %" G_GUINT64_FORMAT, s->count);
	for (size_t i = 0; s->count && i < G_N_ELEMENTS(figures); i++) {
		char ns[TIMEFMT_LEN];
		g_string_append_printf(text, " %s %s", figures[i].name, timefmt_duration(ns, figures[i].ns));
	}
	return g_string_free(text, false);
}

struct distribution_counting {
	int bits;
	enum distribution_which which;
	struct distribution_row rows[LATENCY_ROWS_N];
};

static void count_bucket(void *data, unsigned bucket, uint64_t n)
{
	struct distribution_counting *c = data;
	c->rows[latency_row(c->bits, hist_bucket_low(bucket))].count[c->which] += n;
}

/* The rows of durations from the least to the greatest value of any side. */
static void add_rows(struct rows *rows, const struct hist *values, int bits)
{
	g_autofree struct distribution_counting *c = g_new0(struct distribution_counting, 1);
	struct distribution *d = rows->extra;
	unsigned first = LATENCY_ROWS_N, end = 0;
	c->bits = bits;
	for (c->which = 0; c->which < SIDES; c->which++)
		hist_foreach(&values[c->which], count_bucket, c);
	for (unsigned i = 0; i < LATENCY_ROWS_N; i++) {
		if (!c->rows[i].count[NOW] && !c->rows[i].count[BEFORE])
			continue;
		first = MIN(first, i);
		end = i + 1;
	}
	for (unsigned i = first; i < end; i++) {
		struct distribution_row *r = g_memdup2(&c->rows[i], sizeof *r);
		const struct view_query all = VIEW_QUERY_INIT;
		r->low_ns = latency_row_low(bits, i);
		r->high_ns = latency_row_high(bits, i);
		r->row.key[0] = (uint64_t)r->low_ns;
		r->row.key[1] = (uint64_t)r->high_ns;
		r->row.drill = all;
		for (int w = 0; w < SIDES; w++)
			d->side[w].most = MAX(d->side[w].most, r->count[w]);
		g_ptr_array_add(rows->rows, r);
	}
	for (guint i = rows->rows->len; i-- > 0;) {
		struct distribution_row *r = rows->rows->pdata[i];
		const struct distribution_row *later = i + 1 < rows->rows->len ? rows->rows->pdata[i + 1] : NULL;
		for (int w = 0; w < SIDES; w++)
			r->at_least[w] = r->count[w] + (later ? later->at_least[w] : 0);
	}
}

static void describe(struct rows *rows)
{
	const struct distribution *d = rows->extra;
	g_autofree char *now = distribution_text(&d->side[NOW], false);
	bool compared = d->metric->against != METRIC_ALONE || rows->query.metric_other;
	g_autofree char *before = compared ? distribution_text(&d->side[BEFORE], false) : NULL;
	g_autofree char *all = g_strdup_printf("%s%s%s%s%s", now, compared ? "; before: " : "", compared ? before : "",
					       rows->about ? "; " : "", rows->about ? rows->about : "");
	rows->about = rows_text(rows, all);
}

static int bits_of(const struct view_query *query, const struct hist *values)
{
	int64_t least = INT64_MAX, most = 0;
	for (int w = 0; w < SIDES; w++) {
		bool any = hist_count(&values[w]) > 0;
		least = any ? MIN(least, hist_min(&values[w])) : least;
		most = any ? MAX(most, hist_max(&values[w])) : most;
	}
	return query->latency_rows ? latency_rows_fit(MIN(least, most), most, query->latency_rows) : 0;
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	const struct metric_query *q = query->metric ? query->metric : metric_query_default(tl);
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	struct distribution *d = g_new0(struct distribution, 1);
	struct hist values[SIDES] = { { 0 } };
	bool before = query->metric_other != NULL;
	rows->extra = d;
	rows->free_extra = g_free;
	d->metric = q;
	d->begin_ns = range.from_ns;
	d->end_ns = range.to_ns;
	metric_each_second(tl, q, range.first, range.end, merge_values, &values[NOW]);
	if (before)
		metric_each_second(tl, query->metric_other, range.first, range.end, merge_values, &values[BEFORE]);
	if (before)
		before = !metric_left_out(tl, query->metric_other, range.from_ns, range.to_ns);
	else if (q->against != METRIC_ALONE)
		add_before(&values[BEFORE], tl, q, &range, &before);
	metric_describe_evicted(rows, q, &range);
	d->side[NOW] = side_of(&values[NOW], !rows->left_out);
	d->side[BEFORE] = side_of(&values[BEFORE], before);
	for (int w = 0; w < SIDES && query->line_ns > 0; w++)
		count_over(&d->side[w], &values[w], query->line_ns);
	add_rows(rows, values, bits_of(query, values));
	describe(rows);
	rows->n_before_filter = rows->rows->len;
	hist_clear(&values[NOW]);
	hist_clear(&values[BEFORE]);
	return rows;
}

#define ROW(row) ((const struct distribution_row *)(row))

static GETTER(get_high)
{
	return ROW(row)->high_ns == INT64_MAX ? value_none() : value_int(VALUE_NS, ROW(row)->high_ns);
}

static struct value count_of(const struct rows *rows, enum distribution_which which, const uint64_t *count)
{
	bool known = distribution_of(rows)->side[which].known;
	return known ? value_int(VALUE_COUNT, (int64_t)count[which]) : value_none();
}

static struct value share_of(const struct row *row, const struct rows *rows, enum distribution_which which)
{
	const struct distribution_side *s = &distribution_of(rows)->side[which];
	return s->known && s->count ? value_ratio((double)ROW(row)->count[which] / (double)s->count) : value_none();
}

static GETTER(get_now)
{
	return count_of(rows, NOW, ROW(row)->count);
}

static GETTER(get_at_least)
{
	return count_of(rows, NOW, ROW(row)->at_least);
}

static GETTER(get_at_least_before)
{
	return count_of(rows, BEFORE, ROW(row)->at_least);
}

static GETTER(get_before)
{
	return count_of(rows, BEFORE, ROW(row)->count);
}

static GETTER(get_share)
{
	return share_of(row, rows, NOW);
}

static GETTER(get_share_before)
{
	return share_of(row, rows, BEFORE);
}

/* A row is a range of durations: a filter on duration compares the least of them. */
static bool has_named(const char *name)
{
	return !strcmp(name, "duration_ns") || !strcmp(name, "duration");
}

static struct value get_named(const void *row, const struct rows *rows, const char *name)
{
	(void)name;
	return value_int(VALUE_NS, ROW(row)->low_ns);
}

static const struct column columns[] = {
	COLUMNS_LATENCY_ROW(MEMBER(struct distribution_row, low_ns), get_high),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 7, 0, "how many durations the row has", get_now),
	COLUMN_N("share_ratio", "SHARE%", VALUE_RATIO, 6, 0, "of all of them", get_share),
	COLUMN_N("at_least_count", ">=FROM", VALUE_COUNT, 7, 2, "how many of them are as long as FROM or longer",
		 get_at_least),
	COLUMN_N("count_before", "BEFORE", VALUE_COUNT, 7, 1, "and before, with --against", get_before),
	COLUMN_N("share_before_ratio", "SHARE%", VALUE_RATIO, 6, 1, "of all before", get_share_before),
	COLUMN_N("at_least_before_count", ">=FROM", VALUE_COUNT, 7, 2, "and before, as long as FROM or longer",
		 get_at_least_before),
};

static const char *const needs[] = { NEED_LATENCIES, NEED_LATENCY_CALLERS, NULL };

const struct view view_distribution = {
	.id = "distribution", .title = "Distribution", .kind = VIEW_DISTRIBUTION,
	.help = "How many took how long: one row for each power of two of nanoseconds, with mean and percentiles. "
		"--metric chooses what (request.latency, else call.latency), --against before, history or FROM..TO "
		"what it is compared with. A value belongs to the second of its end.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns), .default_sort = "low_ns", .needs = needs,
	.nothing = "nothing of this metric in this range", .of_metric = true, .on_screen = true, .build = build,
	.has_named = has_named, .get_named = get_named,
};
