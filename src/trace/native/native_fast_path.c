/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast path of decoding: whole packets without clamped timestamps, with known event classes, within one second.
 * All other cases are left to native_cursor.c. These packets have no general event header (struct ctf_header), so no
 * registers are needed to read one.
 */
#include "trace/native/native_cursor.h"

/* The ends of struct blk_event and of struct native_hot are alike (class, row, stream) and are copied at once. */
#define SAME_BYTES (sizeof(struct blk_event) - offsetof(struct blk_event, cls))
G_STATIC_ASSERT(SAME_BYTES == sizeof(struct native_hot) - offsetof(struct native_hot, cls));
G_STATIC_ASSERT(offsetof(struct blk_event, row) - offsetof(struct blk_event, cls) ==
		offsetof(struct native_hot, row) - offsetof(struct native_hot, cls));

/* Bytes after the current event that are prefetched. The next event's place depends on this event's header. 128 to
 * 1024 are equally fast. */
#define AHEAD 256

static void forget(struct native_cursor *k, const struct ctf_decoder *d)
{
	g_free(k->hot);
	k->hot = g_new0(struct native_hot, d->n_ids + 1);
	k->hot_decoder = d;
	k->n_hot = d->n_ids;
}

/* Fills the entry of an event id. False: the class was not met yet. */
static G_NO_INLINE bool learn(struct native_cursor *k, const struct ctf_class *c,
			      struct native_hot *h)
{
	uint32_t number = c ? k->source->cls[c->cls] : UINT32_MAX;
	if (number == UINT32_MAX || c->bits > UINT32_MAX)
		return false;
	*h = (struct native_hot){
		.bits = (uint32_t)c->bits, .cls = number, .row = c->row, .stream = k->index,
	};
	if (c->row == G_MAXUINT16) {
		h->kind = c->n_steps ? NATIVE_HOT_RUN : NATIVE_HOT_COUNT;
		h->count = &k->counts[c->cls];
	} else {
		h->kind = c->n_steps || c->copies ? NATIVE_HOT_RUN : NATIVE_HOT_RECORD;
		h->layout = c->layout;
	}
	return true;
}

/* Handles an event with a program to run, or with a new id. Returns the position after it; CTF_NO_FIT: the event is
 * left to cursor_step(). */
static G_NO_INLINE uint64_t unusual(struct native_cursor *k, struct blk_event *out, uint64_t id,
				    uint64_t body, int64_t ts)
{
	struct native_hot *h = &k->hot[id];
	const struct ctf_class *c = k->decoder->by_id[id];
	if (h->kind == NATIVE_HOT_UNKNOWN && !learn(k, c, h))
		return CTF_NO_FIT;
	if (h->row == G_MAXUINT16 && !*h->count)	/* the first of its second is counted by cursor_step() */
		return CTF_NO_FIT;
	uint64_t next = c->n_steps ? native_run_class(k, c, body) : body + c->bits;
	if (next > k->end)
		return CTF_NO_FIT;
	if (h->row == G_MAXUINT16)
		++*h->count;
	else
		native_fill(k, out, c, ts, k->base + (body >> 3), h->cls);
	return next;
}

static inline G_ALWAYS_INLINE void run(struct native_cursor *k, enum ctf_fast fast)
{
	const uint8_t *const base = k->base;
	const uint64_t end = k->end, base_ns = k->to_ns.base_ns, n_ids = k->n_hot;
	const struct ctf_header *const header = &k->decoder->header;
	const struct native_hot *const hot = k->hot;
	struct blk_event *out = &k->ahead[k->ahead_n], *const full = &k->ahead[NATIVE_AHEAD];
	uint64_t pos = k->pos, clock = k->clock, tally_clock = 0;
	const int64_t here = (int64_t)(base_ns + clock), stop = MIN(MIN(k->second_end, k->source->to),
								       k->latest_ns);
	if (G_UNLIKELY(here < k->last_ts || here >= stop))	/* 64-bit timestamps may decrease */
		return;
	const uint64_t limit = clock + ((uint64_t)stop - (uint64_t)here);
	while (out < full) {
		uint64_t at = pos, now = clock, id, next;
		if (!ctf_header_read_as(header, fast, base, &at, end, &now, &id, NULL) || id >= n_ids ||
		    now - clock >= limit - clock)	/* after the limit, or earlier than the last event */
			break;
		__builtin_prefetch(base + (at >> 3) + AHEAD);
		const struct native_hot *h = &hot[id];
		next = at + h->bits;
		if (G_LIKELY(h->kind == NATIVE_HOT_RECORD)) {
			if (next > end)
				break;
			out->ts = (int64_t)(base_ns + now);
			out->data = base + (at >> 3);
			out->layout = h->layout;
			memcpy(&out->cls, &h->cls, SAME_BYTES);
			out++;
		} else if (h->kind == NATIVE_HOT_COUNT) {
			if (next > end || !*h->count)
				break;
			++*h->count;
			tally_clock = now;
		} else {
			next = unusual(k, out, id, at, (int64_t)(base_ns + now));
			if (next == CTF_NO_FIT)
				break;
			if (h->row == G_MAXUINT16)
				tally_clock = now;
			else
				out++;
		}
		pos = next;
		clock = now;
	}
	k->ahead_n = (unsigned)(out - k->ahead);
	if (pos != k->pos)
		k->last_ts = k->event_ns = (int64_t)(base_ns + clock);
	if (tally_clock)
		k->tally_last = (int64_t)(base_ns + tally_clock);
	k->pos = pos;
	k->clock = clock;
}

void native_skip_fast(struct native_cursor *k)
{
	const struct ctf_decoder *d = k->decoder;
	const uint64_t base_ns = k->to_ns.base_ns;
	const int64_t stop = MIN(k->source->from, k->latest_ns);
	uint64_t pos = k->pos, clock = k->clock;
	if (!k->use_fast_path || (int64_t)(base_ns + clock) < k->last_ts)
		return;
	for (;;) {
		uint64_t at = pos, now = clock, id, next;
		const struct ctf_class *c = NULL;
		if (ctf_header_read(&d->header, k->base, &at, k->end, &now, &id, NULL) && id < d->n_ids)
			c = d->by_id[id];
		if (!c || now < clock || (int64_t)(base_ns + now) >= stop)
			break;
		next = c->n_steps ? native_run_class(k, c, at) : at + c->bits;
		if (next > k->end)
			break;
		pos = next;
		clock = now;
	}
	if (pos != k->pos)
		k->last_ts = k->event_ns = (int64_t)(base_ns + clock);
	k->pos = pos;
	k->clock = clock;
}

void native_run_fast(struct native_cursor *k)
{
	if (!k->use_fast_path || k->queue_n || !k->packet)
		return;
	if (G_UNLIKELY(k->last_ts < k->source->from))	/* the first event of the range is left to cursor_step() */
		return;
	const struct ctf_decoder *d = k->decoder;
	if (G_UNLIKELY(k->hot_decoder != d || k->n_hot != d->n_ids))
		forget(k, d);
	if (d->header.fast == CTF_FAST_LARGE)
		run(k, CTF_FAST_LARGE);
	else if (d->header.fast == CTF_FAST_COMPACT)
		run(k, CTF_FAST_COMPACT);
	else
		run(k, CTF_FAST_NONE);
}
