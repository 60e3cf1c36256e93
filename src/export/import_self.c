/* SPDX-License-Identifier: GPL-2.0-only */
/* Self time of imported spans: the time that no child covers. */
#include "export/import_join.h"

#include "state/store/span_fit.h"

/* A span that may cover a part of the spans with the id `parent`. */
struct cover {
	uint64_t parent;
	const struct span *span;
	bool other_half;		/* it is the server half of that span itself */
};

/* By trace and parent, then by beginning. */
static int compare_covers(const void *va, const void *vb)
{
	const struct cover *a = va, *b = vb;
	if (a->span->trace_id != b->span->trace_id)
		return a->span->trace_id < b->span->trace_id ? -1 : 1;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return (a->span->begin_ns > b->span->begin_ns) - (a->span->begin_ns < b->span->begin_ns);
}

/* The other half of a shared span; NULL: none. */
static const struct span *twin_of(const struct joined *j, const struct read_span *r)
{
	if (r->span->kind == SPAN_LOCAL)
		return NULL;
	const struct read_span *same = joined_find(j, r->trace, r->id);
	for (; same; same = same->same)
		if (same->span && same->span->kind != SPAN_LOCAL && same->span->kind != r->span->kind)
			return same->span;
	return NULL;
}

static GArray *sorted_covers(const struct joined *j)
{
	GArray *covers = g_array_new(FALSE, FALSE, sizeof(struct cover));
	for (guint i = 0; i < j->spans->len; i++) {
		const struct read_span *r = g_ptr_array_index(j->spans, i);
		if (!r->span)
			continue;
		struct cover c = { r->span->parent_id, r->span, false };
		c.other_half = r->span->kind == SPAN_SERVER && twin_of(j, r);
		if (c.other_half)
			c.parent = r->span->span_id;
		if (c.parent && (c.other_half || c.parent != r->span->span_id))
			g_array_append_val(covers, c);
	}
	g_array_sort(covers, compare_covers);
	return covers;
}

/* The server half covers the client half. A child of a shared span covers the half that made it. */
static bool is_within(const struct span *s, const struct span *twin, const struct cover *c)
{
	if (c->other_half)
		return s->kind == SPAN_CLIENT && twin;
	if (!twin)
		return true;
	const struct span_maker child = span_maker_of(c->span), mine = span_maker_of(s), other = span_maker_of(twin);
	return span_fit(&child, &mine) > span_fit(&child, &other);
}

static guint first_cover(const GArray *covers, const struct span *of)
{
	const struct span least = { .trace_id = of->trace_id, .begin_ns = INT64_MIN };
	const struct cover wanted = { of->span_id, &least, false };
	guint lo = 0, hi = covers->len;
	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;
		if (compare_covers(&g_array_index(covers, struct cover, mid), &wanted) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int64_t self_time(const struct span *s, const struct span *twin, const GArray *covers)
{
	int64_t self = span_duration(s), done = s->begin_ns;
	for (guint i = first_cover(covers, s); i < covers->len; i++) {
		const struct cover *c = &g_array_index(covers, struct cover, i);
		if (c->span->trace_id != s->trace_id || c->parent != s->span_id)
			break;
		int64_t from = MAX(c->span->begin_ns, done), to = MIN(c->span->end_ns, s->end_ns);
		if (to <= from || !is_within(s, twin, c))
			continue;
		self -= to - from;
		done = to;
	}
	return self;
}

void joined_set_self(struct joined *j)
{
	g_autoptr(GArray) covers = sorted_covers(j);

	for (guint i = 0; i < j->spans->len; i++) {
		struct read_span *r = g_ptr_array_index(j->spans, i);
		if (r->span && !r->has_self)
			r->span->self_ns = self_time(r->span, twin_of(j, r), covers);
	}
}
