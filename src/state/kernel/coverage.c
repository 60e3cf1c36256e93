/* SPDX-License-Identifier: GPL-2.0-only */
/* Voids: long times without a record; see coverage.h. */
#include "state/kernel/coverage.h"


#include "base/limits.h"
#include "base/timefmt.h"

#define VOID_OF_KNOWN_NS UINT64_C(86400000000000)

void covered_add_void(struct slice *s, int64_t from, int64_t to)
{
	g_assert(from < to && (!s->voids->len ||
			       g_array_index(s->voids, struct time_void, s->voids->len - 1).end <= from));
	struct time_void v = { from, to };
	g_array_append_val(s->voids, v);
}

void covered_join(struct slice *a, const struct slice *b)
{
	if (b->first != INT64_MAX)
		covered_to(a, b->first);
	g_array_append_vals(a->voids, b->voids->data, b->voids->len);
}

void covered_join_host(struct slice_host *mine, const struct slice_host *other)
{
	if (!mine->seen)
		mine->begin = MAX(mine->begin, other->begin);
	mine->seen |= other->seen;
	mine->end = MIN(mine->end, other->end);
}

/* Index of the first void that ends after the instant. */
static guint first_void(const struct slice *s, int64_t ts)
{
	guint lo = 0, hi = s->voids->len;
	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;
		if (g_array_index(s->voids, struct time_void, mid).end <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool covered_void_at(const struct slice *s, int64_t ts, uint64_t least, struct time_void *ret)
{
	guint i = first_void(s, ts);
	if (i == s->voids->len || s->window_from != INT64_MIN)
		return false;
	const struct time_void *v = &g_array_index(s->voids, struct time_void, i);
	ret->begin = time_floor(v->begin, s->step) + s->step;
	ret->end = time_floor(v->end, s->step);
	return ts >= ret->begin && ts < ret->end && covered_are_far(v->begin, v->end, least);
}

int64_t covered_newest(const struct slice *s, int64_t from, int64_t to)
{
	int64_t most = LIMIT_GAP_STEPS * s->step;
	return covered_are_far(from, to, (uint64_t)most) ? to - most : from;
}

int64_t covered_piece(const struct slice *s, int64_t from, int64_t to, bool known)
{
	if (!covered_are_far(from, to, COVERED_VOID_NS))
		return from;
	struct time_void v;
	if (covered_void_at(s, from, known ? VOID_OF_KNOWN_NS : COVERED_VOID_NS, &v))
		return MIN(v.end, to);
	return from;
}
