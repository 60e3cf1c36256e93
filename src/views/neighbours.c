/* SPDX-License-Identifier: GPL-2.0-only */
/* Noisy neighbours by process: see neighbours.h. */
#include "views/neighbours.h"

#include "base/each.h"
#include "base/sort.h"
#include "views/common.h"
#include "views/history.h"

static void clear_row(void *p)
{
	struct neighbour_row *r = p;
	g_free(r->label);
}

static const char *process_name(const struct timeline *tl, uint32_t process, int64_t at)
{
	const struct process_info *p = timeline_process(tl, process);
	const char *comm = p ? timeline_comm(tl, p->leader, at) : "";
	return *comm ? comm : NULL;
}

bool neighbour_is_of_request(const struct timeline *tl, const struct span *s, uint32_t thread)
{
	g_autoptr(blk_history) h = history_new(tl);
	int64_t from = s->begin_ns, to = s->end_ns, longest = 0;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		int64_t runnable = w->part == PART_PREEMPTED ? w->begin_ns : w->wake_ns;
		if (w->cpu_holder != thread || w->end_ns - runnable <= longest)
			continue;
		from = runnable;
		to = w->end_ns;
		longest = to - from;
	}
	return history_works_for(h, s, thread, from, to);
}

/* Adds a thread to the row of its process. The first thread of a process creates the row, which has its label. */
static void add_thread(GArray *rows, const struct timeline *tl, const struct span *s,
		       const struct span_neighbour *n)
{
	const struct thread_info *t = timeline_thread(tl, n->thread);
	uint32_t process = t && !t->kernel ? t->process : ID_NONE;
	bool same_request = neighbour_is_of_request(tl, s, n->thread);
	for (guint i = 0; process != ID_NONE && i < rows->len; i++) {
		struct neighbour_row *r = &g_array_index(rows, struct neighbour_row, i);
		if (r->process != process || r->same_request != same_request)
			continue;
		r->ns += n->ns;
		r->n_threads++;
		return;
	}
	struct neighbour_row r = { .label = thread_label_new(tl, n->thread, s->end_ns),
				   .ns = n->ns, .process = process, .n_threads = 1,
				   .same_request = same_request };
	g_array_append_val(rows, r);
}

static int longest_first(const void *va, const void *vb)
{
	const struct neighbour_row *a = va, *b = vb;
	return ORDER(b->ns, a->ns) ?: strcmp(a->label, b->label);
}

static void add_rest(GArray *rows, int64_t ns, char *label)
{
	struct neighbour_row r = { .label = label, .ns = ns, .process = ID_NONE };
	if (ns)
		g_array_append_val(rows, r);
	else
		g_free(label);
}

static GArray *known_of(const struct timeline *tl, const struct span *s)
{
	const struct span_runqueue *b = s->runqueue;
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(struct neighbour_row));
	g_array_set_clear_func(rows, clear_row);
	for (uint32_t i = 0; b && i < b->n; i++)
		add_thread(rows, tl, s, &b->top[i]);
	ARRAY_EACH(struct neighbour_row, r, rows) {
		const char *name = process_name(tl, r->process, s->end_ns);
		if (r->n_threads == 1 || !name)
			continue;
		g_free(r->label);
		r->label = g_strdup_printf("%s, %u threads", name, r->n_threads);
	}
	g_array_sort(rows, longest_first);
	return rows;
}

GArray *neighbours_of(const struct timeline *tl, const struct span *s)
{
	const struct span_runqueue *b = s->runqueue;
	GArray *rows = known_of(tl, s);
	ARRAY_EACH(struct neighbour_row, r, rows) {
		g_autofree char *label = r->label;
		r->label = r->same_request ? g_strdup_printf("%s (same request)", label) : g_steal_pointer(&label);
	}
	if (!b)
		return rows;
	add_rest(rows, b->more_ns, g_strdup_printf("%u other thread%s", b->n_more,
						   b->n_more == 1 ? "" : "s"));
	add_rest(rows, b->idle_ns, g_strdup("(idle)"));
	add_rest(rows, b->unknown_ns, g_strdup("(unknown)"));
	return rows;
}

static char *longest_of(const struct timeline *tl, const struct span *s, bool same_request, int64_t *ret_ns)
{
	g_autoptr(GArray) rows = known_of(tl, s);
	ARRAY_EACH(const struct neighbour_row, r, rows) {
		if (r->same_request != same_request)
			continue;
		*ret_ns = r->ns;
		return g_strdup(r->label);
	}
	return NULL;
}

char *neighbour_main(const struct timeline *tl, const struct span *s, int64_t *ret_ns)
{
	return longest_of(tl, s, false, ret_ns);
}

char *neighbour_of_request(const struct timeline *tl, const struct span *s, int64_t *ret_ns)
{
	return longest_of(tl, s, true, ret_ns);
}
