/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event headers: finds which known form a stream class uses, and reads them. LTTng has two forms (lttng-modules,
 * lttng-ring-buffer-client.h: lttng_event_header_size). The first is an id of 5 or 16 bits with a timestamp of 27 or
 * 32 bits. The second follows the greatest id: a 32-bit id with a full 64-bit timestamp. Their parts are aligned
 * relative to the packet. Any other form is read by its type, which is slower.
 */
#include "trace/ctf/ctf_header.h"

#include "base/fail.h"
#include "trace/ctf/ctf_walk.h"

/* An integer that the known forms can have. */
static bool is_fast(const struct ctf_type *t, unsigned role)
{
	return (t->kind == CTF_INTEGER || t->kind == CTF_ENUM) && (t->roles & role) &&
	       !t->is_signed && !t->is_var && !t->is_reversed;
}

/* Exactly the fields { id timestamp }, in any order. */
static bool plain_header(const struct ctf_type *t, struct ctf_header *h)
{
	if (t->n_fields != 2)
		return false;
	const struct ctf_type *id = t->field[0].type, *ts = t->field[1].type;
	h->ts_first = is_fast(id, CTF_ROLE_TIMESTAMP);
	if (h->ts_first) {
		ts = id;
		id = t->field[1].type;
	}
	if (!is_fast(id, CTF_ROLE_EVENT_CLASS) || !is_fast(ts, CTF_ROLE_TIMESTAMP))
		return false;
	h->id_bits = (uint8_t)id->bits;
	h->id_align = id->align;
	h->id_be = id->big_endian;
	h->ts_bits = (uint8_t)ts->bits;
	h->ts_align = ts->align;
	h->ts_be = ts->big_endian;
	return true;
}

/* Finds the option that only the greatest id selects, while all other ids select the other option. Labels and names do
 * not matter: LTTng 2.14 and later list them in any order. */
static bool find_extended(const struct ctf_type *id, const struct ctf_type *v, uint32_t *ret_option,
			  uint64_t *ret_id)
{
	if (v->n_fields != 2 || v->n_selects != 2 || v->tag_is_signed || id->bits > 63)
		return false;
	const struct ctf_select *a = &v->select[0], *b = &v->select[1];
	if (a->lo)
		a = b, b = &v->select[0];
	*ret_option = b->option;
	*ret_id = b->lo;
	return !a->lo && a->hi + 1 == b->lo && b->lo == b->hi && a->option != b->option &&
	       b->lo == (UINT64_C(1) << id->bits) - 1;
}

/* { id { timestamp } | { id timestamp } } */
static bool variant_header(const struct ctf_type *t, struct ctf_header *h)
{
	uint32_t extended;
	if (t->n_fields != 2 || t->field[1].type->kind != CTF_VARIANT)
		return false;
	const struct ctf_type *id = t->field[0].type, *v = t->field[1].type;
	if (!is_fast(id, CTF_ROLE_EVENT_CLASS) || !t->field[0].reg || t->field[0].reg != v->tag ||
	    !find_extended(id, v, &extended, &h->extended))
		return false;
	const struct ctf_type *a = v->field[!extended].type, *b = v->field[extended].type;
	if (a->kind != CTF_STRUCT || b->kind != CTF_STRUCT || a->n_fields != 1 || b->n_fields != 2)
		return false;
	const struct ctf_type *ts = a->field[0].type, *id2 = b->field[0].type, *ts2 = b->field[1].type;
	if (!is_fast(ts, CTF_ROLE_TIMESTAMP) || !is_fast(id2, CTF_ROLE_EVENT_CLASS) ||
	    !is_fast(ts2, CTF_ROLE_TIMESTAMP))
		return false;
	*h = (struct ctf_header){
		.has_variant = true, .extended = h->extended,
		.id_bits = (uint8_t)id->bits, .id_align = id->align, .id_be = id->big_endian,
		.ts_bits = (uint8_t)ts->bits, .ts_align = MAX(MAX(a->align, v->align), ts->align),
		.ts_be = ts->big_endian,
		.id2_bits = (uint8_t)id2->bits, .id2_be = id2->big_endian,
		.id2_align = MAX(MAX(b->align, v->align), id2->align),
		.ts2_bits = (uint8_t)ts2->bits, .ts2_align = ts2->align, .ts2_be = ts2->big_endian,
	};
	return true;
}

/* Does every header of this form end on a byte? */
static bool ends_on_byte(const struct ctf_header *h)
{
	uint64_t first = h->ts_first ? h->ts_bits : h->id_bits;
	uint64_t end = h->ts_first ? ctf_align(first, h->id_align) + h->id_bits
				   : ctf_align(first, h->ts_align) + h->ts_bits;
	uint64_t long_end = ctf_align(ctf_align(h->id_bits, h->id2_align) + h->id2_bits, h->ts2_align) +
			    h->ts2_bits;
	return h->align >= 8 && end % 8 == 0 && (!h->has_variant || long_end % 8 == 0);
}

