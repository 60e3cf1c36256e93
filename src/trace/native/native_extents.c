/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds from when to when each host was traced, if recordings of several hosts or boots are read together, and each
 * stream. Uses the borders of packets. Also what is known of each host's machine.
 */
#include "trace/native/native_private.h"

#define LEAST_NS 250000000	/* shorter differences are not reported */

struct extent {
	const struct native_stream *stream;	/* one of the host's */
	int64_t begin, end;
	bool kernel;
};

static void extend(struct extent *x, const struct native_plan_stream *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->packet[i].p.fault == CTF_GARBAGE)
			continue;
		x->begin = MIN(x->begin, s->packet[i].begin_ns);
		break;
	}
	if (s->n)
		x->end = MAX(x->end, s->packet[s->n - 1].max_end_ns);
}

static bool is_later(int64_t a, int64_t b)
{
	return a > b && (uint64_t)a - (uint64_t)b > LEAST_NS;
}

static struct extent *extent_of(GArray *all, const struct native_stream *st)
{
	for (guint i = 0; i < all->len; i++)
		if (!native_compare_hosts(g_array_index(all, struct extent, i).stream, st))
			return &g_array_index(all, struct extent, i);
	struct extent fresh = { st, INT64_MAX, INT64_MIN, false };
	g_array_append_val(all, fresh);
	return &g_array_index(all, struct extent, all->len - 1);
}

void native_plan_extents(const struct native *n, const struct native_plan *plan, native_extent callback, void *data)
{
	g_autoptr(GArray) all = g_array_new(false, false, sizeof(struct extent));
	struct extent whole = { NULL, INT64_MAX, INT64_MIN, false };
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		if (!native_stream_whole(st) || plan->stream[i].grows)
			return;
		struct extent *x = extent_of(all, st);
		x->kernel |= st->info.domain == BLK_DOMAIN_KERNEL && plan->stream[i].n;
		extend(x, &plan->stream[i]);
		extend(&whole, &plan->stream[i]);
	}
	for (guint i = 0; i < all->len; i++) {
		const struct extent *x = &g_array_index(all, struct extent, i);
		bool later = is_later(x->begin, whole.begin), earlier = is_later(whole.end, x->end);
		if (x->kernel && x->begin <= x->end && (later || earlier))
			callback(data, x->stream->host, x->stream->boot, x->stream->release,
			     later ? x->begin : INT64_MIN, earlier ? x->end : INT64_MAX);
	}
}

void native_each_extent(const struct native *n, native_extent callback, void *data)
{
	struct native_plan *plan = native_plan_take(n);
	native_plan_extents(n, plan, callback, data);
	native_plan_unref(plan);
}

void native_plan_recorded(const struct native_stream *st, const struct native_plan_stream *s, int64_t *ret_from,
			  int64_t *ret_to)
{
	size_t first = 0;
	*ret_from = *ret_to = 0;
	if (!st->files->len || !s->n || !native_stream_whole(st))
		return;
	while (first < s->n - 1 && s->packet[first].p.fault == CTF_GARBAGE)
		first++;
	const struct native_packet *x = &s->packet[first];
	if (x->p.fault != CTF_GARBAGE && x->p.has_seq && x->p.seq > 0)
		*ret_from = x->begin_ns;
	if (s->packet[s->n - 1].max_end_ns != INT64_MAX)
		*ret_to = s->packet[s->n - 1].max_end_ns;
}

void native_each_recorded(const struct native *n, native_recorded callback, void *data)
{
	struct native_plan *plan = native_plan_take(n);
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		int64_t from, to;
		native_plan_recorded(st, &plan->stream[i], &from, &to);
		callback(data, st->info.order, from, to);
	}
	native_plan_unref(plan);
}

void native_each_machine(const struct native *n, native_machine callback, void *data)
{
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		callback(data, st->host, st->boot, &st->machine);
	}
}
