/* SPDX-License-Identifier: GPL-2.0-only */
/* Sentences for rows: see verdicts.h. */
#include "views/verdicts.h"

struct verdicts {
	struct history *history;
	GHashTable *trees;		/* trace id -> tree, of those asked for */
};

static void free_tree(void *t)
{
	tree_free(t);
}

struct verdicts *verdicts_new(const struct timeline *tl)
{
	struct verdicts *v = g_new0(struct verdicts, 1);
	v->history = history_new(tl);
	v->trees = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_tree);
	return v;
}

void verdicts_free(struct verdicts *v)
{
	if (!v)
		return;
	g_hash_table_unref(v->trees);
	history_free(v->history);
	g_free(v);
}

struct history *verdicts_history(struct verdicts *v)
{
	return v->history;
}

char *verdicts_of(struct verdicts *v, const struct span *s)
{
	struct why why;
	struct tree *t = g_hash_table_lookup(v->trees, &s->trace_id);
	if (!t) {
		t = tree_new(v->history->tl, s->trace_id);
		g_hash_table_insert(v->trees, &t->trace_id, t);
	}
	int node = tree_find(t, s->span_id, s->kind);
	if (node < 0)
		return NULL;
	why_find(v->history, t, node, &why);
	return why_sentence(v->history, t, node, &why);
}

static void free_attached(void *data)
{
	verdicts_free(data);
}

struct verdicts *verdicts_attach(struct rows *rows, const struct timeline *tl)
{
	rows->extra = verdicts_new(tl);
	rows->free_extra = free_attached;
	return rows->extra;
}

struct value verdicts_value(struct verdicts *v, const struct rows *rows, const struct span *s,
			    const char **kept)
{
	if (!*kept) {
		g_autofree char *text = verdicts_of(v, s);
		*kept = rows_text((struct rows *)rows, text ? text : "");
	}
	return value_text(**kept ? *kept : NULL);
}
