/* SPDX-License-Identifier: GPL-2.0-only */
/* Self time of spans; see span_self.h. */
#include "state/spans/span_self.h"

#include "base/each.h"
#include "base/sort.h"
#include "state/store/span_cycles.h"
#include "state/store/span_fit.h"

/* The interval of its parent that a child covers. */
struct child { guint parent; int64_t begin, end; };	/* .parent: index of the half */

static int child_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct child *x = a, *y = b;
	return ORDER(x->parent, y->parent) ?: ORDER(x->begin, y->begin);
}

/* The first half of the span, or of a later one. */
static guint first_half(const struct spans *sp, uint64_t id)
{
	return (guint)FIRST_INDEX(i, sp->halves.len, half_at(sp, (guint)i)->id >= id);
}

static struct span_maker maker_of(const struct half *h)
{
	return (struct span_maker){
		.service = h->service, .process = pair(h->host, (uint32_t)h->pid), .has_process = h->pid >= 0,
		.thread = h->thread, .host = h->host, .kind = h->kind, .begin_ns = h->begin, .end_ns = h->end,
	};
}

/* The half that half i is a child of, as in the tree (span_tree.c): a server half lies in its client half, others in
 * the half that made them. -1: no half. Client halves of a span come first. */
static int parent_of(const struct spans *sp, guint i)
{
	const struct half *h = half_at(sp, i);
	guint first = first_half(sp, h->id);
	int best = -1;
	unsigned best_fit = 0;
	if (h->kind == SPAN_SERVER && half_at(sp, first)->kind == SPAN_CLIENT)
		return (int)first;
	if (!h->parent || h->parent == h->id)
		return -1;
	const struct span_maker m = maker_of(h);
	for (guint k = first_half(sp, h->parent); k < sp->halves.len && half_at(sp, k)->id == h->parent; k++) {
		const struct span_maker p = maker_of(half_at(sp, k));
		if (span_fit(&m, &p) > best_fit) {
			best_fit = span_fit(&m, &p);
			best = (int)k;
		}
	}
	return best;
}

/* c: the half's children, in order of time. */
static int64_t self_time(const struct half *h, const struct child *c, guint n)
{
	int64_t self = h->end - h->begin, covered = h->begin;
	for (guint i = 0; i < n; i++) {
		int64_t from = MAX(c[i].begin, covered), to = MIN(c[i].end, h->end);
		if (to <= from)
			continue;
		self -= to - from;
		covered = to;
	}
	g_assert(self >= 0);			/* the children's intervals are disjoint here, and inside */
	return self;
}

void spans_set_self(struct spans *sp)
{
	g_autofree int *parent = g_new(int, sp->halves.len + 1);

	sp->children.len = 0;
	for (guint i = 0; i < sp->halves.len; i++)
		parent[i] = parent_of(sp, i);
	span_break_cycles(parent, (int)sp->halves.len);
	for (guint i = 0; i < sp->halves.len; i++) {
		struct half *h = half_at(sp, i);
		h->self_ns = h->end - h->begin;
		if (parent[i] >= 0)
			*vec_add(&sp->children, struct child) =
				(struct child){ (guint)parent[i], h->begin, h->end };
	}
	vec_sort(&sp->children, sizeof(struct child), child_order, NULL);
	const struct child *all = sp->children.data;
	for (guint i = 0, n; i < sp->children.len; i += n) {
		struct half *h = half_at(sp, all[i].parent);
		for (n = 1; i + n < sp->children.len && all[i + n].parent == all[i].parent;)
			n++;
		h->self_ns = self_time(h, all + i, n);
	}
}
