/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes the packets of one stream: event headers, event classes, records. */
#include "trace/native/native_cursor.h"

#include "trace/ctf/layouts.h"

#include "base/limits.h"

#include <unistd.h>

#define HEADER_BYTES 512		/* holds LTTng's packet header and context */
#define STRETCH (UINT64_C(8) << 20)	/* bits decoded before the next check whether to stop */

void native_cursor_init(struct native_cursor *k, struct native_source *s,
			const struct native_stream *stream, const struct native_plan_stream *plan)
{
	*k = (struct native_cursor){
		.source = s, .stream = stream, .plan = plan, .index = G_MAXUINT16,
		.last_ts = G_MININT64, .event_ns = G_MININT64, .end_ns = G_MININT64, .second_end = G_MININT64, .fd = -1,
		.swap_batch = UINT64_MAX, .emit_batch = UINT64_MAX, .turn_batch = UINT64_MAX,
	};
	k->to_ns = k->stream->clock;
	g_assert(k->to_ns.freq > 0);	/* native_stream_pin() was called */
	k->next = native_plan_find(k->plan, s->from);
	k->counted = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	native_cursor_grow(k);
}

/* Makes room for n registers: packets may name any of them. */
static void need_registers(struct native_cursor *k, size_t n)
{
	if (n <= k->n_regs)
		return;
	k->run.regs = g_renew(uint64_t, k->run.regs, n);
	memset(k->run.regs + k->n_regs, 0, (n - k->n_regs) * sizeof *k->run.regs);
	k->n_regs = n;
}

void native_cursor_grow(struct native_cursor *k)
{
	size_t n_counts = k->source->native->classes->len + 1u;
	if (k->decoder)
		need_registers(k, k->decoder->sc->n_regs + 1u);
	if (n_counts > k->n_counts) {
		if (k->n_counts)	/* live: there may be more soon */
			n_counts = MAX(n_counts, k->n_counts * 2);
		k->counts = g_renew(uint64_t, k->counts, n_counts);
		memset(k->counts + k->n_counts, 0, (n_counts - k->n_counts) * sizeof *k->counts);
		k->n_counts = n_counts;
		k->hot_decoder = NULL;		/* its .count points into .counts */
	}
}

void native_cursor_clear(struct native_cursor *k)
{
	for (int i = 0; i < 2; i++) {
		if (k->window[i].cap)
			g_free(k->window[i].bytes);
		arena_clear(&k->arena[i]);
	}
	native_window_close(k);
	g_free(k->run.regs);
	g_free(k->hot);
	fields_clear(&k->run.all);
	g_free(k->counts);
	g_array_unref(k->counted);
	g_free(k->queue);
}

/* Timestamps of a stream never decrease. */
static inline int64_t advance(const struct native_cursor *k, int64_t ts)
{
	return G_LIKELY(ts >= k->last_ts) ? ts : k->last_ts;
}

/* ---- packets ---- */

static void begin_gap(struct native_cursor *k, const struct native_packet *x)
{
	struct blk_loss loss = {
		.packets = x->lost_packets, .silence = !x->lost_packets && !x->is_gap_discarded,
		.is_part = x->is_gap_discarded,
	};
	loss.begin_ns = k->last_ts = advance(k, x->gap_begin_ns);
	loss.end_ns = advance(k, x->begin_ns);
	if (loss.end_ns >= k->second_end)
		native_next_second(k, loss.end_ns);
	native_queue_loss(k, &loss);
	k->last_ts = loss.end_ns;
}

static void finish_packet(struct native_cursor *k)
{
	const struct native_packet *x = k->packet;
	int64_t begin = k->last_ts, end = begin;
	if (x->end_ns != INT64_MAX)
		end = advance(k, x->end_ns);
	k->end_ns = MAX(k->end_ns, end);
	if (end >= k->second_end && begin != G_MININT64)
		native_next_second(k, end);
	bool lost = x->has_lost || k->damaged;
	if (begin != G_MININT64 && (lost || x->is_paused)) {
		struct blk_loss loss = {
			.events = x->lost_events, .damaged = k->damaged ? MAX(x->n_unread, 1) : 0,
			.begin_ns = begin, .end_ns = end, .earlier_ns = begin - MIN(begin, k->window_ns),
			.silence = !lost,
		};
		native_queue_loss(k, &loss);
		k->last_ts = end;
	}
	k->loss_pending |= k->damaged && begin == G_MININT64;
	int64_t last = k->is_ahead ? k->latest_ns - NATIVE_OVERHANG_NS : x->end_ns;
	if ((k->is_ahead || !k->went_back) && k->event_ns > last)
		k->event_ns = MAX(k->before_ns, last);
	k->n_finished++;
	k->n_damaged += k->damaged;
	k->packet = NULL;
	k->pos = k->end = k->content_end = 0;
}

