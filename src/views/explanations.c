/* SPDX-License-Identifier: GPL-2.0-only */
/* Cached explanations of spans: see explanations.h. */
#include "views/explanations.h"

#include "views/spans.h"

struct explanations {
	struct history *history;
	struct tree *small;		/* tree of the last trace, if it is small; or NULL */
	GHashTable *large;		/* trace id -> tree; several, because rows of different traces may alternate */
	int n_large;			/* number of spans in them */
};

#define LARGE 256			/* spans; a smaller tree is quickly rebuilt */
#define MOST_LARGE 1000000		/* spans in cached trees; the trees reference them and use 100 to 300 bytes
					 * each */

static void free_tree(void *t)
{
	tree_free(t);
}

struct explanations *explanations_new(const struct timeline *tl)
{
	struct explanations *v = g_new0(struct explanations, 1);
	v->history = history_new(tl);
	v->large = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_tree);
	return v;
}

void explanations_free(struct explanations *v)
{
	if (!v)
		return;
	tree_free(v->small);
	g_hash_table_unref(v->large);
	history_free(v->history);
	g_free(v);
}

struct history *explanations_history(struct explanations *v)
{
	return v->history;
}

static struct tree *tree_of(struct explanations *v, uint64_t trace_id)
{
	struct tree *t = g_hash_table_lookup(v->large, &trace_id);
	if (!t && v->small && v->small->trace_id == trace_id)
		t = v->small;
	if (t)
		return t;
	t = timeline_tree_new(v->history->tl, trace_id);
	if (t->n < LARGE) {
		tree_free(v->small);
		return v->small = t;
	}
	if (t->n > MOST_LARGE - v->n_large) {
		g_hash_table_remove_all(v->large);
		v->n_large = 0;
	}
	v->n_large += MIN(t->n, MOST_LARGE);
	g_hash_table_insert(v->large, &t->trace_id, t);
	return t;
}

char *explanations_of(struct explanations *v, const struct span *s)
{
	struct why why;
	struct tree *t = tree_of(v, s->trace_id);
	int node = tree_find(t, s->span_id, s->kind);
	if (node < 0)
		return NULL;
	why_find(v->history, t, node, &why);
	return why_sentence(v->history, t, node, &why);
}

enum part explanations_part(struct explanations *v, const struct span *s)
{
	struct why why = { .n = 0 };
	struct tree *t = tree_of(v, s->trace_id);
	int node = tree_find(t, s->span_id, s->kind);
	if (node >= 0)
		why_find(v->history, t, node, &why);
	return why.n ? why.cause[0].part : PART_N;
}

static void free_attached(void *data)
{
	explanations_free(data);
}

struct explanations *explanations_attach(struct rows *rows, const struct timeline *tl)
{
	rows->extra = explanations_new(tl);
	rows->free_extra = free_attached;
	return rows->extra;
}

struct value explanations_value(struct explanations *v, const struct rows *rows, const struct span *s,
			    const char **cached)
{
	if (!*cached) {
		g_autofree char *text = explanations_of(v, s);
		*cached = rows_text((struct rows *)rows, text ? text : "");
	}
	return value_text(**cached ? *cached : NULL);
}

/* ---- the longest span of a row ---- */

static bool is_worse(const struct worst_span *w, const struct span *s, int64_t ns)
{
	const struct span *than = w->span;
	if (!than || ns != w->ns)
		return !than || ns > w->ns;
	if (s->begin_ns != than->begin_ns)
		return s->begin_ns < than->begin_ns;
	return s->trace_id != than->trace_id ? s->trace_id < than->trace_id : s->span_id < than->span_id;
}

void worst_add(struct worst_span *w, const struct span *s, int64_t ns)
{
	if (is_worse(w, s, ns))
		*w = (struct worst_span){ .span = s, .ns = ns };
}

void worst_add_evicted(struct worst_span *w, int64_t longest_ns)
{
	if (longest_ns > w->ns)
		w->span = NULL;
}

void worst_hold(const struct worst_span *w, struct rows *rows)
{
	if (w->span)
		rows_hold_span(rows, w->span);
}

struct value worst_explanation(struct worst_span *w, const struct rows *rows)
{
	return w->span ? explanations_value(rows->extra, rows, w->span, &w->explanation) : value_none();
}
