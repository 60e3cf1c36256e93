/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends the requests of an attachment that are due: for indexes, packets, metadata, new streams. */
#include "live/viewer/attach_private.h"

#include "base/each.h"

#define PIECE (1u << 16)		/* bytes of a packet in one request: small, so that progress shows on a slow
					 * connection */
#define FULL_US 5000			/* us: pause before the queue is checked again */

static void note(struct attach *a, enum request_kind kind, void *of, uint32_t len)
{
	g_assert(attach_has_window(a));
	a->asked[(a->first + a->n_asked++) % ATTACH_WINDOW] = (struct request){ kind, of, len };
}

void attach_fetch(struct attach *a, gssize bytes)
{
	g_assert(bytes >= 0 || a->fetching >= (size_t)-bytes);
	a->fetching += (size_t)bytes;
	g_atomic_pointer_add(&a->sink->fetching, bytes);
}

enum attach_room attach_room(const struct attach_sink *sink)
{
	gsize fetching = (gsize)g_atomic_pointer_get(&((struct attach_sink *)sink)->fetching);
	uint64_t waits = native_feed_waiting(sink->feed) + fetching;

	return waits < sink->queue ? ATTACH_ROOM : waits / 2 < sink->queue ? ATTACH_TIGHT : ATTACH_FULL;
}

/* May more be requested of the stream? Always if the merge waits for it. */
static bool has_room(struct attach *a, const struct stream *s)
{
	enum attach_room room = attach_room(a->sink);

	if (room == ATTACH_ROOM)
		return true;
	return !s->held && native_feed_wants(a->sink->feed, s->number) &&
	       (room == ATTACH_TIGHT || native_feed_awaited(a->sink->feed) == (int)s->number);
}

static void ask_index(struct attach *a, struct stream *s)
{
	g_assert(!s->index_asked && s->state != STREAM_ENDED);	/* one request at a time */
	viewer_ask_index(a->v, s->id);
	note(a, ASKED_INDEX, s, 0);
	s->index_asked = true;
	s->index_asked_at = g_get_monotonic_time();
	if (s->state == STREAM_IDLE)
		s->state = STREAM_INDEX;
}

void attach_ask_metadata(struct attach *a, struct trace *t)
{
	g_assert(!t->asked && t->has_metadata);
	viewer_ask_metadata(a->v, t->metadata_stream);
	note(a, ASKED_METADATA, t, 0);
	t->asked = true;
}

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
	/* a packet larger than the queue is requested alone, also of all attachments */
	size_t others = s->size > a->sink->queue ? (gsize)g_atomic_pointer_get(&a->sink->fetching) : a->fetching;
	if ((others && others + s->size > a->sink->queue) || !has_room(a, s))
		return;
	g_assert(s->state == STREAM_READY && !s->packet);
	s->packet = packets_take(a->sink->packets, s->size, s->content);
	if (!s->packet)
		return;
	attach_fetch(a, (gssize)s->size);
	s->asked = s->got = 0;
	s->failed = s->retry = false;
	s->state = STREAM_PACKET;
	attach_ask_pieces(a, s);
}

/* The trace of the stream that the merge waits for; NULL: it is none of this attachment's. */
static const struct trace *awaited_trace(const struct attach *a)
{
	int number = native_feed_awaited(a->sink->feed);

	for (guint i = 0; number >= 0 && i < a->streams->len; i++) {
		const struct stream *s = g_ptr_array_index(a->streams, i);
		if (s->number == (unsigned)number)
			return s->trace;
	}
	return NULL;
}

/* Requests metadata that was announced; ends traces whose streams have ended. */
static void ask_traces(struct attach *a, int64_t now)
{
	bool full = attach_room(a->sink) == ATTACH_FULL;
	const struct trace *awaited = full ? awaited_trace(a) : NULL;

	TABLE_EACH(each, a->traces) {
		struct trace *t = each.value;
		bool complete = !t->wants && !t->asked && !t->held_metadata;
		if (t->draining && complete && !t->drained) {
			t->drained = true;
			attach_end_trace(a, t);
		}
		if (t->had_stream && !t->alive && !t->held && !t->asked && (t->metadata_ended || !t->wants)) {
			attach_end_trace(a, t);
			g_hash_table_iter_remove(&each.it);
			continue;
		}
		if (!t->wants || t->asked || t->metadata_ended || !t->has_metadata)
			continue;
		if (t->due <= now && full && t != awaited) {
			a->full_at = now;
			t->due = now + FULL_US;
		}
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
	if (s->state != STREAM_IDLE)
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

/* Frees ended streams without held data. They have no request in progress. */
static void drop_ended(struct attach *a)
{
	for (guint i = a->streams->len; i-- > 0;) {
		const struct stream *s = g_ptr_array_index(a->streams, i);
		if (s->state == STREAM_ENDED && !s->held)
			g_ptr_array_remove_index_fast(a->streams, i);
	}
}

/* us. A process that begins and ends between two requests is missed with its streams. */
static int64_t streams_pause(const struct attach *a, int64_t now)
{
	int64_t pause = a->alive && !a->has_peers ? ATTACH_STREAMS_US : a->max_pause;
	if (a->process_began_at && now - a->process_began_at < attach_watch_us(a))
		return MIN(pause, ATTACH_APPEAR_US);
	return a->alive ? pause : MIN(pause, ATTACH_FIRST_US);
}

/* Requests new streams if held data waits for the answer, else at .streams_due. */
static void ask_streams(struct attach *a, int64_t now)
{
	bool holds = !g_queue_is_empty(&a->held);

	if (!holds && a->streams_due <= now && attach_room(a->sink) == ATTACH_FULL) {
		a->full_at = now;
		a->streams_due = now + FULL_US;
	}
	if (a->streams_asked || !attach_has_window(a) || (a->streams_due > now && !holds))
		return;
	viewer_ask_streams(a->v, a->link.session.id);
	note(a, ASKED_STREAMS, NULL, 0);
	a->streams_asked = true;
	a->streams_asked_at = now;
	a->streams_due = now + streams_pause(a, now);
}

void attach_ask_due(struct attach *a, int64_t now)
{
	guint n;

	ask_streams(a, now);
	a->scan_due = a->streams_asked ? now + ATTACH_STREAMS_US : a->streams_due;
	drop_ended(a);
	ask_traces(a, now);
	n = a->streams->len;
	for (guint i = 0; i < n && attach_has_window(a); i++)
		ask_stream(a, g_ptr_array_index(a->streams, (a->next_stream + i) % n), now);
	/* streams that found the window full come first the next time */
	a->next_stream = n ? (a->next_stream + 1) % n : 0;
	if (!attach_has_window(a))
		a->scan_due = now;
}