/* The end of the packet's events in the current window, in bits. */
static uint64_t window_end(const struct native_cursor *k)
{
	const struct native_window *w = native_window_now(k);
	g_assert(w->offset + w->n >= k->packet->p.offset);
	return MIN(k->content_end, (w->offset + w->n - k->packet->p.offset) * 8);
}

/* The fast path does not look at .discarded_from: it ends there. */
static void stop_at_discarded(struct native_cursor *k)
{
	if (k->pos < k->discarded_from)
		k->end = MIN(k->end, k->discarded_from);
}

/* Sets .base and .end to the part of the packet that the window has, at most STRETCH bits: source_next() can be
 * stopped after each stretch. */
static void use_window(struct native_cursor *k)
{
	const struct native_window *w = native_window_now(k);
	uint64_t at = k->packet->p.offset, end = window_end(k);
	k->base = (const uint8_t *)((uintptr_t)w->bytes + (uintptr_t)(at - w->offset));
	k->end = end > k->pos && end - k->pos > STRETCH ? k->pos + STRETCH : end;
	stop_at_discarded(k);
}

/* Does the header in the file agree with the packet's index entry? */
static bool agree(const struct ctf_packet *a, const struct ctf_packet *b)
{
	return a->begin == b->begin && a->packet_bits == b->packet_bits &&
	       a->content_bits == b->content_bits && a->stream_id == b->stream_id &&
	       a->other_uuid == b->other_uuid && (a->end == b->end || a->fault != CTF_WHOLE) && a->fault == b->fault;
}

/* Reads the packet's header; *ret_ok: it could be read. False: call again in the next batch. */
static bool read_header(struct native_cursor *k, const struct native_packet *x,
			struct ctf_packet *ret, bool *ret_ok)
{
		/* The index has found the end of a packet that does not say its own size. */
	uint64_t limit = x->p.fault == CTF_WHOLE ? ctf_index_size(x->file->index)
						 : x->p.offset + x->p.packet_bits / 8;
	size_t need = 1;
	bool ok = false;
	enum native_fill fill = native_window_have(k, x->file, x->p.offset, HEADER_BYTES);
	for (int tries = 0; tries < 2 && !ok && need; tries++) {
		if (fill == NATIVE_WAIT)
			return false;
		const struct native_window *w = native_window_now(k);
		size_t skip = (size_t)(x->p.offset - w->offset), n = w->n - skip;
		need = 0;
		ok = ctf_packet_read(x->file->m->meta, w->bytes + skip, n, x->p.offset,
				     limit, ret, &need, NULL);
		if (!ok && need > n)
			fill = native_window_have(k, x->file, x->p.offset, need);
		else
			need = 0;
	}
	*ret_ok = ok;
	return true;
}

/* Begins to decode the packet. False: call again in the next batch. */
static bool enter_packet(struct native_cursor *k, const struct native_packet *x)
{
	g_assert(!k->packet);
	struct ctf_packet header = x->p;
	bool ok = x->p.fault != CTF_GARBAGE;
	if (x->bytes)
		native_window_borrow(k, x);	/* its header was read when it was pushed */
	else if (ok && !read_header(k, x, &header, &ok))
		return false;
	k->packet = x;
	k->before_ns = k->event_ns;
	k->went_back = k->is_ahead = false;
	k->discarded_from = UINT64_MAX;
	k->window_ns = INT64_MAX;
	k->next++;
	k->source->consumed += x->p.packet_bits / 8;
	k->decoder = ok ? native_decoder(x->file->m, header.stream_id) : NULL;
	ctf_packet_follow(&header, x->p.begin);
	k->damaged = !k->decoder || !agree(&header, &x->p);
	if (k->damaged)
		return true;
	/* An unfinished packet ends where the next one begins. */
	int64_t end = x->end_ns == INT64_MAX && !k->plan->grows ? x->max_end_ns : x->end_ns;
	k->latest_ns = end < TIME_MOST_NS ? end + NATIVE_OVERHANG_NS : TIME_MOST_NS;
	k->clock = header.begin;
	k->pos = header.header_bits;
	k->content_end = header.content_bits;
	use_window(k);
	/* A hostile packet may be of another stream class than the first one of its file. */
	const struct ctf_stream_class *sc = k->decoder->sc;
	need_registers(k, sc->n_regs + 1u);
	if (sc->packet_regs)
		ctf_packet_registers(x->file->m->meta, sc, k->base, k->end, k->run.regs);
	return true;
}

