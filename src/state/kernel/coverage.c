/* SPDX-License-Identifier: GPL-2.0-only */
/* Voids: long times without a record; see coverage.h. */
#include "state/kernel/coverage.h"


#include "base/each.h"
#include "base/limits.h"
#include "base/timefmt.h"

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
	mine->begin = MIN(mine->begin, other->begin);
	mine->end = MAX(mine->end, other->end);
	if (mine->first == INT64_MIN)
		mine->first = other->first;
}

/* Index of the first void that ends after the instant. */
static guint first_void(const GArray *voids, int64_t ts)
{
	return FIRST_INDEX(i, voids->len, g_array_index(voids, struct time_void, i).end > ts);
}

static struct time_void whole_steps(const struct slice *s, const struct time_void *v)
{
	return (struct time_void){ time_floor(v->begin, s->step) + s->step, time_floor(v->end, s->step) };
}

bool covered_void_at(const struct slice *s, int64_t ts, uint64_t least, struct time_void *ret)
{
	guint i = first_void(s->voids, ts);
	if (i == s->voids->len || s->window_from != INT64_MIN)
		return false;
	const struct time_void *v = &g_array_index(s->voids, struct time_void, i);
	*ret = whole_steps(s, v);
	return ts >= ret->begin && ts < ret->end && covered_are_far(v->begin, v->end, least);
}

int64_t covered_newest(const struct slice *s, int64_t from, int64_t to)
{
	int64_t most = LIMIT_GAP_STEPS * s->step;
	return covered_are_far(from, to, (uint64_t)most) ? to - most : from;
}

/* ---- slices of the same time ---- */

/* Without records: before the first one, voids, after the last one. */
static bool gap_at(const struct slice *s, guint i, struct time_void *ret)
{
	guint n = s->voids->len;

	if (i > n + 1 || (i && s->first > s->last))
		return false;
	*ret = i && i <= n ? g_array_index(s->voids, struct time_void, i - 1) :
		i ? (struct time_void){ s->last, INT64_MAX } : (struct time_void){ INT64_MIN, s->first };
	return true;
}

GArray *covered_common_voids(const struct slice *a, const struct slice *b)
{
	GArray *voids = g_array_new(false, true, sizeof(struct time_void));
	struct time_void x, y;

	for (guint i = 0, k = 0; gap_at(a, i, &x) && gap_at(b, k, &y);) {
		struct time_void v = { MAX(x.begin, y.begin), MIN(x.end, y.end) };
		if (v.begin != INT64_MIN && v.end != INT64_MAX && covered_are_far(v.begin, v.end, COVERED_VOID_NS))
			g_array_append_val(voids, v);
		if (x.end < y.end)
			i++;
		else
			k++;
	}
	return voids;
}

uint64_t covered_steps_outside(const struct slice *s, const struct time_void *v, const GArray *voids)
{
	struct time_void all = whole_steps(s, v);
	uint64_t ns = all.end > all.begin ? (uint64_t)all.end - (uint64_t)all.begin : 0;

	for (guint i = first_void(voids, v->begin); i < voids->len && ns; i++) {
		struct time_void inner = whole_steps(s, &g_array_index(voids, struct time_void, i));
		if (inner.begin >= all.end)
			break;
		if (inner.end > inner.begin)
			ns -= (uint64_t)inner.end - (uint64_t)inner.begin;
	}
	return ns / (uint64_t)s->step;
}
