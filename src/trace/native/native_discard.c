/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds where in a packet events may have been discarded. The tracer discards an event that does not fit into the rest
 * of the packet while the next packet is not free. Smaller events still fit after it. So the window of a loss begins
 * after the last event after which an event of every class of the stream would have fitted. The largest size of an
 * event follows from the packet alone, so a packet gives the same window wherever the trace is cut.
 */
#include "trace/native/native_cursor.h"

#include "base/limits.h"

#define LOOK_EVERY 4096		/* events between two looks whether to stop */
#define READ_BYTES (1 << 20)	/* of the packet at once */
#define FAR_BACK_NS (3600 * NS_PER_S)	/* a clock that goes back further than this is damage */

/* Bits of the largest event there can be, if texts and sequences take `lengths` bits at most. */
static uint64_t largest_event(const struct ctf_decoder *d, uint64_t lengths)
{
	return d->header_most + MAX(d->largest_fixed, d->largest_open + lengths);
}

/* The part of the packet being examined. */
struct packet_piece {
	uint8_t *read;			/* from a file, READ_BYTES or more; NULL: the packet is in memory */
	const uint8_t *base;		/* where the packet would begin if it were in memory completely */
	uint64_t first, n;		/* bytes of the packet before the piece, and in it */
};

/* Makes the piece begin at that position, and longer if it does already. False: there is no more. */
static bool read_piece(struct native_cursor *k, struct packet_piece *p, uint64_t pos)
{
	const struct native_packet *x = k->packet;
	const uint64_t bytes = (k->content_end + 7) / 8, first = pos / 8;
	const uint64_t had = first == p->first ? p->n : 0, want = had ? 2 * had : READ_BYTES;

	if (x->bytes || (p->n && p->first + p->n >= bytes) || want > LIMIT_EVENT_BYTES)
		return false;
	p->read = g_realloc(p->read, want);
	p->n = native_window_read(k, x->file, x->p.offset + first, p->read, MIN(want, bytes - first));
	p->first = first;
	p->base = (const uint8_t *)((uintptr_t)p->read - (uintptr_t)first);
	return p->n > had;
}

/* The end of the event at pos; CTF_NO_FIT: it is not in the piece. *ret_class NULL: its class is unknown.
 * *ret_bits: its size after the header. */
static uint64_t event_end(struct native_cursor *k, const struct packet_piece *p, uint64_t pos, uint64_t *clock,
			  const struct ctf_class **ret_class, uint64_t *ret_bits)
{
	uint64_t end = MIN(k->content_end, (p->first + p->n) * 8), body = pos, id, next;

	if (!p->n || !ctf_header_read(&k->decoder->header, p->base, &body, end, clock, &id, k->run.regs))
		return CTF_NO_FIT;
	const struct ctf_class *c = *ret_class = ctf_decoder_class(k->decoder, id);
	if (!c)
		return pos;
	if (c->copies) {
		k->run.row = arena_alloc(k->run.arena, c->row_bytes);
		k->run.present = 0;
	}
	next = c->n_steps ? ctf_class_run(c, p->base, body, end, &k->run) : body + c->bits;
	*ret_bits = next - body;
	return next <= end ? next : CTF_NO_FIT;
}

/* A walk over the events of the packet, from the cursor's position on. */
struct discard_walk {
	struct packet_piece piece;
	struct arena rows;
	uint8_t *row;			/* the cursor's, of the event that it has decoded */
	uint32_t present;
	uint64_t pos, clock;		/* of the next event: where it begins, and the time before it */
	const struct ctf_class *c;	/* of the last event */
	uint64_t bits;			/* its size after the header */
	unsigned n;			/* events */
	bool is_unknown;		/* the next event's class is unknown */
};

static struct discard_walk walk_begin(const struct native_cursor *k)
{
	const uint8_t *bytes = k->packet->bytes;

	return (struct discard_walk){ .piece = { .base = bytes, .n = bytes ? (k->content_end + 7) / 8 : 0 },
			      .row = k->run.row, .present = k->run.present, .pos = k->pos, .clock = k->clock };
}

/* Goes to the end of the next event. False: there is none, it cannot be decoded, or the reader was stopped. */
static bool walk_next(struct native_cursor *k, struct discard_walk *w)
{
	uint64_t next = CTF_NO_FIT, clock = 0;

	if (w->pos >= k->content_end || (++w->n % LOOK_EVERY == 0 && native_is_stopped(k->source)))
		return false;
	do {
		clock = w->clock;
		w->c = NULL;
		k->run.arena = &w->rows;
		next = event_end(k, &w->piece, w->pos, &clock, &w->c, &w->bits);
		arena_reset(&w->rows);
	} while (next == CTF_NO_FIT && read_piece(k, &w->piece, w->pos));
	w->is_unknown = next == w->pos && !w->c;
	if (next == CTF_NO_FIT || next == w->pos)
		return false;
	g_assert(w->c);			/* else event_end() returns .pos */
	w->pos = next;
	w->clock = clock;
	return true;
}

static void walk_end(struct native_cursor *k, struct discard_walk *w)
{
	k->run.row = w->row;
	k->run.present = w->present;
	arena_clear(&w->rows);
	g_free(w->piece.read);
}

/* Walks the packet's events. Stores the largest number of bits of texts and sequences in one event. Also stores the
 * end of the last event after which `need` bits of the packet remain. False: the class of an event may still come. */
static bool find_window(struct native_cursor *k, uint64_t need, uint64_t *ret_lengths, uint64_t *ret_from)
{
	const uint64_t size = k->packet->p.packet_bits;
	struct discard_walk w = walk_begin(k);

	*ret_lengths = 0;
	*ret_from = w.pos;
	while (walk_next(k, &w)) {
		if (w.c->n_steps)
			*ret_lengths = MAX(*ret_lengths, w.bits - MIN(w.bits, w.c->empty_bits));
		if (size - MIN(w.pos, size) >= need)
			*ret_from = w.pos;
	}
	walk_end(k, &w);
	return !w.is_unknown || !k->plan->waits;
}

bool native_goes_back(struct native_cursor *k, int64_t ts)
{
	if (k->packet->p.fault != CTF_WHOLE || ts >= TIME_MOST_NS || ts - k->latest_ns >= FAR_BACK_NS)
		return false;
	struct discard_walk w = walk_begin(k);
	while (walk_next(k, &w))
		;
	walk_end(k, &w);
	return w.pos >= k->content_end && native_ns(&k->to_ns, w.clock) < k->latest_ns;
}

bool native_find_discarded(struct native_cursor *k)
{
	uint64_t lengths, from;

	if (!find_window(k, 0, &lengths, &from) || !find_window(k, largest_event(k->decoder, lengths), &lengths, &from))
		return false;
	k->discarded_from = from;
	return true;
}
