/* SPDX-License-Identifier: GPL-2.0-only */
/* Holds received data until the relay was asked for new streams (attach.h), then pushes it. */
#include "live/viewer/attach_private.h"

#include "base/each.h"
#include "base/limits.h"

void attach_hold(struct attach *a, const struct held *h)
{
	struct held *x = g_memdup2(h, sizeof *h);

	g_assert(h->stream || h->kind == HELD_METADATA);
	x->at = g_get_monotonic_time();
	x->reply = a->n_replies;
	if (h->stream)
		x->trace = h->stream->trace;
	if (h->stream)
		h->stream->held++;
	g_assert(x->trace);
	x->trace->held++;
	x->trace->held_metadata += h->kind == HELD_METADATA;
	g_queue_push_tail(&a->held, x);
	a->scan_due = 0;
}

/* .bytes was handed over already. */
static void held_free(struct held *h)
{
	g_assert(h->trace->held && (!h->stream || h->stream->held));
	if (h->stream)
		h->stream->held--;
	h->trace->held--;
	h->trace->held_metadata -= h->kind == HELD_METADATA;
	g_free(h);
}

static void push_metadata(struct attach *a, const struct held *h)
{
	struct native_feed *f = a->sink->feed;
	struct spool *spool = a->sink->spool;
	unsigned number = h->trace->number;

	if (h->restarts)
		native_feed_metadata_restart(f, number);
	if (h->restarts && spool)
		spool_metadata_restart(spool, number);
	if (spool)
		spool_metadata(spool, number, g_bytes_ref(h->bytes));
	native_feed_metadata(f, number, h->bytes);
}

static void push_packet(struct attach *a, const struct held *h)
{
	size_t size = g_bytes_get_size(h->bytes);

	attach_fetch(a, -(gssize)size);
	attach_note_received(a, h->stream, &h->index);
	if (a->sink->spool)
		spool_packet(a->sink->spool, h->stream->number, g_bytes_ref(h->bytes));
	native_feed_packet(a->sink->feed, h->stream->number, h->bytes, &h->index);
}

static void push(struct attach *a, struct held *h)
{
	struct native_feed *f = a->sink->feed;

	if (h->kind == HELD_METADATA) {
		push_metadata(a, h);
	} else if (h->kind == HELD_PACKET) {
		push_packet(a, h);
	} else if (h->kind == HELD_BEACON) {
		if (a->sink->spool)
			spool_beacon(a->sink->spool, h->stream->number, h->class, h->end);
		native_feed_beacon(f, h->stream->number, h->class, h->end);
	} else if (h->kind == HELD_END) {
		attach_note_ended(a, h->stream);
		if (a->sink->spool)
			spool_end_stream(a->sink->spool, h->stream->number);
		native_feed_end_stream(f, h->stream->number);
	} else {
		native_feed_cut_stream(f, h->stream->number);
	}
	held_free(h);
}

void attach_discard_unproven(struct attach *a, bool all)
{
	GQueue retained = G_QUEUE_INIT;
	struct held *h;

	while ((h = g_queue_pop_head(&a->held))) {
		if (h->kind == HELD_CUT || (!all && a->n_replies - h->reply > ATTACH_PROOF)) {
			g_queue_push_tail(&retained, h);
		} else if (h->kind == HELD_END) {
			h->kind = HELD_CUT;
			g_queue_push_tail(&retained, h);
		} else {
			if (h->kind == HELD_PACKET)
				attach_fetch(a, -(gssize)g_bytes_get_size(h->bytes));
			if (h->bytes)
				g_bytes_unref(h->bytes);
			held_free(h);
		}
	}
	a->held = retained;
}

/* Reports to the supervisor, once, that a packet was handed on. */
static void report_advance(struct attach *a)
{
	if (a->link.advanced)		/* only this thread sets it */
		return;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->link.owner->lock);
	a->link.advanced = true;
}

void attach_release(struct attach *a, bool all)
{
	int64_t from = INT64_MAX;
	struct held *h;

	g_mutex_lock(&a->sink->push);
	a->has_peers = false;
	PTR_EACH(const struct attach, m, a->sink->members) {
		if (strcmp(m->link.session.host, a->link.session.host))
			continue;
		a->has_peers |= m != a;
		from = MIN(from, m->streams_known_at);
	}
	from = MAX(from, g_get_monotonic_time() - LIMIT_NEWS_MS * G_TIME_SPAN_MILLISECOND);
	bool advances = false;
	while ((h = g_queue_peek_head(&a->held)) && (all || h->at <= from)) {
		advances |= h->kind == HELD_PACKET;
		push(a, g_queue_pop_head(&a->held));
	}
	g_mutex_unlock(&a->sink->push);
	if (advances)
		report_advance(a);
}

void attach_note_streams(struct attach *a)
{
	g_mutex_lock(&a->sink->push);
	a->streams_known_at = a->streams_asked_at;
	g_mutex_unlock(&a->sink->push);
	attach_release(a, false);
}

void attach_set_member(struct attach *a, bool attached)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&a->sink->push);
	if (attached)
		g_ptr_array_add(a->sink->members, a);
	else
		g_ptr_array_remove_fast(a->sink->members, a);
}
