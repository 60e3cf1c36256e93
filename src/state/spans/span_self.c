/* SPDX-License-Identifier: GPL-2.0-only */
/* Self time of spans; see span_self.h. */
#include "state/spans/span_self.h"

/* The interval of its parent that a child covers. */
struct child { uint64_t parent; uint32_t service; bool other_half; int64_t begin, end; };
static int child_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct child *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The halves of one span id, client halves first. */
struct group { const struct half *half; guint n; };

static struct group group_of(const struct half *halves, guint n, guint i)
{
	guint begin = i, end = i + 1;
	while (begin && halves[begin - 1].id == halves[i].id)
		begin--;
	while (end < n && halves[end].id == halves[i].id)
		end++;
	return (struct group){ halves + begin, end - begin };
}

/* Does the child reduce this half's self time? A server half lies in its client half. A child of a shared span lies
 * in the half of its own service, preferably a server half; else in the first half, which is the client's. */
static bool covers(const struct half *h, const struct group *of, const struct child *c)
{
	const struct half *in = of->half;
	if (c->other_half)
		return h == in;
	for (guint i = of->n; of->n > 1 && i-- > 0;) {
		const struct half *other = &of->half[i];
		if (other->service == c->service && (in == of->half || other->kind == in->kind))
			in = other;
	}
	return h == in;
}

static int64_t self_time(const struct half *h, const struct group *of, const struct child *c,
			 const struct child *end)
{
	int64_t self = h->end - h->begin, covered = h->begin;
	for (; c < end && c->parent == h->id; c++) {
		int64_t from = MAX(c->begin, covered), to = MIN(c->end, h->end);
		if (to <= from || !covers(h, of, c))
			continue;
		self -= to - from;
		covered = to;
	}
	g_assert(self >= 0);			/* the children's intervals are disjoint here, and inside */
	return self;
}

void spans_set_self(struct spans *sp)
{
	struct half *all = sp->halves.data;
	guint n = sp->halves.len;
	sp->children.len = 0;
	for (guint i = 0; i < n; i++) {
		const struct group g = group_of(all, n, i);
		bool other = all[i].kind == SPAN_SERVER && g.half->kind == SPAN_CLIENT;
		struct child c = { other ? all[i].id : all[i].parent, all[i].service, other,
				   all[i].begin, all[i].end };
		if (c.parent && (other || c.parent != all[i].id))
			*vec_add(&sp->children, struct child) = c;
	}
	vec_sort(&sp->children, sizeof(struct child), child_order, NULL);
	const struct child *begin = sp->children.data, *end = begin + sp->children.len;
	for (guint i = 0; i < n; i++) {
		const struct child *lo = begin, *hi = end;
		while (lo < hi) {
			const struct child *mid = lo + (hi - lo) / 2;
			if (mid->parent < all[i].id)
				lo = mid + 1;
			else
				hi = mid;
		}
		const struct group g = group_of(all, n, i);
		all[i].self_ns = self_time(&all[i], &g, lo, end);
	}
}
