/* SPDX-License-Identifier: GPL-2.0-only */
/* A queue of messages, oldest first, and a table of its links by key; see link_outs.h. */
#include "state/spans/link_outs.h"

#include "base/limits.h"

#include <glib.h>

struct link_outs {
	GQueue queue;			/* struct link_out */
	GHashTable *by_key;		/* &link_out.key -> GList of .queue */
	bool evicted;
};

struct link_outs *link_outs_new(void)
{
	struct link_outs *l = g_new0(struct link_outs, 1);

	g_queue_init(&l->queue);
	l->by_key = g_hash_table_new(g_int64_hash, g_int64_equal);
	return l;
}

void link_outs_free(struct link_outs *l)
{
	if (!l)
		return;
	g_hash_table_unref(l->by_key);
	g_queue_clear_full(&l->queue, g_free);
	g_free(l);
}

static void drop(struct link_outs *l, GList *at)
{
	struct link_out *out = at->data;

	g_hash_table_remove(l->by_key, &out->key);
	g_queue_delete_link(&l->queue, at);
	g_free(out);
}

void link_outs_put(struct link_outs *l, const struct link_out *out)
{
	GList *before = g_hash_table_lookup(l->by_key, &out->key);
	struct link_out *added = g_memdup2(out, sizeof *out);

	if (before) {
		drop(l, before);
	} else if (l->queue.length >= LIMIT_LINK_OUTS) {
		drop(l, l->queue.head);
		l->evicted = true;
	}
	g_queue_push_tail(&l->queue, added);
	g_hash_table_insert(l->by_key, &added->key, l->queue.tail);
}

const struct link_out *link_outs_find(const struct link_outs *l, uint64_t key)
{
	const GList *at = g_hash_table_lookup(l->by_key, &key);

	return at ? at->data : NULL;
}

bool link_outs_evicted(const struct link_outs *l)
{
	return l->evicted;
}

void link_outs_close(struct link_outs *l, bool (*closed)(uint64_t trace, void *data), void *data)
{
	for (GList *at = l->queue.head; at; at = at->next) {
		struct link_out *out = at->data;
		out->closed = out->closed || closed(out->trace, data);
	}
}
