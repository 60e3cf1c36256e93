/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delivers the feed's records in order of time. A stream whose packets are all decoded stays in the heap, with the
 * instant up to which its data is complete. Later records of other streams wait until the stream has more data, or
 * until they have waited long enough for it.
 */
#include "trace/native/native_feed_private.h"

#include "base/each.h"
#include "trace/native/merge.h"

#define STEP_US 100000			/* a longer time between two calls counts as this much waiting */

/* The instant that the stream has passed: nothing older is in its packets or will come. */
static int64_t feed_passed(const struct feed_stream *x)
{
	const struct feed_track *t = x->track;
	if (!t)
		return x->beacon_ns;
	int64_t ns = t->cursor->last_ts;
	if (t->cursor->packet || t->cursor->next < t->plan.n)
		return ns;
	if (t->has_previous && t->previous.end_ns != INT64_MAX)
		ns = MAX(ns, t->previous.end_ns);
	return MAX(ns, x->beacon_ns);
}

/* ---- lateness ---- */

/* Notes the newest instant at this time, FEED_MARKS - 2 times in the longest time that streams wait. */
static void mark(struct native_feed *f)
{
	int64_t step = f->max_late_us * FEED_CATCH_UP / (FEED_MARKS - 2);
	unsigned n = f->n_marks;
	if (f->newest_ns == INT64_MIN || (n && f->now_us - f->mark[n - 1].at_us <= step) ||
	    (n && f->mark[n - 1].ns == f->newest_ns))
		return;
	if (n == FEED_MARKS) {
		memmove(f->mark, f->mark + 1, (FEED_MARKS - 1) * sizeof f->mark[0]);
		n--;
	}
	g_assert(n < FEED_MARKS);
	f->mark[n].at_us = f->now_us;
	f->mark[n].ns = f->newest_ns;
	f->n_marks = n + 1;
}

/*
 * The instant up to which the others need not wait for this stream any more: they had data of it late_us ago (or
 * FEED_CATCH_UP times that). INT64_MIN: they wait.
 */
static int64_t overtake_limit(const struct native_feed *f, const struct feed_stream *x)
{
	bool silent = f->now_us - x->active_us >= x->late_us;
	int64_t late_us = MIN(x->late_us, INT64_MAX / FEED_CATCH_UP) * (silent ? 1 : FEED_CATCH_UP);
	for (unsigned i = f->n_marks; i-- > 0;) {
		int64_t ns = f->mark[i].ns;
		if (f->now_us - f->mark[i].at_us >= late_us)
			return feed_passed(x) < ns ? ns + (ns < INT64_MAX) : INT64_MIN;
	}
	return INT64_MIN;
}

static int64_t delivered(const struct native_feed *f)
{
	return f->s.n_batch ? f->s.batch[f->s.n_batch - 1].ts : f->last_ns;
}

static void note_late(struct native_feed *f, int64_t ts, int64_t at)
{
	struct source_late *l = &f->recent_late;

	f->late++;
	f->late_from_ns = MIN(f->late_from_ns, ts);
	f->late_to_ns = MAX(f->late_to_ns, ts);
	l->from_ns = l->n ? MIN(l->from_ns, ts) : ts;
	l->to_ns = l->n ? MAX(l->to_ns, ts) : ts;
	l->at_from_ns = l->n ? MIN(l->at_from_ns, at) : at;
	l->at_to_ns = l->n ? MAX(l->at_to_ns, at) : at;
	l->n++;
}

bool feed_take_late(struct source *s, struct source_late *ret)
{
	struct native_feed *f = (struct native_feed *)s;

	*ret = f->recent_late;
	f->recent_late = (struct source_late){ 0 };
	return ret->n > 0;
}

/* Records older than the last delivered one are moved to the present. */
static void move_late(struct native_feed *f, struct native_cursor *k)
{
	int64_t last = delivered(f);
	for (unsigned i = 0; i < k->ahead_n && k->ahead[i].ts < last; i++) {
		struct blk_event *e = &k->ahead[i];
		if (e->row < BLK_ROW_FIRST_PSEUDO)
			note_late(f, e->ts, last);
		e->ts = last;
	}
}

/* ---- the heap ---- */

