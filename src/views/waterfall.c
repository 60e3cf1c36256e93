/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One trace as a tree of rows, with an explanation of each span.
 */
#include "views/waterfall.h"

#include "base/each.h"
#include "views/evicted.h"
#include "views/path.h"
#include "views/registry.h"
#include "views/traces.h"
#include "views/usual.h"


#define ROW(row) ((const struct waterfall_row *)(row))

/* Explanations are made at first use, because each needs a walk through the tree. */
static struct value explanation(const struct row *row, const struct rows *rows, const char **cached,
			    char *(*text_of)(struct history *h, const struct tree *t,
					     int asked, const struct why *why))
{
	const struct waterfall *w = waterfall_of(rows);
	if (!*cached) {
		struct why why;
		why_find(w->history, w->tree, ROW(row)->index, &why);
		g_autofree char *text = text_of(w->history, w->tree, ROW(row)->index, &why);
		*cached = rows_text((struct rows *)rows, text ? text : "");
	}
	return value_text(**cached ? *cached : NULL);
}

static GETTER(get_why)
{
	return explanation(row, rows, &((struct waterfall_row *)row)->why, why_short);
}

static GETTER(get_explanation)
{
	return explanation(row, rows, &((struct waterfall_row *)row)->columns.explanation, why_sentence);
}

static GETTER(get_mainly_text)
{
	const struct span *s = ROW(row)->span;
	return value_text(part_share((struct rows *)rows, rows_missing(rows, s->host), s->part));
}

static const struct column columns[] = {
	COLUMNS_SPAN,
	COLUMNS_PARTS
	COLUMN_N("depth", "DEPTH", VALUE_COUNT, 0, 0, "how deep in the tree; 0: a root", MEMBER(struct row, depth)),
	COLUMN_N("critical", "CRIT", VALUE_COUNT, 0, 0, "1: on the critical path",
		 MEMBER(struct waterfall_row, critical)),
	COLUMN_T("mainly", "MAINLY", 0, 0, "the largest part of its time", get_mainly_text),
	COLUMN_T("why", "WHY", 0, 0, "why it took so long", get_why),
	COLUMNS_SAID("the span", span_get_tags, span_get_annotations, span_get_severity),
	COLUMN_EXPLANATION(get_explanation),
	COLUMN_PARENT_STATE,
};

/* --- build --- */

/* The name, followed by the service if it differs from the parent's. */
static const char *row_name(struct rows *rows, const struct tree *t, int i)
{
	const struct span *s = t->nodes[i].span;
	const char *name = s->name;
	int p = t->nodes[i].parent;
	if (p < 0 || t->nodes[p].span->service == s->service)
		return name;
	return rows_take_text(rows, g_strdup_printf("%s %s", name, s->service));
}

static struct waterfall_row *add_row(struct rows *rows, struct waterfall *w, int i)
{
	const struct tree_node *node = &w->tree->nodes[i];
	struct waterfall_row *r = common_new(rows, sizeof(*r));
	span_row_fill(&r->columns, rows, node->span);
	r->row.depth = node->depth;
	r->row.expandable = node->first_child >= 0;
	r->span = node->span;
	r->name = row_name(rows, w->tree, i);
	r->name_only = r->columns.c.name;
	r->service = r->columns.c.service;
	r->parent = node->parent;
	r->index = i;
	r->critical = node->critical;
	r->orphan = node->orphan;
	return r;
}

static void count_whole(struct waterfall *w)
{
	struct intmap processes = { 0 }, services = { 0 };
	w->begin_ns = w->root->begin_ns;
	w->end_ns = w->root->end_ns;
	w->n_spans = w->tree->n;
	for (int i = 0; i < w->tree->n; i++) {
		const struct span *s = w->tree->nodes[i].span;
		w->begin_ns = MIN(w->begin_ns, s->begin_ns);
		w->end_ns = MAX(w->end_ns, s->end_ns);
		w->open |= s->state == SPAN_OPEN;
		w->errors += s->errors;
		intmap_set(&services, (uint64_t)(uintptr_t)s->service, 1);
		if (s->pid >= 0)
			intmap_set(&processes, (uint64_t)s->host << 32 | (uint32_t)s->pid, 1);
	}
	w->n_processes = processes.n;
	w->n_services = services.n;
	intmap_clear(&processes);
	intmap_clear(&services);
}

static void add_explanation(struct rows *rows, struct waterfall *w)
{
	struct why why;
	const struct trace_info *t = timeline_find_trace(w->history->tl, w->trace_id);
	w->usual_ns = usual_of_any_trace(w->history, t);
	w->x_usual = usual_x_trace(w->history, t);
	why_find_trace(w->history, w->tree, &why);
	g_autofree char *sentence = why_sentence(w->history, w->tree, w->tree->root, &why);
	w->why = sentence ? rows_text(rows, sentence) : NULL;
	w->blamed = why.node;
}