static bool is_plain_packet(const struct native_cursor *k, const struct native_packet *x)
{
	return x->p.fault == CTF_WHOLE && !k->damaged && x->begin_ns >= k->last_ts &&
	       k->to_ns.freq == 1000000000 && !k->decoder->header.is_general;
}

/* False: call again in the next batch. */
static bool next_packet(struct native_cursor *k)
{
	const struct native_packet *x = &k->plan->packet[k->next];
	if (!enter_packet(k, x))
		return false;
	if (x->has_gap)
		begin_gap(k, x);
	k->discarded_due = x->has_lost && x->p.fault == CTF_WHOLE && x->end_ns != INT64_MAX && !k->damaged;
	k->use_fast_path = !k->discarded_due && is_plain_packet(k, x);
	/* Garbage is placed after the packet before it; without one it has no time (begin_ns 0). */
	if (x->p.fault != CTF_GARBAGE || x->begin_ns) {
		int64_t ts = advance(k, x->begin_ns);
		if (ts >= k->source->from)
			native_ensure_added(k, ts);
		if (ts >= k->second_end)
			native_next_second(k, ts);
		k->last_ts = ts;
		if (k->loss_pending)
			native_queue_loss(k, &(struct blk_loss){ .begin_ns = ts, .end_ns = ts });
		k->loss_pending = false;
	}
	if (x->p.fault != CTF_WHOLE && !k->damaged)
		k->damaged = true;		/* its events up to the damage are decoded */
	else if (k->damaged)
		k->pos = k->end = k->content_end = 0;
	return true;
}

/* ---- events ---- */

enum more { MORE_READ, MORE_NONE, MORE_WAIT, MORE_LATER, MORE_STOP };

/* The event at .pos does not fit into the part of the packet that was read: reads more. */
static enum more read_more(struct native_cursor *k)
{
	const struct native_window *w = native_window_now(k);
	if (k->end >= k->content_end)
		return MORE_NONE;		/* it does not fit into the packet */
	if (k->end < window_end(k)) {
		k->end += MIN(window_end(k) - k->end, STRETCH);
		stop_at_discarded(k);
		return MORE_READ;
	}
	uint64_t at = k->packet->p.offset + k->pos / 8;
	uint64_t had = w->offset + w->n - at;
	size_t need = at == w->offset ? (size_t)had * 2 : (size_t)had + 1;
	need = MIN(MAX(need, 1), (k->content_end + 7) / 8 - k->pos / 8);
	if (had >= LIMIT_EVENT_BYTES)
		return MORE_NONE;
	need = MIN(need, LIMIT_EVENT_BYTES);
	enum native_fill fill = native_window_have(k, k->packet->file, at, need);
	if (fill == NATIVE_WAIT)
		return MORE_WAIT;
	use_window(k);
	w = native_window_now(k);
	return w->offset + w->n - at > had ? MORE_READ : MORE_NONE;
}

/* Sub-buffers that were never finished end in zeros; no event begins like that. */
static bool is_blank(const struct native_cursor *k)
{
	if (k->packet->p.fault != CTF_UNFINISHED)
		return false;
	if (k->pos > k->end || k->end - k->pos < 32)
		return k->end >= k->content_end;
	return !ctf_bits_slow(k->base, k->pos, 32, false);
}

static uint32_t add_class(struct native_source *s, uint32_t cls)
{
	g_assert(cls < s->native->classes->len);
	const struct native_class *c = &g_array_index(s->native->classes, struct native_class, cls);
	s->cls[cls] = source_add_class(&s->source, c->name, c->row, c->counters);
	return s->cls[cls];
}

static inline uint32_t class_number(struct native_source *s, uint32_t cls)
{
	uint32_t known = s->cls[cls];
	return G_LIKELY(known != UINT32_MAX) ? known : add_class(s, cls);
}

/* The class's layout without the slots that this event does not have. */
static const struct blk_layout *partial_layout(struct native_source *s, const struct ctf_class *c,
					       uint32_t present)
{
	struct blk_layout l = *c->layout;
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++)
		if (!(present & 1u << i))
			l.slot[i] = (struct blk_slot_layout){ 0 };
	return layouts_intern(s->layouts, &l);
}

static inline void tally(struct native_cursor *k, uint32_t cls, int64_t ts)
{
	if (!k->counts[cls]++)
		g_array_append_val(k->counted, cls);
	k->tally_last = ts;
}

