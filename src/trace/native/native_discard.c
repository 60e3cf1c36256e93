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
#define MANY_BITS ((uint64_t)LIMIT_PACKET_BYTES * 8)	/* more than any packet has room for */

static uint64_t sum_saturating(uint64_t a, uint64_t b)
{
	return a > MANY_BITS - MIN(b, MANY_BITS) ? MANY_BITS : a + b;
}

/* The position after a type that begins at `pos`, without its texts and sequences. *is_fixed: it has none of these. */
static uint64_t fixed_end(const struct ctf_type *t, uint64_t pos, bool *is_fixed)
{
	uint64_t begin = pos = ctf_align(pos, t->align), end = begin, of_one;

	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		*is_fixed &= !t->is_var;
		return sum_saturating(pos, t->bits);
	case CTF_STRUCT:
		for (uint32_t i = 0; i < t->n_fields; i++)
			pos = fixed_end(t->field[i].type, pos, is_fixed);
		return pos;
	case CTF_ARRAY:
		of_one = ctf_align(fixed_end(t->element, begin, is_fixed), t->element->align) - begin;
		return of_one && t->length > MANY_BITS / of_one ? MANY_BITS : sum_saturating(pos, of_one * t->length);
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		for (uint32_t i = 0; i < t->n_fields; i++) {
			pos = fixed_end(t->field[i].type, begin, is_fixed);
			end = MAX(end, pos);
		}
		return end;
	case CTF_STRING:
	case CTF_SEQUENCE:
		*is_fixed = false;
		return sum_saturating(pos, 8);
	}
	return pos;
}

/* Bits of an event of the class, with its header, without its texts and sequences. */
static uint64_t fixed_part(const struct ctf_class *c, bool *is_fixed)
{
	const struct ctf_type *const parts[] = {
		c->sc->event_header, c->sc->event_context, c->ec->context, c->ec->fields,
	};
	uint64_t bits = 0;

	*is_fixed = true;
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (parts[i])
			bits = fixed_end(parts[i], bits, is_fixed);
	return bits;
}

/* The largest event there can be, of which texts and sequences have `dynamic` bits at most. */
static uint64_t largest_event(const struct ctf_decoder *d, uint64_t dynamic)
{
	uint64_t most = 0;

	for (guint i = 0; i < d->classes->len; i++) {
		bool is_fixed;
		uint64_t bits = fixed_part(g_ptr_array_index(d->classes, i), &is_fixed);
		if (!is_fixed)
			bits = sum_saturating(bits, dynamic);
		most = MAX(most, bits);
	}
	return most;
}

/* Bits of texts and sequences in an event of this many bits, header included. */
static uint64_t dynamic_part(const struct ctf_class *c, uint64_t bits)
{
	bool is_fixed;
	uint64_t fixed = fixed_part(c, &is_fixed);

	return bits > fixed ? bits - fixed : 0;
}

/* The part of the packet being examined. */
struct piece {
	uint8_t *read;			/* from a file, READ_BYTES or more; NULL: the packet is in memory */
	const uint8_t *base;		/* where the packet would begin if it were in memory completely */
	uint64_t first, n;		/* bytes of the packet before the piece, and in it */
};

/* Makes the piece begin at that position, and longer if it does already. False: there is no more. */
static bool read_piece(struct native_cursor *k, struct piece *p, uint64_t pos)
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

/* The end of the event at pos; CTF_NO_FIT: it is not in the piece. *ret_class NULL: its class is unknown. */
static uint64_t event_end(struct native_cursor *k, const struct piece *p, uint64_t pos, uint64_t *clock,
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
	*ret_bits = next - pos;
	return next <= end ? next : CTF_NO_FIT;
}

/* Walks the packet's events. Stores the largest number of bits of texts and sequences in one event. Also stores the
 * end of the last event after which `need` bits of the packet remain. False: the class of an event may still come. */
static bool walk(struct native_cursor *k, uint64_t need, uint64_t *ret_dynamic, uint64_t *ret_from)
{
	const uint64_t size = k->packet->p.packet_bits;
	struct piece p = { .base = k->packet->bytes, .n = k->packet->bytes ? (k->content_end + 7) / 8 : 0 };
	struct arena rows = { 0 };
	const struct ctf_class *c = NULL;
	uint64_t pos = k->pos, clock = k->clock, bits;
	bool known = true;

	*ret_dynamic = 0;
	*ret_from = pos;
	for (unsigned n = 1; pos < k->content_end; n++) {
		uint64_t now = clock;
		k->run.arena = &rows;
		uint64_t next = event_end(k, &p, pos, &now, &c, &bits);
		arena_reset(&rows);
		if (next == CTF_NO_FIT && read_piece(k, &p, pos))
			continue;
		known = next != pos || c || !k->plan->waits;
		if (next == CTF_NO_FIT || next == pos || (n % LOOK_EVERY == 0 && native_is_stopped(k->source)))
			break;
		if (c->n_steps)
			*ret_dynamic = MAX(*ret_dynamic, dynamic_part(c, bits));
		if (size - MIN(next, size) >= need)
			*ret_from = next;
		pos = next;
		clock = now;
	}
	arena_clear(&rows);
	g_free(p.read);
	return known;
}

enum native_step native_find_discarded(struct native_cursor *k)
{
	uint64_t dynamic, from;

	if (!walk(k, 0, &dynamic, &from) || !walk(k, largest_event(k->decoder, dynamic), &dynamic, &from))
		return NATIVE_LATER;
	k->discarded_from = from;
	return NATIVE_RECORD;
}
