/* SPDX-License-Identifier: GPL-2.0-only */
/* --only and --against: see narrow.h. */
#include "app/narrow.h"

#include "base/fail.h"
#include "base/text.h"
#include "export/export.h"
#include "views/narrowing.h"

#include <string.h>

static bool parse_only(struct view_query *q, const char *only, GError **error)
{
	g_auto(GStrv) words = g_strsplit(only, ",", -1);

	if (!*words)
		return fail(error, BLK_EXPR_ERROR, 0, "takes %s", "trace=ID and the like, not an empty word");
	for (char **w = words; *w; w++) {
		const char *equal = strchr(g_strstrip(*w), '=');
		const struct narrowing *found = equal ? narrowing_find(*w, (size_t)(equal - *w)) : NULL;

		if (!found)
			return fail(error, BLK_EXPR_ERROR, 0, "takes trace=ID, span=ID, pid=N, tid=N, service=NAME, "
				    "operation=NAME, not '%s'", *w);
		if (!narrowing_set(found, q, equal + 1, error))
			return false;
	}
	return true;
}

static bool parse_against(struct view_query *q, const char *against, GError **error)
{
	g_auto(GStrv) ids = g_strsplit(against, ":", 2);

	if (!strcmp(against, "usual") || !strcmp(against, "before"))
		return true;
	q->history = !strcmp(against, "history");
	q->quiet = !strcmp(against, "quiet");
	if (q->history || q->quiet)
		return true;
	q->other_upper = ids[0] ? text_id_upper(ids[0]) : 0;
	return narrowing_parse_id(ids[0] ? ids[0] : "", true, &q->other_trace, error) &&
	       (!ids[0] || !ids[1] || narrowing_parse_id(ids[1], false, &q->other_span, error));
}

bool narrow_parse(struct view_query *ret, const char *only, const char *against, GError **error)
{
	*ret = (struct view_query)VIEW_QUERY_INIT;
	if ((!only || parse_only(ret, only, error)) &&
	    (!against || parse_against(ret, against, error)))
		return true;
	narrow_clear(ret);
	return false;
}

bool narrow_fits(const struct view_query *q, const struct view *v, GError **error)
{
	g_autoptr(GString) takes = g_string_new(NULL);
	const char *other = NULL;

	for (size_t i = 0; i < N_NARROWINGS; i++) {
		const struct narrowing *n = &narrowings[i];

		if (n->name && v->only & n->only)
			g_string_append_printf(takes, "%s%s=", takes->len ? ", " : "", n->name);
		else if (n->name && narrowing_is_set(n, q))
			other = n->name;
	}
	if (!other && v->of_span && q->span_id && !query_has_trace(q))
		return fail(error, BLK_EXPR_ERROR, 0, "span=ID needs trace=ID as well in view %s", v->id);
	if (!other)
		return true;
	return fail(error, BLK_EXPR_ERROR, 0, "view %s takes %s, not %s=", v->id,
		    takes->len ? takes->str : "nothing", other);
}

static bool is_span_anywhere(const struct timeline *tl, uint64_t span)
{
	for (size_t i = 0; i < timeline_n_spans(tl); i++)
		if (timeline_span(tl, i)->span_id == span)
			return true;
	return false;
}

static bool is_span_there(const struct timeline *tl, uint64_t trace, uint64_t span)
{
	const GArray *spans = timeline_trace_spans(tl, trace);

	for (guint i = 0; spans && i < spans->len; i++)
		if (timeline_span(tl, g_array_index(spans, uint32_t, i))->span_id == span)
			return true;
	return false;
}

void narrow_resolve(struct view_query *q, const struct timeline *tl)
{
	q->trace_id = export_trace_named(tl, q->trace_upper, q->trace_id);
	q->other_trace = export_trace_named(tl, q->other_upper, q->other_trace);
	q->trace_zero = q->trace_zero && !q->trace_id;
	q->trace_upper = q->other_upper = 0;
}

void narrow_keep(const struct view_query *q, struct timeline *tl)
{
	const uint64_t ids[] = { q->trace_id, q->other_trace,
				 q->trace_upper ? export_other_id(q->trace_upper, q->trace_id) : 0,
				 q->other_upper ? export_other_id(q->other_upper, q->other_trace) : 0 };
	timeline_retain_traces(tl, ids, G_N_ELEMENTS(ids));
}

bool narrow_is_there(const struct view_query *narrow, const struct timeline *tl, GError **error)
{
	struct view_query q = *narrow;
	narrow_resolve(&q, tl);
	const struct { bool any; uint64_t trace, span; } asked[] = {
		{ query_has_trace(&q), q.trace_id, q.span_id },
		{ q.other_trace != 0, q.other_trace, q.other_span },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		uint64_t trace = asked[i].trace, span = asked[i].span;
		if (!asked[i].any && span && !is_span_anywhere(tl, span))
			return fail(error, BLK_EXPR_ERROR, 0, "no span %016" G_GINT64_MODIFIER "x in what was read",
				    span);
		if (!asked[i].any)
			continue;
		if (!timeline_find_trace(tl, trace))
			g_set_error(error, BLK_EXPR_ERROR, 0, "no trace %016" G_GINT64_MODIFIER
				    "x in what was read", trace);
		else if (span && !is_span_there(tl, trace, span))
			g_set_error(error, BLK_EXPR_ERROR, 0, "no span %016" G_GINT64_MODIFIER "x in trace %016"
				    G_GINT64_MODIFIER "x", span, trace);
		else
			continue;
		return false;
	}
	return true;
}

void narrow_clear(struct view_query *q)
{
	g_free((char *)q->service);
	g_free((char *)q->operation);
	*q = (struct view_query)VIEW_QUERY_INIT;
}