uint64_t native_run_class(struct native_cursor *k, const struct ctf_class *c, uint64_t pos)
{
	if (c->copies) {
		k->run.arena = native_arena(k);
		k->run.row = arena_alloc(k->run.arena, c->row_bytes);
		k->run.present = 0;
	}
	return ctf_class_run(c, k->base, pos, k->end, &k->run);
}

static enum native_step pop(struct native_cursor *k)
{
	g_assert(k->queue_at < k->queue_n);
	k->head = k->queue[k->queue_at++];
	if (k->queue_at == k->queue_n)
		k->queue_at = k->queue_n = 0;
	return NATIVE_RECORD;
}

void native_fill(struct native_cursor *k, struct blk_event *e, const struct ctf_class *c,
		 int64_t ts, const uint8_t *body, uint32_t cls)
{
	e->ts = ts;
	e->row = c->row;
	e->stream = k->index;
	e->cls = cls;
	e->layout = c->layout;
	e->data = body;
	if (c->copies) {
		e->data = k->run.row;
		if (G_UNLIKELY(k->run.present != c->wanted))
			e->layout = partial_layout(k->source, c, k->run.present);
	}
}

/* The last records of the range. within: an event of the current packet is after the range. Then the gap after that
 * packet is after the range, too, even if the packet's end time is in the range. */
static enum native_step finish(struct native_cursor *k, bool stream_ends, bool within)
{
	if (!k->ended) {
		const struct native_packet *x = &k->plan->packet[k->next];
		k->ended = true;
		if (!within && k->next < k->plan->n && x->has_gap && advance(k, x->gap_begin_ns) < k->source->to)
			begin_gap(k, x);	/* it begins in the range */
		native_queue_end(k, stream_ends);
	}
	return k->queue_n ? pop(k) : NATIVE_END;
}

/* No whole event is at .pos: reads more, or continues with the next packet. MORE_READ: try again. */
static enum more next_bytes(struct native_cursor *k)
{
	if (native_is_stopped(k->source))
		return MORE_STOP;
	if (k->packet && k->pos < k->content_end && !is_blank(k)) {
		enum more more = read_more(k);
		if (more != MORE_NONE)
			return more;
		k->damaged = true;
	}
	if (k->packet) {
		finish_packet(k);
		return MORE_READ;
	}
	if (k->next >= k->plan->n && k->plan->grows)
		return MORE_LATER;
	if (k->next >= k->plan->n || k->plan->packet[k->next].begin_ns >= k->source->to)
		return MORE_NONE;
	return next_packet(k) ? MORE_READ : MORE_WAIT;
}

/* The rest of the packet cannot be decoded. */
static void mark_damaged(struct native_cursor *k)
{
	k->damaged = true;
	k->content_end = k->end = k->pos;
}

/* False: the class of an event is not known yet. */
static bool find_discarded(struct native_cursor *k)
{
	if (!native_find_discarded(k))
		return false;
	k->discarded_due = false;
	k->use_fast_path = is_plain_packet(k, k->packet);
	stop_at_discarded(k);
	return true;
}

/* Events may have been discarded between the last event and the one at ts. */
static void add_discarded(struct native_cursor *k, int64_t ts)
{
	int64_t begin = k->last_ts;

	k->use_fast_path = false;
	k->window_ns = MIN(k->window_ns, begin);
	if (ts == begin)
		return;
	if (ts >= k->second_end && ts < k->source->to)
		native_next_second(k, ts);
	native_queue_loss(k, &(struct blk_loss){
		.begin_ns = begin, .end_ns = ts, .earlier_ns = begin - k->window_ns,
		.later_ns = k->packet->end_ns - MIN(ts, k->packet->end_ns), .is_part = true });
}

/* The clock goes back before or after the event stamped `at`: when that was is unknown. Its record has the time ts. */
static G_NO_INLINE void add_step_back(struct native_cursor *k, int64_t at, int64_t ts)
{
	uint64_t back = (uint64_t)MAX(ts, k->event_ns) - (uint64_t)at;

	if (at > ts)
		back = (uint64_t)at - (uint64_t)ts;
	k->use_fast_path = false;
	k->went_back |= at < k->event_ns;
	k->event_ns = MAX(k->event_ns, at);
	native_queue_loss(k, &(struct blk_loss){
		.begin_ns = ts, .end_ns = ts, .silence = true, .back_ns = (int64_t)MIN(back, INT64_MAX) });
}

/* Notes the time of the next event. `in`: within_packet(). */
static inline void follow_clock(struct native_cursor *k, int64_t at, int64_t in, int64_t ts)
{
	if (G_LIKELY(at >= k->event_ns && in == at))
		k->event_ns = at;
	else
		add_step_back(k, at, ts);
}