static void waterfall_free(void *data)
{
	struct waterfall *w = data;
	for (size_t i = 0; i < w->n_all; i++)
		g_free(w->all[i]);
	g_free(w->all);
	tree_free(w->tree);
	history_free(w->history);
	g_free(w->usual_line);
	g_free(w);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct waterfall *w = g_new0(struct waterfall, 1);
	rows->extra = w;
	rows->free_extra = waterfall_free;
	g_ptr_array_set_free_func(rows->rows, NULL);	/* w->all owns the rows */
	w->trace_id = query_has_trace(query) ? query->trace_id : traces_slowest(tl, query);
	w->usual_ns = w->blamed = -1;
	w->x_usual = -1;
	w->history = history_new(tl);
	w->tree = timeline_tree_new(tl, w->trace_id);
	path_mark(w->tree);
	if (w->tree->root < 0)
		return rows;
	w->root = w->tree->nodes[w->tree->root].span;
	w->all = g_new(struct waterfall_row *, w->tree->n);
	for (int i = 0; i < w->tree->n; i++)
		w->all[w->n_all++] = add_row(rows, w, i);
	count_whole(w);
	const GArray *missing = timeline_missing_spans(tl, w->trace_id);
	w->n_missing = missing ? missing->len : 0;
	w->has_root = w->root->parent_id == 0;
	add_explanation(rows, w);
	struct range range = range_of(tl, query);
	evicted_describe_missing(rows, &range, true);	/* the slowest trace of the range may have been evicted */
	rows->n_before_filter = rows->rows->len;
	return rows;
}

char *waterfall_missing(const struct waterfall *w)
{
	if (!w->n_missing)
		return NULL;
	return g_strdup_printf("incomplete: %u span%s missing%s", w->n_missing, w->n_missing == 1 ? " is" : "s are",
			       w->has_root ? "" : ", the root too, so it took longer than shown");
}

const struct waterfall *waterfall_of(const struct rows *rows)
{
	return rows->free_extra == waterfall_free ? rows->extra : NULL;
}

static const char *const needs[] = { "zipkin:timestamp", "sched_switch", NEED_WAKEUPS, NULL };

const struct view view_waterfall = {
	.only = ONLY_SPANS & ~ONLY_SPAN,
	.id = "waterfall", .title = "Waterfall",
	.help = "One request as a tree of bars: what each span's thread did at any instant, the "
		"critical path, and why it took so long.",
	.kind = VIEW_WATERFALL, .columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "begin_ns", .needs = needs, .on_screen = true, .build = build,
};

/* --- places --- */

int waterfall_find(const struct rows *rows, uint64_t span_id, int kind)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct span *s = ROW(rows->rows->pdata[i])->span;
		if (s->span_id == span_id && (kind < 0 || kind == (int)s->kind))
			return i;
	}
	return -1;
}

void waterfall_where(const struct rows *rows, const struct row *row, int32_t *ret_tid,
		     int64_t *ret_at)
{
	const struct span *span = ROW(row)->span;
	const struct thread_info *t = timeline_thread(rows->tl, span->thread);

	*ret_tid = t ? t->tid : -1;
	*ret_at = span->begin_ns;
}

int waterfall_longest_child(const struct rows *rows, const struct waterfall_row *row)
{
	int longest = -1;
	int64_t most = -1;
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct waterfall_row *r = rows->rows->pdata[i];
		if (r->parent != row->index || span_duration(r->span) <= most)
			continue;
		most = span_duration(r->span);
		longest = i;
	}
	return longest;
}

/* --- folding --- */

struct waterfall_folds {
	GHashTable *keys;		/* uint64_t[2] */
};

static guint key_hash(const void *v)
{
	const uint64_t *key = v;
	return intmap_hash(key[0] ^ key[1] * 31);
}

static gboolean key_equal(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(uint64_t)) == 0;
}

waterfall_folds *waterfall_folds_new(void)
{
	waterfall_folds *folds = g_new(waterfall_folds, 1);
	folds->keys = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	return folds;
}

void waterfall_folds_free(waterfall_folds *folds)
{
	if (!folds)
		return;
	g_hash_table_unref(folds->keys);
	g_free(folds);
}

void waterfall_folds_set(waterfall_folds *folds, const struct row *row, bool folded)
{
	if (folded)
		g_hash_table_add(folds->keys, g_memdup2(row->key, sizeof(row->key)));
	else
		g_hash_table_remove(folds->keys, row->key);
}

/* w->all owns the rows, so hidden rows remain valid. */
void waterfall_fold_rows(struct rows *rows, const waterfall_folds *folds)
{
	const struct waterfall *w = waterfall_of(rows);
	guint n = 0;
	int hidden_below = -1;		/* depth of the folded row above; -1: none */
	PTR_EACH(struct waterfall_row, r, rows->rows) {
		if (hidden_below >= 0 && r->row.depth > hidden_below)
			continue;
		hidden_below = -1;
		r->folded = r->row.expandable && g_hash_table_contains(folds->keys, r->row.key);
		for (int k = r->index + 1; r->folded && k < tree_end(w->tree, r->index); k++)
			r->critical |= w->tree->nodes[k].critical;	/* a folded row stands for those below it */
		if (r->folded)
			hidden_below = r->row.depth;
		rows->rows->pdata[n++] = r;
	}
	g_ptr_array_set_size(rows->rows, n);
}