static struct merge_head head_of(const struct native_feed *f, const struct feed_stream *x)
{
	const struct native_cursor *k = x->track ? x->track->cursor : NULL;
	struct merge_head h = { .cursor = x->slot };
	h.ts = k && k->ahead_at < k->ahead_n ? k->ahead[k->ahead_at].ts
					     : MAX(feed_passed(x), x->overtaken_ns);
	return h;
}

/* Streams without a packet have rank 0: the records of all others wait for them, also at equal timestamps. */
static void rebuild(struct native_feed *f)
{
	struct native_source *s = &f->s;
	f->rebuild = false;
	if (f->heap_cap < f->streams->len) {
		f->heap_cap = f->streams->len * 2;
		s->heap = g_renew(struct merge_head, s->heap, f->heap_cap);
	}
	s->n_heap = 0;
	for (guint i = 0; i < f->order->len; i++) {
		const struct feed_stream *x = g_ptr_array_index(f->order, i);
		g_assert(x->track && !x->ended);
		if (x->parked)
			continue;
		s->heap[s->n_heap] = head_of(f, x);
		s->heap[s->n_heap++].rank = i + 1;
	}
	PTR_EACH(const struct feed_stream, x, f->streams)
		if (x && !x->track && !x->ended && !x->parked)
			s->heap[s->n_heap++] = head_of(f, x);
	g_assert(s->n_heap <= f->heap_cap);
	merge_build(s->heap, s->n_heap);
}

static void drop_first(struct native_source *s)
{
	g_assert(s->n_heap > 0);
	s->heap[0] = s->heap[--s->n_heap];
	if (s->n_heap)
		merge_sift_down(s->heap, s->n_heap, 0);
}

static void raise_first(struct native_source *s, int64_t ts)
{
	s->heap[0].ts = ts;
	merge_sift_down(s->heap, s->n_heap, 0);
}

/* ---- one stream ---- */

/* Subtracts packets before the current one from the queued bytes: they are decoded. */
static void count_decoded(struct native_feed *f, struct feed_stream *x)
{
	struct feed_track *t = x->track;
	size_t left = t->cursor->packet ? (size_t)(t->cursor->packet - t->plan.packet)
					: t->cursor->next;
	g_assert(left <= t->plan.n && t->packets->len == t->plan.n);
	for (; t->n_decoded < left; t->n_decoded++)
		feed_unqueue(f, x, g_bytes_get_size(
				     g_array_index(t->packets, struct feed_packet, t->n_decoded).bytes));
}

/* May metadata still declare the class of an event in the current packet? */
static bool may_wait(const struct native_feed *f, const struct feed_stream *x)
{
	const struct feed_track *t = x->track;
	const struct native_cursor *k = t->cursor;
	size_t at = k->packet ? (size_t)(k->packet - t->plan.packet) : k->next;
	return at < t->plan.n && !f->ended && !x->trace->failed && !x->trace->ended &&
	       f->now_us - g_array_index(t->packets, struct feed_packet, at).at_us < FEED_CLASS_US;
}

static enum native_step refill(struct native_feed *f, struct feed_stream *x)
{
	struct feed_track *t = x->track;
	struct native_cursor *k = t->cursor;
	feed_track_retire(f, x);
	native_cursor_grow(k);
	t->plan.waits = may_wait(f, x);
	enum native_step step = native_cursor_refill(k);
	bool silent = step == NATIVE_LATER && (x->cut || x->beacon_ns >= k->second_end);
	if (silent && !t->tallies_reported && !k->packet) {
		t->tallies_reported = true;
		native_end_second(k);
		step = native_cursor_refill(k);
	}
	count_decoded(f, x);
	feed_trouble_events(f, x);
	if (step == NATIVE_RECORD)
		move_late(f, k);
	return step;
}

/* Refills the first stream of the heap, which has no records. False: the merge must wait for it. */
static bool ask_first(struct native_feed *f)
{
	struct native_source *s = &f->s;
	struct feed_stream *x = g_ptr_array_index(f->streams, s->heap[0].cursor);
	g_assert(x && !x->ended);
	enum native_step step = x->track ? refill(f, x) : x->closed ? NATIVE_END : NATIVE_LATER;
	if (step == NATIVE_RECORD) {
		raise_first(s, x->track->cursor->ahead[0].ts);
		return true;
	}
	if (step == NATIVE_END) {
		drop_first(s);
		feed_stream_end(f, x);
		return true;
	}
	if (x->cut || (!x->track && (x->trace->failed || (x->trace->ended && !x->trace->usable)))) {
		x->parked = true;
		drop_first(s);
		return true;
	}
	int64_t ts = feed_passed(x);
	if (ts <= s->heap[0].ts) {
		ts = overtake_limit(f, x);
		if (ts <= s->heap[0].ts)
			return false;
		x->overtaken_ns = ts;
	}
	raise_first(s, ts);
	return true;
}

