/* SPDX-License-Identifier: GPL-2.0-only */
/* See heat_difference.h. */
#include "views/heat_difference.h"

#include "base/each.h"
#include "base/sort.h"
#include "views/common.h"
#include "views/waited.h"

struct counts { uint64_t inside, outside; };

struct difference_counting {
	const struct heat_rectangle *r;
	GHashTable *counts;		/* text, "" is unknown -> struct counts */
	struct counts all, *to;
	bool within;			/* the second is one of the rectangle */
};

static void count_bucket(void *data, unsigned bucket, uint64_t n)
{
	struct difference_counting *c = data;
	int64_t ns = hist_bucket_low(bucket);
	bool inside = c->within && ns >= c->r->low_ns && ns <= c->r->high_ns;
	*(inside ? &c->to->inside : &c->to->outside) += n;
	*(inside ? &c->all.inside : &c->all.outside) += n;
}

static void count_value(void *data, const struct second *s, const struct metric_value *value)
{
	struct difference_counting *c = data;
	if (!value->key || !hist_count(value->values))
		return;
	struct value by = value->by[0];
	g_autofree char *number = by.kind == VALUE_TEXT || by.kind == VALUE_NONE ? NULL :
		g_strdup_printf("%" G_GINT64_FORMAT, by.i);
	const char *text = number ? number : by.kind == VALUE_TEXT ? by.s : "";
	c->to = g_hash_table_lookup(c->counts, text);
	if (!c->to) {
		c->to = g_new0(struct counts, 1);
		g_hash_table_insert(c->counts, g_strdup(text), c->to);
	}
	c->within = s->begin_ns >= c->r->begin_ns && s->begin_ns < c->r->end_ns;
	hist_foreach(value->values, count_bucket, c);
}

static double share(uint64_t n, uint64_t all)
{
	return all ? (double)n / (double)all : 0;
}

static double size_of(const struct heat_difference *d)
{
	return share(d->inside, d->all_inside) - share(d->outside, d->all_outside);
}

/* The value that is more frequent inside, by the most; of equal ones the first by name. */
static bool largest(const struct difference_counting *c, enum metric_field field, struct heat_difference *ret)
{
	const char *best = NULL;
	TABLE_EACH(each, c->counts) {
		const struct counts *n = each.value;
		if (field == METRIC_BY_waited && g_str_equal(each.key, waited_word[WAITED_UNKNOWN]))
			continue;	/* tells nothing */
		struct heat_difference d = {
			.field = field, .inside = n->inside, .outside = n->outside, .all_inside = c->all.inside,
			.all_outside = c->all.outside,
		};
		double by = best ? size_of(&d) - size_of(ret) : size_of(&d);
		if (by > 0 || (best && by == 0 && g_strcmp0(each.key, best) < 0)) {
			best = each.key;
			*ret = d;
		}
	}
	if (best)
		ret->value = *best ? g_strdup(best) : NULL;
	return best != NULL;
}

static int compare_sizes(const void *a, const void *b)
{
	double x = size_of(a), y = size_of(b);
	const struct heat_difference *p = a, *q = b;
	return ORDER(y, x) ?: ORDER(p->field, q->field);
}

static void clear_difference(void *data)
{
	struct heat_difference *d = data;
	g_free(d->value);
}

GArray *heat_differences(const struct timeline *tl, const struct metric_query *q, const struct heat_rectangle *r,
			 int64_t all_from_ns, int64_t all_to_ns)
{
	GArray *found = g_array_new(false, false, sizeof(struct heat_difference));
	struct view_query all = VIEW_QUERY_INIT;
	g_array_set_clear_func(found, clear_difference);
	all.from_ns = all_from_ns;
	all.to_ns = all_to_ns;
	struct range range = range_of(tl, &all);
	/* Threads and processes are named. */
	const uint32_t ids = 1u << METRIC_BY_pid | 1u << METRIC_BY_tid;
	uint32_t fields = q->metric->fields & ~q->metric->call_fields & ~q->where_fields & ~ids;
	for (unsigned f = 0; f < METRIC_FIELD_N; f++) {
		struct metric_query by = *q;
		struct difference_counting c = { .r = r };
		struct heat_difference d;
		if (!(fields & 1u << f))
			continue;
		by.by[0] = f;
		by.n_by = 1;
		c.counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		metric_each_second(tl, &by, range.first, range.end, count_value, &c);
		if (largest(&c, f, &d))
			g_array_append_val(found, d);
		g_hash_table_unref(c.counts);
	}
	g_array_sort(found, compare_sizes);
	return found;
}
