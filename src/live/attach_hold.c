/* SPDX-License-Identifier: GPL-2.0-only */
/* What came and waits, until the relay was asked for streams that are new: see attach.h. */
#include "live/attach_private.h"

#include "base/limits.h"

void attach_hold(struct attach *a, const struct held *h)
{
	struct held *kept = g_memdup2(h, sizeof *h);

	kept->at = g_get_monotonic_time();
	h->stream->held++;
	h->stream->trace->held++;
	g_queue_push_tail(&a->held, kept);
	a->scan_due = 0;
}

static void push(struct attach *a, struct held *h)
{
	struct native_feed *f = a->sink->feed;
	unsigned number = h->stream->number;

	if (h->kind == HELD_PACKET) {
		a->fetching -= g_bytes_get_size(h->packet);
		if (a->sink->spool)
			spool_packet(a->sink->spool, number, g_bytes_ref(h->packet));
		native_feed_packet(f, number, h->packet);
	} else if (h->kind == HELD_BEACON) {
		native_feed_beacon(f, number, h->class, h->end);
	} else if (h->kind == HELD_END) {
		native_feed_end_stream(f, number);
	} else {
		native_feed_cut_stream(f, number);
	}
	h->stream->held--;
	h->stream->trace->held--;
	g_free(h);
}

/* Pushes what came before all sessions of the host were asked for new streams. */
void attach_release(struct attach *a, bool all)
{
	int64_t from = INT64_MAX;
	struct held *h;

	g_mutex_lock(&a->sink->push);
	a->in_company = false;
	for (guint i = 0; i < a->sink->members->len; i++) {
		const struct attach *m = g_ptr_array_index(a->sink->members, i);
		if (strcmp(m->feed.session.host, a->feed.session.host))
			continue;
		a->in_company |= m != a;
		from = MIN(from, m->news_from);
	}
	from = MAX(from, g_get_monotonic_time() - LIMIT_NEWS_MS * G_TIME_SPAN_MILLISECOND);
	while ((h = g_queue_peek_head(&a->held)) && (all || h->at <= from))
		push(a, g_queue_pop_head(&a->held));
	g_mutex_unlock(&a->sink->push);
}

void attach_note_news(struct attach *a)
{
	g_mutex_lock(&a->sink->push);
	a->news_from = a->news_sent;
	g_mutex_unlock(&a->sink->push);
	attach_release(a, false);
}

void attach_join(struct attach *a, bool attached)
{
	g_mutex_lock(&a->sink->push);
	if (attached)
		g_ptr_array_add(a->sink->members, a);
	else
		g_ptr_array_remove_fast(a->sink->members, a);
	g_mutex_unlock(&a->sink->push);
}

void attach_note_end(struct attach *a, uint64_t stream, uint64_t end)
{
	uint64_t *point = g_hash_table_lookup(a->past->ends, &stream);

	if (!point) {
		point = g_new(uint64_t, 2);
		point[0] = 0;
		point[1] = stream;
		g_hash_table_insert(a->past->ends, point + 1, point);
	}
	*point = MAX(*point, end);
	a->past->newest = MAX(a->past->newest, end);
}

struct attach_past *attach_past_new(void)
{
	struct attach_past *p = g_new0(struct attach_past, 1);

	p->ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	return p;
}

void attach_past_free(struct attach_past *p)
{
	if (p)
		g_hash_table_unref(p->ends);
	g_free(p);
}

