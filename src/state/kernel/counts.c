/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds differences of perf counters, and other counts, to cells; see counts.h. */
#include "state/kernel/counts.h"

#include "state/kernel/bin.h"
#include "state/kernel/slice_state.h"

#include "base/limits.h"

void count_for(struct slice *s, int64_t ts, uint32_t host, uint32_t thread, enum count_kind kind,
	       uint32_t name, uint64_t value)
{
	BIN_CELL(s, slice_bin(s, ts), count, .thread = thread, .host = host, .name = name,
		 .kind = (uint16_t)kind, .cpu = UINT32_MAX)->value += value;
}

void count_on_cpu(struct slice *s, int64_t ts, uint32_t host, uint32_t cpu, uint32_t name)
{
	BIN_CELL(s, slice_bin(s, ts), count, .thread = ID_NONE, .host = host, .name = name, .kind = COUNT_EVENT,
		 .cpu = cpu)->value++;
}

static struct counter *find(const GArray *all, uint32_t name)
{
	for (guint i = 0; all && i < all->len; i++)
		if (g_array_index(all, struct counter, i).name == name)
			return &g_array_index(all, struct counter, i);
	return NULL;
}

static void add(GArray **all, const struct counter *c)
{
	if (!*all)
		*all = g_array_new(false, false, sizeof *c);
	g_assert(!find(*all, c->name));
	if ((*all)->len < LIMIT_COUNTERS)
		g_array_append_val(*all, *c);
}

void counters_read(struct slice *s, GArray **all, uint32_t losses, const struct fed_event *f,
		   uint32_t thread)
{
	for (unsigned i = 0; i < f->cls->n_counters; i++) {
		uint64_t value = (uint64_t)blk_int(f->ev, BLK_CTX_COUNTER0 + i);
		uint32_t name = f->cls->counter[i];
		if (!value)		/* the tracer writes 0 when it cannot read the counter */
			continue;
		struct counter *c = find(*all, name);
		if (!c) {
			add(all, &(struct counter){
				.name = name, .losses = losses, .first = value, .last = value,
				.first_ts = f->ts, .first_thread = losses ? ID_NONE : thread,
			});
			continue;
		}
		if (value > c->last)	/* else the counter was reset */
			count_for(s, f->ts, f->host, c->losses == losses ? thread : ID_NONE,
				  COUNT_PERF, name, value - c->last);
		c->last = value;
		c->losses = losses;
	}
}

void counters_join(struct slice *s, GArray **left, uint32_t losses, uint32_t host, GArray **right)
{
	for (guint i = 0; *right && i < (*right)->len; i++) {
		struct counter r = g_array_index(*right, struct counter, i);
		struct counter *l = find(*left, r.name);
		r.losses += losses;
		if (!l) {
			r.first_thread = losses ? ID_NONE : r.first_thread;
			add(left, &r);
			continue;
		}
		if (r.first > l->last)
			count_for(s, r.first_ts, host, l->losses == losses ? r.first_thread : ID_NONE,
				  COUNT_PERF, r.name, r.first - l->last);
		l->last = r.last;
		l->losses = r.losses;
	}
	g_clear_pointer(right, g_array_unref);
}

void counters_map(GArray *all, const uint32_t *string, const uint32_t *thread)
{
	for (guint i = 0; all && i < all->len; i++) {
		struct counter *c = &g_array_index(all, struct counter, i);
		c->name = string[c->name];
		if (c->first_thread != ID_NONE)
			c->first_thread = thread[c->first_thread];
	}
}
