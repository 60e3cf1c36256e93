/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a packet events may have been discarded. The tracer discards an event that does not fit into what is left of
 * the packet while the next one is not free; smaller events still fit after it. So the window of a loss begins behind
 * the last event after which every class of the stream would have fitted. How large an event can be follows from the
 * packet alone, so that a packet gives the same window however a trace is cut.
 */
#include "trace/native/native_cursor.h"

#define MOST_PACKET (UINT64_C(64) << 20)	/* bytes that are read for it; a larger packet is all window */
#define LOOK_EVERY 4096				/* events between two looks whether to stop */
#define HEADER_MOST 256				/* bits of an event header of any form of LTTng, with its alignment */

static uint64_t sum_saturating(uint64_t a, uint64_t b)
{
	return a > MOST_PACKET * 8 - MIN(b, MOST_PACKET * 8) ? MOST_PACKET * 8 : a + b;
}

/* Bits of a type without texts and sequences, alignment included. *is_fixed: it has none of these. */
static uint64_t fixed_part(const struct ctf_type *t, bool *is_fixed)
{
	uint64_t bits = 0, rest;

	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		*is_fixed &= !t->is_var;
		return t->bits + t->align - 1;
	case CTF_STRUCT:
		for (uint32_t i = 0; i < t->n_fields; i++)
			bits = sum_saturating(bits, fixed_part(t->field[i].type, is_fixed));
		return bits + t->align - 1;
	case CTF_ARRAY:
		bits = fixed_part(t->element, is_fixed);
		return bits && t->length > MOST_PACKET * 8 / bits ? MOST_PACKET * 8 : bits * t->length;
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		for (uint32_t i = 0; i < t->n_fields; i++) {
			rest = fixed_part(t->field[i].type, is_fixed);
			bits = MAX(bits, rest);
		}
		return bits;
	case CTF_STRING:
	case CTF_SEQUENCE:
		*is_fixed = false;
		return 8;
	}
	return bits;
}

static uint64_t fixed_part_of_class(const struct ctf_class *c, bool *is_fixed)
{
	const struct ctf_type *const parts[] = { c->sc->event_context, c->ec->context, c->ec->fields };
	uint64_t bits = 0;

	*is_fixed = true;
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (parts[i])
			bits = sum_saturating(bits, fixed_part(parts[i], is_fixed));
	return bits;
}

/* The largest event there can be, of which texts and sequences have `dynamic` bits at most. */
static uint64_t largest_event(const struct ctf_decoder *d, uint64_t dynamic)
{
	uint64_t most = 0;

	for (guint i = 0; i < d->classes->len; i++) {
		bool is_fixed;
		uint64_t bits = fixed_part_of_class(g_ptr_array_index(d->classes, i), &is_fixed);
		if (!is_fixed)
			bits = sum_saturating(bits, dynamic);
		most = MAX(most, bits);
	}
	return sum_saturating(most, HEADER_MOST);
}

/* Bits of its texts and sequences, about: never less. */
static uint64_t dynamic_part(const struct ctf_class *c, uint64_t bits)
{
	bool is_fixed;
	uint64_t fixed = c->n_steps ? fixed_part_of_class(c, &is_fixed) : bits;

	return bits > fixed ? bits - fixed : 0;
}

/* Walks the packet's events: where each ends, in bits, and the most bits of texts and sequences in one. False: the
 * class of one of them may still come. */
static bool walk(struct native_cursor *k, const uint8_t *base, GArray *ends, uint64_t *ret_dynamic)
{
	const uint64_t end = k->content_end;
	uint64_t pos = k->pos, clock = k->clock, dynamic = 0, id;
	struct arena rows = { 0 };
	bool known = true;

	for (unsigned n = 1; pos < end; n++) {
		uint64_t body = pos, next;
		if (!ctf_header_read(&k->decoder->header, base, &body, end, &clock, &id, k->run.regs))
			break;
		const struct ctf_class *c = ctf_decoder_class(k->decoder, id);
		if (!c) {
			known = !k->plan->waits;
			break;
		}
		if (c->copies) {
			k->run.arena = &rows;
			k->run.row = arena_alloc(&rows, c->row_bytes);
			k->run.present = 0;
		}
		next = c->n_steps ? ctf_class_run(c, base, body, end, &k->run) : body + c->bits;
		if (next > end || next == pos || (n % LOOK_EVERY == 0 && native_is_stopped(k->source)))
			break;
		if (c->n_steps)
			dynamic = MAX(dynamic, dynamic_part(c, next - body));
		arena_reset(&rows);
		g_array_append_val(ends, next);
		pos = next;
	}
	arena_clear(&rows);
	*ret_dynamic = dynamic;
	return known;
}

/* The last of these ends after which so many bits are left. */
static uint64_t last_with_room(const GArray *ends, uint64_t size, uint64_t first, uint64_t need)
{
	for (guint i = ends->len; i > 0; i--)
		if (size - MIN(g_array_index(ends, uint64_t, i - 1), size) >= need)
			return g_array_index(ends, uint64_t, i - 1);
	return first;
}

enum native_step native_find_discarded(struct native_cursor *k)
{
	const struct native_packet *x = k->packet;
	const uint64_t bytes = (k->content_end + 7) / 8;
	g_autofree uint8_t *read = NULL;
	g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	const uint8_t *base = x->bytes;
	uint64_t dynamic;

	k->discarded_from = k->pos;
	if (!base && bytes <= MOST_PACKET)
		base = read = native_window_read(k, x->file, x->p.offset, bytes);
	if (!base)
		return NATIVE_RECORD;
	if (!walk(k, base, ends, &dynamic))
		return NATIVE_LATER;
	k->discarded_from = last_with_room(ends, x->p.packet_bits, k->pos, largest_event(k->decoder, dynamic));
	return NATIVE_RECORD;
}