/* LTTng's two forms have loops of their own. */
static enum ctf_fast fast_of(const struct ctf_header *h)
{
	if (!h->has_variant || h->id_be || h->ts_be || h->fast_align < 8)
		return CTF_FAST_NONE;
	if (h->id_bits == 5 && h->ts_bits == 27 && h->ts_align == 1 && h->extended == 31)
		return CTF_FAST_COMPACT;
	if (h->id_bits == 16 && h->ts_bits == 32 && h->extended == UINT16_MAX &&
	    h->ts_align <= MIN(h->fast_align, 16))
		return CTF_FAST_LARGE;
	return CTF_FAST_NONE;
}

/* The clock of the timestamps in the type, nested types included; NULL: none. */
static const struct ctf_clock *clock_of(const struct ctf_type *t)
{
	const struct ctf_clock *clock = NULL;
	if (t->kind == CTF_INTEGER || t->kind == CTF_ENUM)
		return t->roles & CTF_ROLE_TIMESTAMP ? t->clock : NULL;
	if (t->kind != CTF_STRUCT && t->kind != CTF_VARIANT && t->kind != CTF_OPTIONAL)
		return NULL;
	for (uint32_t i = 0; !clock && i < t->n_fields; i++)
		clock = clock_of(t->field[i].type);
	return clock;
}

bool ctf_header_compile(const struct ctf_stream_class *sc, struct ctf_header *ret,
			const struct ctf_clock **ret_clock, GError **error)
{
	const struct ctf_type *t = sc->event_header;
	*ret = (struct ctf_header){ 0 };
	*ret_clock = t ? clock_of(t) : NULL;
	if (!*ret_clock && sc->packet_context)
		*ret_clock = clock_of(sc->packet_context);
	if (!*ret_clock)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NO_TIME,
			    "stream class %" G_GUINT64_FORMAT " has no time: neither its packets nor its events have "
			    "timestamps", sc->id);
	if (t && !sc->header_regs && (variant_header(t, ret) || plain_header(t, ret))) {
		ret->align = MAX(t->align, 1);
		ret->ends_on_byte = ends_on_byte(ret);
		ret->fast_align = MAX(ret->align, MAX(ret->id_align, 1));
		ret->fast = (uint8_t)fast_of(ret);
		return true;
	}
	*ret = (struct ctf_header){ .is_general = true, .general = t };
	return true;
}

/* ---- any form ---- */

struct header_values { uint64_t clock, id; };

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct header_values *w = data;
	if (t->roles & CTF_ROLE_EVENT_CLASS)
		w->id = value;
	if (t->roles & CTF_ROLE_TIMESTAMP)
		w->clock = ctf_clock_advance(w->clock, value, bits);
}

static bool walk_header(const struct ctf_type *t, const uint8_t *base, uint64_t *pos, uint64_t end,
			uint64_t *clock, uint64_t *id, uint64_t *regs)
{
	static const struct ctf_visitor visitor = { .integer = on_integer };
	struct header_values w = { .clock = *clock };
	uint64_t at = *pos;
	if (t && !ctf_walk(t, base, &at, end, regs, &visitor, &w))
		return false;
	*pos = at;
	*clock = w.clock;
	*id = w.id;
	return true;
}

/* ---- the known forms ---- */

/* One integer of the header. */
static inline bool take(const uint8_t *base, uint64_t *pos, uint64_t end, uint32_t align,
			unsigned bits, bool be, uint64_t *ret)
{
	uint64_t at = ctf_align(*pos, align);
	if (at > end || end - at < bits)
		return false;
	*ret = ctf_bits(base, at, bits, be);
	*pos = at + bits;
	return true;
}

bool ctf_header_read_slow(const struct ctf_header *h, const uint8_t *base, uint64_t *pos,
			  uint64_t end, uint64_t *clock, uint64_t *id, uint64_t *regs)
{
	if (h->is_general)
		return walk_header(h->general, base, pos, end, clock, id, regs);
	uint64_t at = ctf_align(*pos, h->align), ts = 0;
	unsigned ts_bits = h->ts_bits;
	bool ok = !h->ts_first || take(base, &at, end, h->ts_align, h->ts_bits, h->ts_be, &ts);
	ok = ok && take(base, &at, end, h->id_align, h->id_bits, h->id_be, id);
	if (ok && h->has_variant && *id == h->extended) {
		ts_bits = h->ts2_bits;
		ok = take(base, &at, end, h->id2_align, h->id2_bits, h->id2_be, id) &&
		     take(base, &at, end, h->ts2_align, h->ts2_bits, h->ts2_be, &ts);
	} else if (ok && !h->ts_first) {
		ok = take(base, &at, end, h->ts_align, h->ts_bits, h->ts_be, &ts);
	}
	if (!ok)
		return false;
	*clock = ctf_clock_advance(*clock, ts, ts_bits);
	*pos = at;
	return true;
}
