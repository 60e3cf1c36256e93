/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds from when to when each host and each stream was traced, by the borders of packets. Also what is known of each
 * host's machine. */
#include "trace/native/native_private.h"

#include "base/each.h"

struct stream_extent {
	const struct native_stream *stream;	/* one of the host's */
	int64_t begin, end;
};

static void extend(struct stream_extent *x, const struct native_plan_stream *s)
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

static struct stream_extent *extent_of(GArray *all, const struct native_stream *st)
{
	for (guint i = 0; i < all->len; i++)
		if (!native_compare_hosts(g_array_index(all, struct stream_extent, i).stream, st))
			return &g_array_index(all, struct stream_extent, i);
	struct stream_extent fresh = { st, INT64_MAX, INT64_MIN };
	g_array_append_val(all, fresh);
	return &g_array_index(all, struct stream_extent, all->len - 1);
}

void native_plan_extents(const struct native *n, const struct native_plan *plan, native_extent callback, void *data)
{
	g_autoptr(GArray) all = g_array_new(false, false, sizeof(struct stream_extent));
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		if (!native_stream_whole(st) || plan->stream[i].grows)
			return;
		extend(extent_of(all, st), &plan->stream[i]);
	}
	ARRAY_EACH(const struct stream_extent, x, all)
		if (x->begin <= x->end)
			callback(data, x->stream->host, x->stream->boot, x->stream->release, x->begin, x->end);
}

void native_each_extent(const struct native *n, native_extent callback, void *data)
{
	native_plan_extents(n, n->plan, callback, data);
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
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		int64_t from, to;
		native_plan_recorded(st, &n->plan->stream[i], &from, &to);
		callback(data, st->info.order, from, to);
	}
}

void native_each_machine(const struct native *n, native_machine callback, void *data)
{
	PTR_EACH(const struct native_stream, st, n->streams)
		callback(data, st->host, st->boot, &st->machine);
}
