/* SPDX-License-Identifier: GPL-2.0-only */
/* Self time of imported spans: the time that no child covers. */
#include "export/import_join.h"

#include "base/each.h"
#include "base/sort.h"
#include "state/store/span_tree.h"

#define UNKNOWN_SELF (-1)

static int compare_traces(const void *va, const void *vb, void *unused)
{
	const struct span *a = *(struct span *const *)va, *b = *(struct span *const *)vb;
	(void)unused;
	return ORDER(a->trace_id, b->trace_id);
}

/* Children are in order of time. */
static int64_t self_time(const struct tree *t, int i)
{
	const struct span *s = t->nodes[i].span;
	int64_t self = span_duration(s), done = s->begin_ns;
	for (int c = t->nodes[i].first_child; c >= 0; c = t->nodes[c].next) {
		const struct span *child = t->nodes[c].span;
		int64_t from = MAX(child->begin_ns, done), to = MIN(child->end_ns, s->end_ns);
		if (to <= from)
			continue;
		self -= to - from;
		done = to;
	}
	return self;
}

/* Of all spans of a trace. */
static void set_self(struct span **spans, int n)
{
	int unknown = 0;
	for (int i = 0; i < n; i++)
		unknown += spans[i]->self_ns == UNKNOWN_SELF;
	if (!unknown)
		return;
	g_autoptr(blk_tree) t = tree_new(spans[0]->trace_id, spans, n);
	for (int i = 0; i < t->n; i++)
		if (t->nodes[i].span->self_ns == UNKNOWN_SELF)
			t->nodes[i].span->self_ns = self_time(t, i);
}

void joined_set_self(struct joined *j)
{
	g_autofree struct span **spans = g_new(struct span *, j->spans->len + 1);
	size_t n = 0;

	PTR_EACH(const struct read_span, r, j->spans) {
		if (!r->span)
			continue;
		if (!r->has_self)
			r->span->self_ns = UNKNOWN_SELF;
		spans[n++] = r->span;
	}
	sort_array(spans, n, sizeof *spans, compare_traces, NULL);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && spans[end]->trace_id == spans[i]->trace_id;)
			end++;
		set_self(spans + i, (int)(end - i));
	}
}
