/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports evicted spans in views: see evicted.h.
 */
#include "views/evicted.h"

#include <string.h>

bool evicted_are_narrowed(const struct view_query *q)
{
	return q->host != ID_NONE || q->pid >= 0 || q->tid >= 0 || q->container;
}

bool evicted_counts(struct evicted *e, const struct range *range, const struct span_sum *s)
{
	if (range->end == range->first || s->end_ns <= range->from_ns ||
	    s->begin_ns >= range->to_ns)
		return false;
	bool within = s->begin_ns >= range->from_ns && s->end_ns <= range->to_ns;
	if (within && !s->key.others) {
		e->counted += s->count + s->partial;
		return true;
	}
	e->left_out += s->count + s->partial;
	return false;
}

static bool is_name(const char *wanted, const char *have)
{
	return !wanted || g_strcmp0(wanted, have) == 0;
}

bool evicted_wanted(const struct rows *rows, const struct span_sum *s, const char *service,
		    const char *operation)
{
	const struct view_query *q = &rows->query;
	return s->key.others || (is_name(q->service, service) && is_name(q->operation, operation));
}

static void add_about(struct rows *rows, const char *text)
{
	g_autofree char *all = g_strdup_printf("%s%s%s", rows->about ? rows->about : "",
					       rows->about ? "; " : "", text);
	rows->about = rows_text(rows, all);
	rows->dropped = rows_text(rows, text);
}

static void describe_history(struct rows *rows)
{
	uint64_t n = timeline_facts(rows->tl)->n_thinned;
	g_autofree char *text = n ? g_strdup_printf("INCOMPLETE: history has only the slowest traces of each minute; %"
						    G_GUINT64_FORMAT " others are not in it", n) : NULL;

	if (text && !query_has_trace(&rows->query))
		add_about(rows, text);
}

void evicted_describe(struct rows *rows, const struct evicted *e, const char *what, const char *missing)
{
	describe_history(rows);
	g_autoptr(GString) text = g_string_new(NULL);
	if (e->left_out)
		g_string_append_printf(text, "INCOMPLETE: of %" G_GUINT64_FORMAT " %s dropped for "
				       "memory, it is unknown which belong here", e->left_out, what);
	if (e->counted)
		g_string_append_printf(text, "%swith %" G_GUINT64_FORMAT " %s dropped for memory%s%s",
				       text->len ? "; " : "", e->counted, what,
				       missing ? ", without their " : "", missing ? missing : "");
	rows->left_out += e->left_out;
	rows->incomplete |= e->left_out > 0;
	if (text->len)
		add_about(rows, text->str);
}

void evicted_describe_missing(struct rows *rows, const struct range *range, bool traces)
{
	const struct view_query *q = &rows->query;
	bool named = q->operation || q->service;
	struct evicted e = { 0 };
	describe_history(rows);
	if (query_has_trace(q) || q->among)
		return;
	/* With a name in the query, spans are counted: it is unknown which traces they belonged to. */
	enum span_sum_of of = traces && !named ? SUM_TRACE : SUM_SPAN;
	TIMELINE_EACH_SUM(rows->tl, at, range->from_ns, range->to_ns) {
		const struct span_sum *s = at.sum;
		if (s->key.of == of && evicted_wanted(rows, s, s->key.service, s->key.name))
			evicted_counts(&e, range, s);
	}
	if (!e.counted && !e.left_out)
		return;
	bool at_most = e.left_out || (traces && named) || evicted_are_narrowed(q);
	g_autofree char *text = g_strdup_printf("not here: %s%" G_GUINT64_FORMAT " %s of this "
		"range that were dropped for memory, the slowest last", at_most ? "up to " : "",
		e.counted + e.left_out, traces ? "traces" : "spans");
	add_about(rows, text);
}

void evicted_describe_open(struct rows *rows, int64_t at)
{
	uint64_t most = 0;
	describe_history(rows);
	if (query_has_trace(&rows->query))
		return;
	TIMELINE_EACH_SUM(rows->tl, place, at, INT64_MAX) {
		const struct span_sum *s = place.sum;
		if (s->key.of == SUM_SPAN && s->end_ns - 1 > at &&
		    s->begin_ns - MAX(hist_max(&s->duration), s->partial_ns) <= at &&
		    evicted_wanted(rows, s, s->key.service, s->key.name))
			most += s->count + s->partial;
	}
	if (!most)
		return;
	g_autofree char *text = g_strdup_printf("INCOMPLETE: up to %" G_GUINT64_FORMAT " spans that "
		"may have been open then were dropped for memory", most);
	rows->incomplete = true;
	add_about(rows, text);
}