static bool has_records(const struct native_feed *f, const struct merge_head *h)
{
	const struct native_cursor *k = f->s.cursor[h->cursor];
	return k && k->ahead_at < k->ahead_n;
}

/* ---- the whole ---- */

static void emit_horizon(struct native_feed *f)
{
	struct native_source *s = &f->s;
	if (!s->n_heap || s->n_batch == BLK_BATCH || has_records(f, &s->heap[0]))
		return;
	int64_t ts = s->heap[0].ts;
	if (ts <= delivered(f) || ts == f->reported_horizon_ns)
		return;
	s->batch[s->n_batch++] = (struct blk_event){ .ts = ts, .row = BLK_ROW_HORIZON };
	f->reported_horizon_ns = ts;
}

static void update_status(struct native_feed *f)
{
	struct native_feed_status st = {
		.newest_ns = f->newest_ns, .horizon_ns = f->last_ns, .late = f->late,
		.late_from_ns = f->late_from_ns, .late_to_ns = f->late_to_ns,
		.refused = f->refused, .unplaced = f->unplaced, .stalled_stream = -1, .stalled_ns = INT64_MIN,
		.waits_for = -1,
	};
	if (f->blocked) {
		g_assert(f->s.n_heap > 0);
		const struct feed_stream *first = g_ptr_array_index(f->streams, f->s.heap[0].cursor);
		st.waits_for = (int)first->number;
	}
	for (size_t i = 0; i < f->s.n_heap; i++) {
		const struct feed_stream *x = g_ptr_array_index(f->streams, f->s.heap[i].cursor);
		st.streams++;
		if (x->overtaken_ns == INT64_MIN)
			continue;
		int64_t passed = feed_passed(x);
		st.stalled++;
		if (st.stalled_stream < 0 || passed < st.stalled_ns) {
			st.stalled_stream = (int)x->number;
			st.stalled_ns = passed;
		}
	}
	feed_trouble_count(f, &st);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&f->lock);
	f->status = st;
}

static bool merge(struct native_feed *f)
{
	struct native_source *s = &f->s;
	while (s->n_batch < BLK_BATCH) {
		if (f->rebuild)
			rebuild(f);
		if (!s->n_heap)
			return false;
		if (native_take_runs(s) && !ask_first(f))
			return true;
	}
	return false;
}

/* Advances the feed's clock. Only time in which the merge waited for a stream counts, at most STEP_US a call: no
 * stream is late because the taker was busy or the process was stopped. */
static void pass_time(struct native_feed *f)
{
	int64_t now = f->now(f->now_data);
	if (f->blocked)
		f->now_us += CLAMP(now - f->clock_us, 0, STEP_US);
	f->clock_us = now;
}

/* Their records are not in use any more: their stream numbers may be given to other streams. */
static void free_ended_tracks(struct native_feed *f)
{
	PTR_EACH(const struct feed_track, t, f->ended_tracks)
		if (t->cursor->index != G_MAXUINT16)
			source_end_stream(&f->s.source, t->cursor->index);
	g_ptr_array_set_size(f->ended_tracks, 0);
}

enum source_status feed_next(struct source *source, struct blk_batch *ret, GError **error)
{
	struct native_feed *f = (struct native_feed *)source;
	struct native_source *s = &f->s;
	if (native_is_stopped(s))
		return SOURCE_CANCELLED;
	s->batch_number++;
	s->n_batch = 0;
	g_array_set_size(f->retired, 0);
	free_ended_tracks(f);
	pass_time(f);
	feed_take_in(f);
	mark(f);
	f->blocked = merge(f);
	emit_horizon(f);
	f->last_ns = delivered(f);
	update_status(f);
	f->blocked |= !s->n_heap;
	*ret = (struct blk_batch){ s->batch, s->n_batch };
	if (s->n_batch)
		return SOURCE_OK;
	return f->ended && !s->n_heap ? SOURCE_END : SOURCE_AGAIN;
}
