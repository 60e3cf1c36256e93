/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of processes: see process_tree.h. */
#include "views/process_tree.h"

#include <string.h>

#define NO_ROW G_MAXUINT

struct links {
	const struct rows *rows;
	guint n;
	guint *namesake;	/* another process with the same pid; NO_ROW: none */
	guint *parent, *child, *sibling;
	GHashTable *by_pid;	/* key of host and pid -> index + 1 of one process */
};

static const struct common *row_at(const struct links *l, guint i)
{
	return l->rows->rows->pdata[i];
}

static gint64 pid_key(const struct common *c, int32_t pid)
{
	return (gint64)key_int(key_text(0, c->host), (uint64_t)(uint32_t)pid);
}

static bool is_thread(const struct common *c)
{
	return c->tid >= 0 && c->tid != c->pid;
}

static void index_rows(struct links *l)
{
	l->by_pid = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < l->n; i++) {
		const struct common *c = row_at(l, i);
		gint64 key = pid_key(c, c->pid);
		guint head;

		l->namesake[i] = l->parent[i] = l->child[i] = l->sibling[i] = NO_ROW;
		if (c->pid < 0 || is_thread(c))
			continue;
		head = GPOINTER_TO_UINT(g_hash_table_lookup(l->by_pid, &key));
		l->namesake[i] = head ? head - 1 : NO_ROW;
		g_hash_table_replace(l->by_pid, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(i + 1));
	}
}

/* The parent process. If its pid was reused, it is the last process that began before the child, or the first one if
 * the child's beginning is unknown. */
static guint find_parent(const struct links *l, guint row, int32_t pid)
{
	const struct common *c = row_at(l, row);
	gint64 key = pid_key(c, pid);
	guint best = NO_ROW, head = GPOINTER_TO_UINT(g_hash_table_lookup(l->by_pid, &key));

	if (pid < 0)
		return NO_ROW;
	for (guint i = head ? head - 1 : NO_ROW; i != NO_ROW; i = l->namesake[i]) {
		int64_t start = row_at(l, i)->start_ns;

		if (i == row || start > c->start_ns)
			continue;
		if (best == NO_ROW || start > row_at(l, best)->start_ns)
			best = i;
	}
	return best;
}

/* Would the row be its own ancestor? This occurs only in damaged traces. */
static bool is_ancestor(const struct links *l, guint row, guint of)
{
	guint steps = 0;

	for (; of != NO_ROW && steps <= l->n; of = l->parent[of], steps++) {
		if (of == row)
			return true;
	}
	return false;
}

static void link_rows(struct links *l, int32_t (*parent)(const struct row *row))
{
	for (guint i = 0; i < l->n; i++) {
		const struct common *c = row_at(l, i);
		guint p = find_parent(l, i, is_thread(c) ? c->pid : parent(&c->row));

		if (p != NO_ROW && !is_ancestor(l, i, p))
			l->parent[i] = p;
	}
	for (guint i = l->n; i-- > 0;) {
		guint p = l->parent[i];

		if (p == NO_ROW)
			continue;
		l->sibling[i] = l->child[p];
		l->child[p] = i;
	}
}

/* The next row in display order; changes *depth accordingly. */
static guint next_of(const struct links *l, guint i, unsigned *depth)
{
	if (l->child[i] != NO_ROW) {
		++*depth;
		return l->child[i];
	}
	for (; i != NO_ROW && l->sibling[i] == NO_ROW; i = l->parent[i])
		--*depth;
	return i == NO_ROW ? NO_ROW : l->sibling[i];
}

static void put_in_order(const struct links *l, struct rows *rows)
{
	g_autofree void **order = g_new(void *, l->n + 1);
	guint n = 0;

	for (guint root = 0; root < l->n; root++) {
		unsigned depth = 0;

		if (l->parent[root] != NO_ROW)
			continue;
		for (guint i = root; i != NO_ROW; i = next_of(l, i, &depth)) {
			struct row *row = rows->rows->pdata[i];

			row->depth = (uint16_t)MIN(depth, G_MAXUINT16);
			row->expandable = l->child[i] != NO_ROW;
			order[n++] = row;
		}
	}
	if (n)
		memcpy(rows->rows->pdata, order, n * sizeof *order);
}

void process_tree_arrange(struct rows *rows, int32_t (*parent)(const struct row *row))
{
	guint n = rows->rows->len;
	g_autofree guint *numbers = g_new(guint, (gsize)n * 4 + 1);
	struct links l = { .rows = rows, .n = n, .namesake = numbers, .parent = numbers + n,
			   .child = numbers + 2 * (gsize)n, .sibling = numbers + 3 * (gsize)n };

	index_rows(&l);
	link_rows(&l, parent);
	put_in_order(&l, rows);
	g_hash_table_unref(l.by_pid);
	rows->tree = true;
}
