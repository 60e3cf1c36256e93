/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds pauses of tracing within a session (lttng stop, later lttng start): the kernel's packets of all CPUs have
 * ended, and the next ones begin much later. An idle machine looks different: its CPUs wake up now and then, and
 * packets that are closed by a timer follow each other at once.
 */
#include "trace/native/native_private.h"

#include "base/each.h"

#define LEAST_NS INT64_C(250000000)	/* shorter gaps are not pauses */

struct span_of_packet {
	const struct native_stream *stream;
	int64_t begin, end;
};

static int compare_packets(const void *a, const void *b)
{
	const struct span_of_packet *x = a, *y = b;
	int order = native_compare_hosts(x->stream, y->stream);
	return order ? order : (x->begin > y->begin) - (x->begin < y->begin);
}
/* Its first packets that hold nothing: buffers that were made before lttng start. */
static size_t n_before(const struct native_plan_stream *s)
{
	size_t n = 0;
	while (n < s->n && s->packet[n].p.content_bits <= s->packet[0].p.header_bits)
		n++;
	return n;
}

/* All kernel packets, sorted by host and beginning. NULL: not all packets are known yet. */
static GArray *kernel_packets(const struct native *n, const struct native_plan *plan)
{
	g_autoptr(GArray) all = g_array_new(false, false, sizeof(struct span_of_packet));
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		if (st->info.domain != BLK_DOMAIN_KERNEL)
			continue;
		if (!native_stream_whole(st))
			return NULL;
		for (size_t k = n_before(&plan->stream[i]); k < plan->stream[i].n; k++) {
			const struct native_packet *x = &plan->stream[i].packet[k];
			struct span_of_packet s = { st, x->begin_ns, MAX(x->end_ns, x->begin_ns) };
			if (x->p.fault != CTF_GARBAGE)
				g_array_append_val(all, s);
		}
	}
	g_array_sort(all, compare_packets);
	return g_steal_pointer(&all);
}

/* Marks the pause [from, to) before the stream's first packet that begins at or after `to`, unless it is the
 * stream's first packet. The end of the packet before does not show when the pause began: buffers are flushed when
 * all CPUs have stopped. */
static void end_pause(struct native_plan_stream *s, int64_t from, int64_t to)
{
	size_t first = n_before(s), lo = FIRST_INDEX(i, s->n, i >= first && s->packet[i].begin_ns >= to);
	struct native_packet *x = lo > first && lo < s->n ? &s->packet[lo] : NULL;
	if (!x || x->has_gap || x->p.fault == CTF_GARBAGE)
		return;
	x->has_gap = x->is_pause = x[-1].is_paused = true;
	x->gap_begin_ns = from;
}

static void place(const struct native *n, struct native_plan *plan, const struct native_stream *of,
		  int64_t from, int64_t to)
{
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		if (st->info.domain == BLK_DOMAIN_KERNEL && !native_compare_hosts(st, of))
			end_pause(&plan->stream[i], from, to);
	}
}

void native_place_pauses(const struct native *n, struct native_plan *plan)
{
	/* Without frequent events a gap may be a time in which nothing happened. */
	if (!g_hash_table_contains(n->class_names, "sched_switch"))
		return;
	g_autoptr(GArray) all = kernel_packets(n, plan);
	int64_t covered = INT64_MAX;
	for (guint i = 0; all && i < all->len; i++) {
		const struct span_of_packet *s = &g_array_index(all, struct span_of_packet, i);
		bool same = i && !native_compare_hosts(s[-1].stream, s->stream);
		if (same && covered < INT64_MAX - LEAST_NS && s->begin - covered > LEAST_NS)
			place(n, plan, s->stream, covered + 1, s->begin);
		covered = same ? MAX(covered, s->end) : s->end;
	}
}

void native_each_fall(const struct native *n, native_fall callback, void *data)
{
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		const struct native_packet *before = NULL;
		for (size_t k = 0; k < n->plan->stream[i].n; k++) {
			const struct native_packet *x = &n->plan->stream[i].packet[k];
			if (!x->p.has_discarded || x->p.fault == CTF_GARBAGE)
				continue;
			uint64_t was = before ? before->p.discarded : 0;
			if (before ? x->p.discarded < was : x->p.discarded > 0)
				callback(data, st->info.order, x->begin_ns, before ? was - x->p.discarded : 0);
			before = x;
		}
	}
}

bool native_has_lost(const struct native *n)
{
	bool any = false;
	for (guint i = 0; i < n->streams->len; i++)
		for (size_t k = 0; k < n->plan->stream[i].n; k++)
			any |= n->plan->stream[i].packet[k].has_lost;
	return any;
}

void native_each_pause(const struct native *n, native_pause callback, void *data)
{
	for (guint i = 0; i < n->streams->len; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		for (size_t k = 0; k < n->plan->stream[i].n; k++) {
			const struct native_packet *x = &n->plan->stream[i].packet[k];
			if (x->is_pause)
				callback(data, st->info.order, x[-1].end_ns, x->gap_begin_ns, x->begin_ns);
		}
	}
}
