/* SPDX-License-Identifier: GPL-2.0-only */
/* Which requests are due: see attach_private.h. */
#include "live/viewer/attach_private.h"

#define PIECE (1u << 16)		/* bytes of a packet in one request: over a slow path it still shows that
					 * something comes */
#define FULL_US 5000			/* until there may be room in the queue */

static void note(struct attach *a, enum request_kind kind, void *of, uint32_t len)
{
	a->asked[(a->first + a->n_asked++) % ATTACH_WINDOW] = (struct request){ kind, of, len };
}

/* May more be asked for, though it would only wait to be decoded? */
static bool has_room(struct attach *a, const struct stream *s)
{
	return native_feed_queued(a->sink->feed) + a->fetching < a->sink->queue ||
	       (!s->held && native_feed_wants(a->sink->feed, s->number));
}

static void ask_index(struct attach *a, struct stream *s)
{
	viewer_ask_index(a->v, s->id);
	note(a, ASKED_INDEX, s, 0);
	s->index_asked = true;
	if (s->state == STREAM_RESTS)
		s->state = STREAM_INDEX;
}

void attach_ask_metadata(struct attach *a, struct trace *t)
{
	viewer_ask_metadata(a->v, t->metadata_stream);
	note(a, ASKED_METADATA, t, 0);
	t->asked = true;
}

/* The packet's next pieces, and behind the last one the next index. */
void attach_ask_pieces(struct attach *a, struct stream *s)
{
	while (s->asked < s->content && attach_has_window(a)) {
		uint32_t len = (uint32_t)MIN(s->content - s->asked, PIECE);
		viewer_ask_packet(a->v, s->id, s->offset + s->asked, len);
		note(a, ASKED_PACKET, s, len);
		s->asked += len;
	}
	if (s->asked == s->content && !s->index_asked && attach_has_window(a) &&
	    a->v->minor >= ATTACH_MINOR_PIPELINE && has_room(a, s))
		ask_index(a, s);
}

void attach_begin_packet(struct attach *a, struct stream *s)
{
	/* one at least is always under way */
	if (a->fetching && a->fetching + s->size > a->sink->queue)
		return;
	s->packet = packets_take(a->sink->packets, s->size, s->content);
	if (!s->packet)
		return;
	a->fetching += s->size;
	s->asked = s->got = 0;
	s->spoilt = s->again = false;
	s->state = STREAM_PACKET;
	attach_ask_pieces(a, s);
}

/* Asks for metadata that is announced; forgets traces of processes that are gone. */
static void ask_traces(struct attach *a, int64_t now)
{
	GHashTableIter it;
	gpointer value;

	g_hash_table_iter_init(&it, a->traces);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct trace *t = value;
		if (t->begun && !t->alive && !t->held && !t->asked && (t->gone || !t->wants)) {
			attach_end_trace(a, t);
			g_hash_table_iter_remove(&it);
			continue;
		}
		if (!t->wants || t->asked || t->gone || !t->has_metadata)
			continue;
		if (t->due <= now && attach_has_window(a))
			attach_ask_metadata(a, t);
		else
			a->scan_due = MIN(a->scan_due, t->due);
	}
}

static void ask_stream(struct attach *a, struct stream *s, int64_t now)
{
	if (s->state == STREAM_READY)
		attach_begin_packet(a, s);
	else if (s->state == STREAM_PACKET)
		attach_ask_pieces(a, s);
	if (s->state == STREAM_READY) {
		a->full_at = now;
		a->scan_due = MIN(a->scan_due, now + FULL_US);
	}
	if (s->state != STREAM_RESTS)
		return;
	if (s->due <= now && !has_room(a, s)) {
		a->full_at = now;
		s->due = now + FULL_US;
	}
	if (s->due <= now && attach_has_window(a))
		ask_index(a, s);
	else
		a->scan_due = MIN(a->scan_due, MAX(s->due, now + 1));
}

/* Nothing of theirs is under way. */
static void drop_over(struct attach *a)
{
	for (guint i = a->streams->len; i-- > 0;) {
		const struct stream *s = g_ptr_array_index(a->streams, i);
		if (s->state == STREAM_OVER && !s->held)
			g_ptr_array_remove_index_fast(a->streams, i);
	}
}

/* A process may begin and end between two questions: its streams are never known then. */
static int64_t news_pause(const struct attach *a, int64_t now)
{
	int64_t pause = a->alive && !a->in_company ? ATTACH_NEWS_US : a->max_pause;
	if (a->appeared && now - a->appeared < attach_lately(a))
		return MIN(pause, ATTACH_APPEAR_US);
	return a->alive ? pause : MIN(pause, ATTACH_FIRST_US);
}

/* After each bunch of data; else now and then, the more often the more wait for it. */
static void ask_news(struct attach *a, int64_t now)
{
	if (a->news_asked || !attach_has_window(a) ||
	    (a->news_due > now && g_queue_is_empty(&a->held)))
		return;
	viewer_ask_streams(a->v, a->feed.session.id);
	note(a, ASKED_STREAMS, NULL, 0);
	a->news_asked = true;
	a->news_sent = now;
	a->news_due = now + news_pause(a, now);
}

/* All that is due, as far as the window goes; when to look again. */
void attach_ask_due(struct attach *a, int64_t now)
{
	guint n;

	ask_news(a, now);
	a->scan_due = a->news_asked ? now + ATTACH_NEWS_US : a->news_due;
	drop_over(a);
	ask_traces(a, now);
	n = a->streams->len;
	for (guint i = 0; i < n && attach_has_window(a); i++)
		ask_stream(a, g_ptr_array_index(a->streams, (a->turn + i) % n), now);
	/* who was not looked at this time is the first the next time */
	a->turn = n ? (a->turn + 1) % n : 0;
	if (!attach_has_window(a))
		a->scan_due = now;
}