/* The time that the record of an event stamped `at` may have; INT64_MIN: the packet is damaged. */
static inline int64_t within_packet(struct native_cursor *k, int64_t at)
{
	if (G_LIKELY(at < k->latest_ns))
		return at;
	k->is_ahead = k->is_ahead || native_goes_back(k, at);
	return k->is_ahead ? k->latest_ns - NATIVE_OVERHANG_NS : INT64_MIN;
}

/* Decodes the next record of the range into .head. */
static enum native_step cursor_step(struct native_cursor *k)
{
	const struct native_source *s = k->source;
	for (;;) {
		uint64_t pos = k->pos, clock = k->clock, id, next, body;
		if (G_UNLIKELY(k->queue_n))
			return pop(k);
		if (G_UNLIKELY(k->ended))
			return NATIVE_END;
		if (G_UNLIKELY(k->discarded_due) && !find_discarded(k))
			return NATIVE_LATER;
		const struct ctf_class *c = NULL;
		if (pos < k->end && !(k->damaged && is_blank(k)) &&
		    ctf_header_read(&k->decoder->header, k->base, &pos, k->end, &clock, &id,
				    k->run.regs)) {
			c = ctf_decoder_class(k->decoder, id);
			if (G_UNLIKELY(!c && k->plan->waits))
				return NATIVE_LATER;
			if (G_UNLIKELY(!c)) {
				mark_damaged(k);
				continue;
			}
			body = pos;
			next = c->n_steps ? native_run_class(k, c, pos) : pos + c->bits;
		}
		if (G_UNLIKELY(c && next == k->pos)) {	/* without a size it would repeat for ever */
			mark_damaged(k);
			continue;
		}
		if (G_UNLIKELY(!c || next > k->end)) {
			enum more more = next_bytes(k);
			if (more == MORE_WAIT || more == MORE_LATER)
				return more == MORE_WAIT ? NATIVE_STALL : NATIVE_LATER;
			if (more == MORE_STOP)
				return NATIVE_END;
			if (more == MORE_NONE)
				return finish(k, k->next >= k->plan->n, false);
			continue;
		}
		int64_t at = native_ns(&k->to_ns, clock), in = within_packet(k, at), ts = advance(k, in);
		if (G_UNLIKELY(in == INT64_MIN && at != in)) {
			mark_damaged(k);
			continue;
		}
		if (G_UNLIKELY(k->pos >= k->discarded_from))
			add_discarded(k, ts);
		k->pos = next;
		k->clock = clock;
		if (G_UNLIKELY(ts >= s->to)) {
			k->pos = k->end = k->content_end = 0;
			k->packet = NULL;
			return finish(k, false, true);
		}
		if (G_UNLIKELY(ts < s->from)) {
			k->last_ts = ts;
			follow_clock(k, at, in, ts);
			native_skip_fast(k);
			continue;
		}
		native_ensure_added(k, ts);
		if (G_UNLIKELY(ts >= k->second_end))
			native_next_second(k, ts);
		k->last_ts = ts;
		follow_clock(k, at, in, ts);
		if (c->row == G_MAXUINT16) {
			class_number(k->source, c->cls);
			tally(k, c->cls, ts);
			if (G_UNLIKELY(!k->tally_reported))
				native_tally_first(k);
			continue;
		}
		native_fill(k, &k->head, c, ts, k->base + (body >> 3),
			    class_number(k->source, c->cls));
		if (G_LIKELY(!k->queue_n))
			return NATIVE_RECORD;
		native_queue_event(k, &k->head);
	}
}

enum native_step native_cursor_refill(struct native_cursor *k)
{
	enum native_step step = NATIVE_RECORD;
	g_assert(k->ahead_at == k->ahead_n);	/* all were delivered: they may point into the other window */
	k->ahead_at = k->ahead_n = 0;
	/* Queued records are delivered first and alone: their rows and those of new events must not share an arena. */
	while (k->queue_n && k->ahead_n < NATIVE_AHEAD) {
		pop(k);
		k->ahead[k->ahead_n++] = k->head;
	}
	if (k->ahead_n)
		return NATIVE_RECORD;
	while (step == NATIVE_RECORD && k->ahead_n < NATIVE_AHEAD) {
		native_run_fast(k);
		if (k->ahead_n == NATIVE_AHEAD)
			break;
		step = cursor_step(k);
		if (step == NATIVE_RECORD)
			k->ahead[k->ahead_n++] = k->head;
	}
	return k->ahead_n ? NATIVE_RECORD : step;
}
