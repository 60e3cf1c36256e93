/* SPDX-License-Identifier: GPL-2.0-only */
/* Self time: what of a span no child covers. */
#include "state/spans_private.h"

static int child_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct child *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Is c within half h? The server half of a shared span lies in its client half; a
 * child of a shared span in the half of its own service, else the client's. */
static bool covers(const struct half *h, const struct half *twin, const struct child *c)
{
	if (c->other_half)
		return h->kind == SPAN_CLIENT && twin;
	if (!twin)
		return true;
	bool servers = h->kind == SPAN_SERVER ? c->service == h->service
					      : c->service == twin->service;
	return (h->kind == SPAN_SERVER) == servers;
}

static int64_t self_time(const struct half *h, const struct half *twin, const struct child *c,
			 const struct child *end)
{
	int64_t self = h->end - h->begin, covered = h->begin;
	for (; c < end && c->parent == h->id; c++) {
		int64_t from = MAX(c->begin, covered), to = MIN(c->end, h->end);
		if (to <= from || !covers(h, twin, c))
			continue;
		self -= to - from;
		covered = to;
	}
	return self;
}

static const struct half *twin_of(const struct half *halves, guint n, guint i)
{
	if (i + 1 < n && halves[i + 1].id == halves[i].id)
		return &halves[i + 1];
	return i && halves[i - 1].id == halves[i].id ? &halves[i - 1] : NULL;
}

void spans_set_self(struct spans *sp)
{
	struct half *all = sp->halves.data;
	guint n = sp->halves.len;
	sp->children.len = 0;
	for (guint i = 0; i < n; i++) {
		const struct half *twin = twin_of(all, n, i);
		bool other = twin && all[i].kind == SPAN_SERVER;
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
		all[i].self_ns = self_time(&all[i], twin_of(all, n, i), lo, end);
	}
}
