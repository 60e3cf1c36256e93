/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracks of a Perfetto export: see tracks.h. */
#include "export/tracks.h"

#include "base/each.h"
#include "base/sort.h"
#include "views/common.h"

/* Invented ids are above those of Linux (PID_MAX_LIMIT is 2^22). */
#define MADE_UP (INT64_C(1) << 23)

static void clear_track(void *v)
{
	struct track *t = v;
	g_free(t->process);
	g_free(t->name);
}

/* The process number in the export: the pid, unless a process of another host has it. */
static int64_t number_process(struct tracks *t, const struct span *s, const char *key)
{
	void *known;
	int64_t pid = s->pid;

	if (g_hash_table_lookup_extended(t->processes, key, NULL, &known))
		return GPOINTER_TO_INT(known);
	if (pid < 0 || g_hash_table_contains(t->pids, GINT_TO_POINTER(pid)))
		pid = MADE_UP + g_hash_table_size(t->processes);
	g_hash_table_add(t->pids, GINT_TO_POINTER(pid));
	g_hash_table_insert(t->processes, g_strdup(key), GINT_TO_POINTER(pid));
	return pid;
}

static char *process_name(const struct timeline *tl, const struct span *s)
{
	const struct host_info *host = timeline_host(tl, s->host);
	GString *name = g_string_new(s->service);

	if (s->pid >= 0)
		g_string_append_printf(name, "%s%d", name->len ? " " : "", s->pid);
	if (host && *host->name)
		g_string_append_printf(name, " on %s", host->name);
	return g_string_free(name, FALSE);
}

static unsigned track_of(struct tracks *t, const struct span *s, uint32_t thread)
{
	const struct timeline *tl = t->set->h->tl;
	const struct thread_info *info = timeline_thread(tl, thread);
	/* If the process is unknown, the service takes its place. */
	g_autofree char *process = s->pid >= 0 ? g_strdup_printf("%u %d", s->host, s->pid) :
		g_strdup_printf("%u s%p", s->host, s->service);
	g_autofree char *key = g_strdup_printf("%s %u", process, thread);
	void *known;

	if (g_hash_table_lookup_extended(t->by_key, key, NULL, &known))
		return GPOINTER_TO_UINT(known);
	unsigned index = t->tracks->len;
	struct track track = { .thread = info ? thread : ID_NONE };
	track.pid = number_process(t, s, process);
	track.tid = info && info->tid > 0 ? info->tid : MADE_UP + 2 * (int64_t)index;
	track.strip_tid = MADE_UP + 2 * (int64_t)index + 1;
	track.process = process_name(tl, s);
	track.name = info ? thread_label_new(tl, thread, s->end_ns) : g_strdup("spans");
	g_array_append_val(t->tracks, track);
	g_hash_table_insert(t->by_key, g_steal_pointer(&key), GUINT_TO_POINTER(index));
	return index;
}

static void add_node(struct tracks *t, unsigned trace, int node)
{
	const struct tree *tree = t->set->traces[trace].tree;
	const struct span *s = tree->nodes[node].span;
	struct item item = { .track = track_of(t, s, s->thread), .trace = trace, .node = node,
			     .begin_ns = s->begin_ns, .end_ns = s->end_ns };

	g_array_append_val(t->items, item);
	if (!t->set->with_kernel)
		return;
	GArray *kernel = kernel_spans(tree, node);
	g_ptr_array_add(t->kernel, kernel);
	ARRAY_EACH(const struct kernel_span, k, kernel) {
		struct item in = { .track = track_of(t, s, k->thread), .trace = trace, .node = node,
				   .kernel = k, .begin_ns = k->begin_ns, .end_ns = k->end_ns };
		g_array_append_val(t->items, in);
	}
}

/* By track, then outer items first. Of items with equal times, the span comes first, then the call, then the wait.
 * Of two spans, tree order decides. */
static int compare_items(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;
	int rank_a = a->kernel ? 1 + (a->kernel->wait != NULL) : 0;
	int rank_b = b->kernel ? 1 + (b->kernel->wait != NULL) : 0;

	return ORDER(a->track, b->track) ?: ORDER(a->begin_ns, b->begin_ns) ?: ORDER(b->end_ns, a->end_ns) ?:
	       ORDER(rank_a, rank_b) ?: ORDER(a->trace, b->trace) ?: ORDER(a->node, b->node);
}

static void nest(struct tracks *t)
{
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(int64_t));	/* ends of open items */
	unsigned track = 0;

	for (guint i = 0; i < t->items->len; i++) {
		struct item *item = &g_array_index(t->items, struct item, i);
		if (i == 0 || item->track != track)
			g_array_set_size(open, 0);
		track = item->track;
		while (open->len && g_array_index(open, int64_t, open->len - 1) <= item->begin_ns)
			g_array_set_size(open, open->len - 1);
		g_assert(track < t->tracks->len);
		item->async = g_array_index(t->tracks, struct track, track).thread == ID_NONE ||
			(open->len && g_array_index(open, int64_t, open->len - 1) < item->end_ns);
		if (!item->async)
			g_array_append_val(open, item->end_ns);
	}
}

static void unref_array(void *v)
{
	g_array_unref(v);
}

void tracks_init(struct tracks *t, const struct export_set *set)
{
	*t = (struct tracks){
		.set = set,
		.tracks = g_array_new(FALSE, TRUE, sizeof(struct track)),
		.items = g_array_new(FALSE, TRUE, sizeof(struct item)),
		.kernel = g_ptr_array_new_with_free_func(unref_array),
		.by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.processes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.pids = g_hash_table_new(NULL, NULL),
	};
	g_array_set_clear_func(t->tracks, clear_track);
	for (guint i = 0; i < set->n; i++)
		for (int node = 0; node < set->traces[i].tree->n; node++)
			if (set->traces[i].wanted[node])
				add_node(t, i, node);
	g_array_sort(t->items, compare_items);
	nest(t);
}

void tracks_clear(struct tracks *t)
{
	g_array_unref(t->tracks);
	g_array_unref(t->items);
	g_ptr_array_unref(t->kernel);
	g_hash_table_unref(t->by_key);
	g_hash_table_unref(t->processes);
	g_hash_table_unref(t->pids);
}
